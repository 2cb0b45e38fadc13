package console

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/ttftap/ttftap/store/audit"
)

// Refusal is why a file is not read, and what to do about it.
type Refusal struct {
	File string
	Line int // the row, as in audit.Record; 0: the file as a whole
	Cell string
	Say  audit.Words
}

// Error is the refusal in English, with its place.
func (r *Refusal) Error() string { return r.In("en") }

// In is the refusal in lang, with its place.
func (r *Refusal) In(lang string) string {
	row, column, colon := "row %d", "column %s", ": "
	if lang == "zh" {
		row, column, colon = "第 %d 行", "“%s”列", "："
	}
	place := []string{r.File}
	if r.Line > 0 {
		place = append(place, fmt.Sprintf(row, r.Line))
	}
	if r.Cell != "" {
		place = append(place, fmt.Sprintf(column, r.Cell))
	}
	return strings.Join(place, ", ") + colon + r.Say.In(lang)
}

// UnknownHeader is a header that no source has.
type UnknownHeader struct {
	File     string
	Columns  []string // as the file names them
	Proposed Mapping  // by their names; may lack what is needed
	Missing  []Field  // needed, and not proposed
}

// Error says what is missing and what to try.
func (u *UnknownHeader) Error() string { return u.In("en") }

// In is the same in lang.
func (u *UnknownHeader) In(lang string) string {
	if lang == "zh" {
		return u.words("%s：表头未知，各列为 %s。请用 --map 指出各列", "，例如 --map '%s'", "；还缺少：%s")
	}
	return u.words("%s: no known console has this header. Its columns are: %s. Say with --map which is which",
		", as in --map '%s'", "; still to be named: %s")
}

func (u *UnknownHeader) words(all, proposal, missing string) string {
	s := fmt.Sprintf(all, u.File, strings.Join(u.Columns, ", "))
	if len(u.Proposed) > 0 {
		s += fmt.Sprintf(proposal, u.Proposed)
	}
	if len(u.Missing) > 0 {
		s += fmt.Sprintf(missing, join(u.Missing))
	}
	return s
}

func join(fields []Field) string {
	var names []string
	for _, f := range fields {
		names = append(names, string(f))
	}
	return strings.Join(names, ", ")
}

// say makes words of one text in both languages.
func say(en, zh string, args ...any) audit.Words {
	return audit.Words{En: fmt.Sprintf(en, args...), Zh: fmt.Sprintf(zh, args...)}
}

func refuse(file, en, zh string, args ...any) *Refusal {
	return &Refusal{File: file, Say: say(en, zh, args...)}
}

func (p part) refuse(en, zh string, args ...any) *Refusal { return refuse(p.name, en, zh, args...) }

// broken is a file that cannot be read to its end.
func (p part) broken(err error) *Refusal {
	return p.refuse("it cannot be read to its end (%v): it is damaged or was cut off; download it again",
		"无法读完（%v）：文件已损坏或被截断，请重新下载", err)
}

// at gives a refusal the row that it is about.
func (r *Refusal) at(line int) *Refusal {
	r.Line = line
	return r
}

// large is a limit in words.
func large(n int64) string { return humanize.IBytes(uint64(n)) }
