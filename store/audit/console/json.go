package console

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// objects reads JSON: an array of rows, rows one after the other, or an answer
// of an API that holds them.
type objects struct {
	part
	im   *importing
	dec  *json.Decoder
	left *budget
	n    int // rows so far

	waiting []row // until the source is known
	begun   bool
	outside map[string]string // what the answer says beside its rows
}

// holders are the names of what rows lie in. Any other array is part of a row.
var holders = []string{"data", "items", "results", "result", "records", "logs", "list", "rows", "value", "timeseries", "usageresults", "metricitems", "values"}

const (
	settling   = 50 // rows whose names together tell the source, as each may lack some
	maxNesting = 8  // objects around a row, and within one
)

var errNoRow = errors.New("there is something else where a row should be")

func (o *objects) read(in io.Reader) error {
	o.left = &budget{in: in}
	o.dec = json.NewDecoder(o.left)
	o.dec.UseNumber()
	o.outside = map[string]string{}
	for {
		t, err := o.token()
		if err == io.EOF {
			return o.end()
		}
		if err == nil {
			_, err = o.opened(t, 0)
		}
		if err != nil {
			return o.explain(err)
		}
	}
}

func (o *objects) token() (json.Token, error) {
	o.left.renew()
	return o.dec.Token()
}

// opened reads on from the beginning of an array of rows, or of an object that
// is a row or holds rows. It says whether it was either.
func (o *objects) opened(t json.Token, depth int) (held bool, err error) {
	switch {
	case t == json.Delim('['):
		return o.array()
	case t == json.Delim('{') && depth < maxNesting:
		return true, o.object(depth)
	}
	return false, errNoRow
}

// array reads rows to the end of their array. One of other things holds none.
func (o *objects) array() (held bool, err error) {
	held = !o.dec.More()
	for o.dec.More() {
		o.left.renew()
		var element any
		if err := o.dec.Decode(&element); err != nil {
			return false, err
		}
		if r, ok := element.(map[string]any); ok {
			held = true
			if err := o.expand(r, nil, 0); err != nil {
				return false, err
			}
		}
	}
	_, err = o.token()
	return held, err
}

// object reads a row, or what there is around rows.
func (o *objects) object(depth int) error {
	own, held := map[string]any{}, false
	for o.dec.More() {
		h, err := o.member(own, depth)
		if err != nil {
			return err
		}
		held = held || h
	}
	if _, err := o.token(); err != nil {
		return err
	}
	if !held {
		return o.expand(own, nil, 0)
	}
	flatten(o.outside, "", own, 0)
	return nil
}

// member reads one member of an object into own, unless it holds rows.
func (o *objects) member(own map[string]any, depth int) (held bool, err error) {
	key, err := o.token()
	if err != nil {
		return false, err
	}
	name := fmt.Sprint(key)
	if slices.Contains(holders, normal(name)) {
		t, err := o.token()
		if err != nil {
			return false, err
		}
		if _, opens := t.(json.Delim); opens {
			return o.opened(t, depth+1)
		}
		own[name] = t
		return false, nil
	}
	o.left.renew()
	var v any
	err = o.dec.Decode(&v)
	own[name] = v
	return false, err
}

// expand makes rows of an element, which is one or holds some: a bucket holds
// its results, and each of them has the bucket's times.
func (o *objects) expand(element map[string]any, around map[string]string, depth int) error {
	cells := maps.Clone(around)
	if cells == nil {
		cells = map[string]string{}
	}
	flatten(cells, "", element, 0)
	var inner []any
	for name, v := range element {
		if list, ok := v.([]any); ok && slices.Contains(holders, normal(name)) {
			inner = append(inner, list...)
		}
	}
	held := false
	for _, v := range inner {
		r, ok := v.(map[string]any)
		if !ok || depth == maxNesting {
			continue
		}
		held = true
		if err := o.expand(r, cells, depth+1); err != nil {
			return err
		}
	}
	if held {
		return nil
	}
	o.n++
	return o.row(row{line: o.n, cells: cells})
}

// row hands a row on, or keeps it until the source is known.
func (o *objects) row(r row) error {
	if o.begun {
		return o.im.add(r)
	}
	o.waiting = append(o.waiting, r)
	if len(o.waiting) < settling {
		return nil
	}
	return o.settle()
}

// settle tells the source by the names in the first rows.
func (o *objects) settle() error {
	o.begun = true
	all := map[string]bool{}
	for _, r := range o.waiting {
		for name := range r.cells {
			all[name] = true
		}
	}
	names := slices.Sorted(maps.Keys(all))
	switch {
	case len(names) > 0 && o.im.knows(names):
	case isError(o.waiting[0].cells):
		return o.noExport()
	default:
		return o.im.unknown(names)
	}
	for _, r := range o.waiting {
		if err := o.im.add(r); err != nil {
			return err
		}
	}
	o.waiting = nil
	return nil
}

// end looks at what an answer says beside its rows.
func (o *objects) end() error {
	if isError(o.outside) {
		return o.noExport()
	}
	if o.n == 0 {
		return o.refuse("there are no rows in it", "其中没有记录")
	}
	if !o.begun {
		if err := o.settle(); err != nil {
			return err
		}
	}
	total, err := strconv.Atoi(o.outside["total"])
	switch {
	case err == nil && total > o.n:
		o.im.remark(0, say("it holds %d of %d rows: save the other pages too, or ask for larger ones", "只有 %[2]d 行中的 %[1]d 行：请把其余各页也保存下来，或加大每页行数", o.n, total))
	case o.outside["has_more"] == "true":
		o.im.remark(0, say("it is one page of several: save the others too", "这只是其中一页：请把其余各页也保存下来"))
	}
	return nil
}

// isError says whether an answer tells of an error, as some do with status 200.
func isError(cells map[string]string) bool {
	return cells["success"] == "false" || cells["error.message"] != ""
}

func (o *objects) noExport() error {
	return o.refuse("it is an error of the console and no export: sign in anew and download it again", "这是控制台返回的错误，不是导出内容：请重新登录后再下载")
}

// explain says where the JSON breaks, and why.
func (o *objects) explain(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, errRowTooLarge):
		return o.refuse("this row is larger than %s", "这一行超过 %s", large(maxRow)).at(o.n + 1)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return o.refuse("it ends in the middle of row %d: it was cut off; download it again", "文件在第 %d 行中间结束：已被截断，请重新下载", o.n+1)
	case errors.As(err, &syntax), errors.Is(err, errNoRow):
		line, column := o.place(o.dec.InputOffset())
		return o.refuse("at or after line %d, column %d it is no JSON of rows (%v): was it changed by hand?", "从文本第 %d 行第 %d 列起不是由记录组成的 JSON（%v）：是否被手工修改过？", line, column, err).at(o.n + 1)
	}
	return err
}

// place is the line and column of what comes next from an offset on.
func (o *objects) place(offset int64) (line, column int) {
	in, err := o.decoded(newImport("", Options{}))
	if err != nil {
		return 0, 0
	}
	defer in.Close()
	b := bufio.NewReader(in)
	for line, column = 1, 1; ; column++ {
		c, err := b.ReadByte()
		if offset--; err != nil || offset < 0 && strings.IndexByte(" \t\r\n,", c) < 0 {
			return line, column
		}
		if c == '\n' {
			line, column = line+1, 0
		}
	}
}

// flatten adds the values of an object to cells by their names, those of an
// object within it as outer.inner. Lists are left out, but for those of pairs of
// a name and a value.
func flatten(cells map[string]string, prefix string, object map[string]any, depth int) {
	for name, v := range object {
		name = prefix + normal(name)
		switch v := v.(type) {
		case nil:
			cells[name] = "" // it is a column all the same
		case string:
			cells[name] = v
		case json.Number:
			cells[name] = v.String()
		case bool:
			cells[name] = strconv.FormatBool(v)
		case map[string]any:
			if depth < maxNesting {
				flatten(cells, name+".", v, depth+1)
			}
		case []any:
			pairs(cells, name+".", v)
		}
	}
}

// pairs adds a list of {"name":{"value":N},"value":V} as prefix + N.
func pairs(cells map[string]string, prefix string, list []any) {
	for _, v := range list {
		pair, _ := v.(map[string]any)
		name, _ := pair["name"].(map[string]any)
		n, isName := name["value"].(string)
		if text, ok := pair["value"].(string); ok && isName {
			cells[prefix+normal(n)] = text
		}
	}
}
