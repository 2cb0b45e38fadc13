package console

import (
	"bufio"
	"encoding/csv"
	"errors"
	"io"
	"strings"
)

// lines reads separated text: commas, tabs or semicolons.
type lines struct {
	part
	im *importing
}

func (l *lines) read(in io.Reader) error {
	b := &budget{in: in}
	b.renew()
	buffered := bufio.NewReaderSize(b, headBytes)
	comma, skipped, err := separator(buffered)
	if err != nil {
		return l.broken(err)
	}
	r := csv.NewReader(buffered)
	r.Comma, r.FieldsPerRecord, r.ReuseRecord = comma, -1, true
	g := &grid{part: l.part, im: l.im}
	l.im.decimalComma = comma == ';'
	for n := 1 + skipped; ; n++ {
		b.renew()
		cells, err := r.Read()
		if err == io.EOF {
			return g.end()
		}
		if err == nil {
			err = g.row(n, cells)
		} else {
			err = l.unreadable(n, err)
		}
		if err != nil {
			return err
		}
	}
}

// unreadable leaves a row out that breaks the rules of quoting, if it is known
// where it ends.
func (l *lines) unreadable(n int, err error) error {
	var p *csv.ParseError
	switch {
	case errors.Is(err, errRowTooLarge):
		return l.refuse("this row is larger than %s: is there a quote that is not closed?", "这一行超过 %s：是否有未闭合的引号？", large(maxRow)).at(n)
	case errors.As(err, &p) && p.Line == p.StartLine:
		l.im.leaveOut(n, say("line %d has a quote where none may be, at column %d", "第 %d 个文本行第 %d 列的引号位置不对", p.Line, p.Column))
		return nil
	case p != nil:
		return l.refuse("the quote opened in line %d, before column %d, is not closed as it should: the file is damaged or was cut off; download it again",
			"第 %d 个文本行第 %d 列之前的引号没有正确闭合：文件已损坏或被截断，请重新下载", p.Line, p.Column).at(n)
	}
	return l.broken(err)
}

// separator tells what stands between the cells, and drops the line with which
// some spreadsheets say so.
func separator(in *bufio.Reader) (comma rune, skipped int, err error) {
	head, err := in.Peek(headBytes)
	if err != nil && err != io.EOF {
		return 0, 0, err
	}
	line, _, _ := strings.Cut(string(head), "\n")
	if said, ok := strings.CutPrefix(strings.TrimRight(line, "\r"), "sep="); ok && len(said) == 1 && strings.Contains(",;\t", said) {
		_, err := in.Discard(len(line) + 1)
		return rune(said[0]), 1, err
	}
	comma = ','
	for _, c := range ";\t" {
		if strings.Count(line, string(c)) > strings.Count(line, string(comma)) {
			comma = c
		}
	}
	return comma, 0, nil
}
