package experiment

import (
	"os"
	"strings"
	"time"
	"unicode"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

// Sentence is one thing to say, in both languages.
type Sentence struct {
	En string `json:"en"`
	Zh string `json:"zh"`
}

// In is the sentence in one of the languages: "zh", or English.
func (s Sentence) In(lang string) string {
	if lang == "zh" {
		return s.Zh
	}
	return s.En
}

// figures are what stands in a sentence as ${name}.
type figures map[string]Sentence

// with is the sentence with its figures put in.
func (s Sentence) with(f figures) Sentence {
	return Sentence{
		En: os.Expand(s.En, func(name string) string { return f.named(name).En }),
		Zh: os.Expand(s.Zh, func(name string) string { return f.named(name).Zh }),
	}
}

func (f figures) named(name string) Sentence {
	if s, ok := f[name]; ok {
		return s
	}
	return plain("?" + name)
}

// plain is what is the same in both languages. What others have named keeps to one
// line, and to what a terminal shows rather than obeys.
func plain(text string) Sentence {
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
	return Sentence{text, text}
}

func count(n int) Sentence { return plain(figure.Count(new(int64(n)))) }

func tokens(n float64) Sentence { return plain(figure.Decimal(n, 0)) }

// took is a duration in milliseconds.
func took(ms float64) Sentence {
	return plain(figure.Duration(new(time.Duration(ms * float64(time.Millisecond)))))
}

func rate(perSec float64) Sentence { return plain(figure.Rate(&perSec, "")) }

func share(of float64) Sentence { return plain(figure.Percent(of)) }

// written is a figure in its unit.
func (f Figure) written(v float64) Sentence {
	if f == Rate {
		return rate(v)
	}
	return took(v)
}

// ranged is a figure with its interval.
func ranged(e Estimate, unit func(float64) Sentence) Sentence {
	at := unit(e.At)
	if e.Low == nil {
		return at
	}
	return Sentence{"${at} (${low} to ${high})", "${at}（${low} 至 ${high}）"}.with(figures{
		"at": at, "low": unit(*e.Low), "high": unit(*e.High),
	})
}

// list joins what is said one after the other.
func list(all []Sentence) Sentence {
	var en, zh []string
	for _, s := range all {
		en, zh = append(en, s.En), append(zh, s.Zh)
	}
	return Sentence{strings.Join(en, ", "), strings.Join(zh, "、")}
}

// then is one sentence after another.
func (s Sentence) then(next Sentence) Sentence {
	if s != (Sentence{}) && next != (Sentence{}) {
		s.En += " "
	}
	return s.join(next)
}

// quoted is the name of an arm.
func quoted(name string) Sentence {
	name = plain(name).En
	return Sentence{`"` + name + `"`, "“" + name + "”"}
}

// join is one directly after another.
func (s Sentence) join(next Sentence) Sentence { return Sentence{s.En + next.En, s.Zh + next.Zh} }
