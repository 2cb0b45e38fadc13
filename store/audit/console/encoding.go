package console

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"github.com/ttftap/ttftap/store/audit"
)

// A form is what the first bytes of a file say that it is.
type form struct {
	name    string
	refused *audit.Words // nil for what is read
}

var (
	zipped    = form{name: "zip"}
	inJSON    = form{name: "JSON"}
	separated = form{name: "separated"}
)

// magic are the beginnings of files that are no text.
var magic = []struct {
	begins string
	form
}{
	{"PK\x03\x04", zipped},
	{"PK\x05\x06", zipped}, // an empty one
	{"\xD0\xCF\x11\xE0", unread("it is an old or an encrypted workbook: save it as .xlsx without a password, or as CSV", "这是旧版或加密的工作簿：请另存为不带密码的 .xlsx 或 CSV")},
	{"\x1F\x8B", unread("it is compressed: unpack it first", "文件已压缩：请先解压")},
	{"%PDF", unread("it is a PDF: export CSV, a workbook or JSON instead", "这是 PDF：请改为导出 CSV、工作簿或 JSON")},
	{"SQLite format 3", unread("it is a database: export its table as CSV or JSON", "这是数据库：请把其中的表导出为 CSV 或 JSON")},
	{"<", unread("it is a web page or XML, no export: were you signed in when you downloaded it?", "这是网页或 XML，不是导出文件：下载时是否已登录？")},
	{"{", inJSON},
	{"[", inJSON},
}

func unread(en, zh string) form { return form{refused: &audit.Words{En: en, Zh: zh}} }

// formOf tells the form from the beginning of a file.
func formOf(head []byte) form {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\uFEFF")), " \t\r\n")
	for _, m := range magic {
		if bytes.HasPrefix(head, []byte(m.begins)) {
			return m.form
		}
	}
	return separated
}

// decoded opens the part as UTF-8, whatever it is in.
func (p part) decoded(im *importing) (io.ReadCloser, error) {
	e, err := p.encoding()
	if err != nil {
		return nil, err
	}
	if e == simplifiedchinese.GB18030 {
		im.remark(0, say("it is not UTF-8, and was read as GB18030", "不是 UTF-8，已按 GB18030 读取"))
	}
	in, err := p.open()
	if err != nil {
		return nil, p.broken(err)
	}
	return struct {
		io.Reader
		io.Closer
	}{e.NewDecoder().Reader(in), in}, nil
}

// encoding finds out what the part is written in. A header in Chinese decides;
// one in plain letters leaves it to the rows.
func (p part) encoding() (encoding.Encoding, error) {
	head, err := p.head()
	if err != nil {
		return nil, err
	}
	line, _, _ := bytes.Cut(head, []byte("\n"))
	switch {
	case bytes.HasPrefix(head, []byte("\xFF\xFE")):
		return unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM), nil
	case bytes.HasPrefix(head, []byte("\xFE\xFF")):
		return unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM), nil
	case bytes.HasPrefix(head, []byte("\uFEFF")), !isASCII(line) && utf8.Valid(line):
		return unicode.UTF8BOM, nil
	}
	in, err := p.open()
	if err != nil {
		return nil, p.broken(err)
	}
	defer in.Close()
	_, err = io.Copy(io.Discard, transform.NewReader(in, encoding.UTF8Validator))
	switch {
	case errors.Is(err, encoding.ErrInvalidUTF8):
		return simplifiedchinese.GB18030, nil
	case err != nil:
		return nil, p.broken(err)
	}
	return unicode.UTF8BOM, nil
}

func isASCII(b []byte) bool {
	return bytes.IndexFunc(b, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
