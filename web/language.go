package web

import (
	"fmt"
	"html"
	"html/template"
	"net/http"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

// language is one of the two that the page speaks.
type language string

const (
	english language = "en"
	chinese language = "zh"
)

// tongue is the cookie that keeps the reader's choice of a language.
const tongue = "ttftap_lang"

// languageOf chooses a language: the address's, else the cookie's, else the
// first of the browser's that is spoken here, else English.
func languageOf(r *http.Request) language {
	if l, ok := spoken(r.URL.Query().Get("lang")); ok {
		return l
	}
	if cookie, err := r.Cookie(tongue); err == nil {
		if l, ok := spoken(cookie.Value); ok {
			return l
		}
	}
	for tag := range strings.SplitSeq(r.Header.Get("Accept-Language"), ",") {
		if l, ok := spoken(strings.TrimSpace(tag)); ok {
			return l
		}
	}
	return english
}

// spoken finds the language of a tag such as zh-Hans-CN or en;q=0.8.
func spoken(tag string) (language, bool) {
	for _, l := range []language{english, chinese} {
		rest, ok := strings.CutPrefix(strings.ToLower(tag), string(l))
		if ok && (rest == "" || rest[0] == '-' || rest[0] == ';') {
			return l, true
		}
	}
	return "", false
}

// keepLanguage remembers a language that the address asked for.
func keepLanguage(w http.ResponseWriter, r *http.Request, l language) {
	if !r.URL.Query().Has("lang") {
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: tongue, Value: string(l), Path: "/-/", MaxAge: int((365 * 24 * time.Hour).Seconds()),
		HttpOnly: true, SameSite: http.SameSiteLaxMode,
	})
}

// Other is the language to switch to.
func (l language) Other() language {
	if l == chinese {
		return english
	}
	return chinese
}

// Tag is the language's name in HTML.
func (l language) Tag() string {
	if l == chinese {
		return "zh-CN"
	}
	return "en"
}

// say is a phrase of the catalogue, its arguments put in.
func (l language) say(key string, args ...any) string {
	p, ok := catalogue[key]
	if !ok {
		return "?" + key
	}
	format := p.en
	if l == chinese {
		format = p.zh
	}
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// rich is a phrase whose `quoted` parts are set as code.
func (l language) rich(key string, args ...any) template.HTML {
	return coded(l.say(key, args...))
}

// coded is a text whose `quoted` parts are set as code.
func coded(text string) template.HTML {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		if i%2 == 1 {
			b.WriteString("<code>" + html.EscapeString(part) + "</code>")
			continue
		}
		b.WriteString(html.EscapeString(part))
	}
	return template.HTML(b.String())
}

// about is the phrase that explains another, "" if there is none.
func (l language) about(key string) string {
	if _, ok := catalogue[key+".title"]; !ok {
		return ""
	}
	return l.say(key + ".title")
}

// value is the phrase of a value, or the value itself where it has none.
func (l language) value(prefix, v string) string {
	if _, ok := catalogue[prefix+v]; !ok {
		return plain(v, nameRunes)
	}
	return l.say(prefix + v)
}

// worded is the phrase of a value, "" for no value.
func (l language) worded(prefix, v string) string {
	if v == "" {
		return ""
	}
	return l.value(prefix, v)
}

// number is a phrase about n things: KEY.one, or KEY.many.
func (l language) number(key string, n int64) string {
	if n == 1 {
		return l.say(key+".one", "1")
	}
	return l.say(key+".many", figure.Count(&n))
}

// sentences joins sentences: Chinese ones have no space between them.
func (l language) sentences(all ...string) string {
	if l == chinese {
		return strings.Join(all, "")
	}
	return strings.Join(all, " ")
}

// list joins what stands side by side.
func (l language) list(parts []string) string {
	return strings.Join(parts, l.say("list.comma"))
}
