// Package console reads what the consoles of providers and gateways export, and
// makes records of it. A source is known by the names of its columns, never by
// its brand. It reads what it is given and keeps nothing but the columns that
// the comparison needs: it knows neither the log nor HTTP.
package console

import (
	"io"
	"time"

	"github.com/ttftap/ttftap/store/audit"
)

// Options say how to read a file. The zero value is what most files want.
type Options struct {
	// Zone is that of times without an offset whose source does not fix it.
	// Nil: UTC.
	Zone *time.Location
	// Map names the columns of a header that no source has. A header that one
	// has is read by it all the same. Nil: an unknown header is refused.
	Map Mapping
	// QuotaPerUnit is how much quota a gateway takes for one dollar. 0: 500,000,
	// which is the usual rate.
	QuotaPerUnit float64
}

// Read reads one file of a console's export: separated text, JSON, lines of
// JSON, a zip of such, or a workbook. Each file in a zip is one of its own. The
// error is a *Refusal, or an *UnknownHeader, or that of the reader.
func Read(name string, from io.ReaderAt, size int64, o Options) ([]audit.File, error) {
	if size > MaxFile {
		return nil, refuse(name, "it is larger than %s: export a shorter time", "文件超过 %s：请导出更短的时间段", large(MaxFile))
	}
	p := part{name: name, size: size, at: from, open: func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(from, 0, size)), nil
	}}
	return p.read(o)
}

// A part is a file, or one within a zip. It can be opened again and again.
type part struct {
	name string
	size int64
	at   io.ReaderAt // nil within a zip
	open func() (io.ReadCloser, error)
}

// read reads the part as what its first bytes say that it is.
func (p part) read(o Options) ([]audit.File, error) {
	head, err := p.head()
	if err != nil {
		return nil, err
	}
	form := formOf(head)
	switch {
	case form == zipped && p.at == nil:
		return nil, p.refuse("it is an archive within an archive: unpack it first", "压缩包里还有压缩包：请先解压")
	case form == zipped:
		return p.unzip(o)
	case form.refused != nil:
		return nil, &Refusal{File: p.name, Say: *form.refused}
	}
	im := newImport(p.name, o)
	if err := p.text(form, im); err != nil {
		return nil, err
	}
	return []audit.File{im.finish()}, nil
}

// text reads text of either form.
func (p part) text(form form, im *importing) error {
	in, err := p.decoded(im)
	if err != nil {
		return err
	}
	defer in.Close()
	if form == inJSON {
		return (&objects{part: p, im: im}).read(in)
	}
	return (&lines{part: p, im: im}).read(in)
}

// head is the beginning of the part.
func (p part) head() ([]byte, error) {
	in, err := p.open()
	if err != nil {
		return nil, p.broken(err)
	}
	defer in.Close()
	head := make([]byte, headBytes)
	n, err := io.ReadFull(in, head)
	if n == 0 {
		return nil, p.refuse("it is empty", "文件是空的")
	}
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, p.broken(err)
	}
	return head[:n], nil
}
