package audit

import (
	"slices"
	"strings"
)

// noteLacking says of which models the file has nothing though it has others: it
// may have been exported by a filter. That is no excuse for rows that are missing.
func (c *comparison) noteLacking() {
	there := make(map[string]bool)
	for _, row := range c.rows {
		if len(row.Lines) > 0 {
			there[row.Model] = true
		}
	}
	var lacking []string
	for _, row := range c.rows {
		if row.Class == OnlyLocal && !there[row.Model] && !slices.Contains(lacking, row.Model) {
			lacking = append(lacking, row.Model)
		}
	}
	if len(there) == 0 || len(lacking) == 0 {
		return
	}
	slices.Sort(lacking)
	c.note(Words{
		"The file has nothing of ${models}: if it was exported for some models alone, compare it with these alone.",
		"文件中没有 ${models} 的任何记录：如果导出时只选了部分模型，请只比对这些模型。",
	}, "models", strings.Join(lacking, ", "))
}
