package console

import (
	"archive/zip"
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/ttftap/ttftap/store/audit"
)

// workbook reads the first sheet of a workbook that has a table. What the library
// would read into memory without asking is measured before.
func (p part) workbook(z *zip.Reader, o Options) (files []audit.File, err error) {
	defer func() {
		if r := recover(); r != nil { // the library reads what strangers wrote
			files, err = nil, p.broken(fmt.Errorf("%v", r))
		}
	}()
	for _, f := range z.File {
		if err := p.measure(f); err != nil {
			return nil, err
		}
	}
	book, err := excelize.OpenReader(io.NewSectionReader(p.at, 0, p.size), excelize.Options{
		UnzipSizeLimit: maxWorkbook, UnzipXMLSizeLimit: maxWorkbook, // nothing goes to the disk
	})
	if err != nil {
		return nil, p.broken(err)
	}
	defer book.Close()
	var first error
	for _, name := range book.GetSheetList() {
		file, err := p.sheet(book, name, o)
		if err == nil {
			return []audit.File{file}, nil
		}
		if first == nil {
			first = err
		}
	}
	if first == nil {
		return nil, p.refuse("it has no sheet", "其中没有工作表")
	}
	return nil, first
}

// sheet reads one sheet: numbers as they are kept, not as they are shown, and
// formulas as what they were when it was saved.
func (p part) sheet(book *excelize.File, name string, o Options) (audit.File, error) {
	rows, err := book.Rows(name)
	if err != nil {
		return audit.File{}, p.broken(err)
	}
	defer rows.Close()
	im := newImport(p.name, o)
	im.padded = true
	g := &grid{part: p, im: im}
	for n := 1; rows.Next(); n++ {
		cells, err := rows.Columns(excelize.Options{RawCellValue: true})
		if err != nil {
			return audit.File{}, p.broken(err).at(n)
		}
		if err := g.row(n, cells); err != nil {
			return audit.File{}, err
		}
	}
	if err := cmp.Or(rows.Error(), g.end()); err != nil {
		return audit.File{}, err
	}
	return im.finish(), nil
}

const (
	maxPart    = 4 << 20   // bytes of a part that is neither a sheet nor its texts
	maxStrings = 2_000_000 // texts that sheets share
	maxDepth   = 64        // elements within each other
)

// measure goes through a part of the workbook and refuses what is more than any
// console writes, or breaks off.
func (p part) measure(f *zip.File) error {
	name := strings.ToLower(f.Name)
	if path.Ext(name) != ".xml" && path.Ext(name) != ".rels" {
		return nil
	}
	isSheet, isTexts := strings.HasPrefix(name, "xl/worksheets/"), name == "xl/sharedstrings.xml"
	if !isSheet && !isTexts {
		if f.UncompressedSize64 > maxPart {
			return p.refuse("its part %s is larger than %s: save it anew, or as CSV", "其中的 %s 超过 %s：请重新保存，或另存为 CSV", f.Name, large(maxPart))
		}
		return nil
	}
	in, err := f.Open()
	if err != nil {
		return p.broken(err)
	}
	defer in.Close()
	return p.tally(in)
}

// tally counts rows, cells and texts.
func (p part) tally(in io.Reader) error {
	var rows, cells, texts, depth int
	left := &budget{in: in}
	for d := xml.NewDecoder(left); ; {
		left.renew()
		t, err := d.RawToken()
		if err == io.EOF && depth == 0 {
			return nil
		}
		if err != nil {
			return p.broken(err).at(rows)
		}
		switch t := t.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			depth++
			switch t.Name.Local {
			case "row":
				rows, cells = rows+1, 0
			case "c":
				cells++
			case "si":
				texts++
			}
		}
		if r := p.tooMuch(rows, cells, texts, depth); r != nil {
			return r
		}
	}
}

func (p part) tooMuch(rows, cells, texts, depth int) *Refusal {
	switch {
	case rows > maxRows+maxTitles:
		return p.refuse("it has more than %d rows: export a shorter time", "记录超过 %d 行：请导出更短的时间段", maxRows)
	case cells > maxColumns:
		return p.refuse("it has more than %d columns, of which a console has no use", "超过 %d 列，不像控制台导出", maxColumns).at(rows)
	case texts > maxStrings:
		return p.refuse("it has more than %d texts: export a shorter time, or CSV", "其中的文本超过 %d 个：请导出更短的时间段，或导出 CSV", maxStrings)
	case depth > maxDepth:
		return p.refuse("it is nested as no workbook is", "嵌套层次不像工作簿").at(rows)
	}
	return nil
}
