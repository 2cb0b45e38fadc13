package console

import (
	"slices"
	"strings"
)

// A grid finds the header among the first rows of a table, and hands on what
// follows. Titles and blank rows may stand above a header.
type grid struct {
	part
	im    *importing
	names []string // of the columns in their order, normalised; nil before the header
	above []gridRow
	row1  row // used again for each row
}

type gridRow struct {
	line  int
	cells []string
}

const maxTitles = 8 // rows above a header

func (g *grid) row(line int, cells []string) error {
	if len(cells) > maxColumns {
		return g.refuse("it has %d columns, of which a console has no use: at most %d are read", "有 %d 列，不像控制台导出：最多读取 %d 列", len(cells), maxColumns).at(line)
	}
	if blank(cells) {
		return nil
	}
	if g.names != nil {
		return g.body(line, cells)
	}
	if g.im.knows(cells) {
		return g.header(cells)
	}
	g.above = append(g.above, gridRow{line, slices.Clone(cells)})
	if len(g.above) <= maxTitles {
		return nil
	}
	return g.unknown()
}

// header begins the table.
func (g *grid) header(cells []string) error {
	g.names = make([]string, len(cells))
	for i, c := range cells {
		g.names[i] = normal(c)
	}
	g.row1.cells = make(map[string]string, len(cells))
	return nil
}

// body hands a row on. A row that is longer or shorter than the header has a
// comma that was not quoted, or was cut off: which cell is which is not known.
func (g *grid) body(line int, cells []string) error {
	clear(g.row1.cells)
	for i, name := range g.names {
		if i < len(cells) && name != "" && g.row1.cells[name] == "" {
			g.row1.cells[name] = cells[i]
		}
	}
	g.row1.line = line
	if len(cells) < len(g.names) && !g.im.padded || len(cells) > len(g.names) && !blank(cells[len(g.names):]) {
		g.im.leaveOut(line, say("it has %d cells where the header has %d: a comma that is not quoted, or the file was cut off",
			"有 %d 个单元格，而表头有 %d 个：逗号未加引号，或文件被截断", len(cells), len(g.names)))
		g.im.unread(g.row1)
		return nil
	}
	return g.im.add(g.row1)
}

// end refuses a table of which no row was a header.
func (g *grid) end() error {
	if g.names == nil {
		return g.unknown()
	}
	return nil
}

// unknown takes the fullest of the first rows for the header that is not known.
func (g *grid) unknown() error {
	var best gridRow
	for _, r := range g.above {
		if filled(r.cells) > filled(best.cells) {
			best = r
		}
	}
	if filled(best.cells) < 2 {
		return g.refuse("it holds no table: at least a time and a count are needed", "其中没有表格：至少需要时间和数量")
	}
	return g.im.unknown(best.cells)
}

func filled(cells []string) (n int) {
	for _, c := range cells {
		if strings.TrimSpace(c) != "" {
			n++
		}
	}
	return n
}

func blank(cells []string) bool { return filled(cells) == 0 }
