package web

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// themes are the colours of the style sheet's variables, in their brightness.
func themes(t *testing.T) map[string]map[string]float64 {
	t.Helper()
	all := map[string]map[string]float64{"light": {}, "dark": {}}
	for _, m := range regexp.MustCompile(`--([a-z-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\);`).FindAllStringSubmatch(string(styleSheet()), -1) {
		for i, theme := range []string{"light", "dark"} {
			rgb, err := strconv.ParseUint(m[2+i], 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			all[theme][m[1]] = 0.2126*linear(rgb>>16) + 0.7152*linear(rgb>>8&255) + 0.0722*linear(rgb&255)
		}
	}
	if len(all["dark"]) < 20 {
		t.Fatalf("the style sheet has %d colours", len(all["dark"]))
	}
	return all
}

// linear undoes the gamma of an sRGB channel.
func linear(channel uint64) float64 {
	c := float64(channel) / 255
	if c <= 0.04045 {
		return c / 12.92
	}
	return math.Pow((c+0.055)/1.055, 2.4)
}

func TestTextCanBeReadInBothThemes(t *testing.T) {
	for name, theme := range themes(t) {
		for text, grounds := range map[string]string{
			"text": "ground paper hover chosen error-tint gone-tint", "soft": "ground paper hover chosen neutral-tint",
			"dim": "ground paper hover chosen error-tint gone-tint", "link": "ground paper", "prefill-text": "prefill-tint",
			"decode-text": "ground hover", "neutral-text": "ground hover chosen", "error": "ground error-tint", "gone": "ground gone-tint",
		} {
			for ground := range strings.FieldsSeq(grounds) {
				for _, colour := range []string{text, ground} {
					if _, ok := theme[colour]; !ok {
						t.Fatalf("the style sheet has no %s", colour)
					}
				}
				a, b := max(theme[text], theme[ground]), min(theme[text], theme[ground])
				if contrast := (a + 0.05) / (b + 0.05); contrast < 4.5 {
					t.Errorf("%s: %s on %s has a contrast of %.2f", name, text, ground, contrast)
				}
			}
		}
	}
}

func TestNothingIsLoadedByTheStyleSheet(t *testing.T) {
	sheet := styleSheet()
	for _, m := range regexp.MustCompile(`url\(([^)]*)\)|@import`).FindAllStringSubmatch(string(sheet), -1) {
		if !strings.HasPrefix(m[1], "#") {
			t.Errorf("the style sheet has %s", m[0])
		}
	}
}

func TestTheScriptIsSmallAndAsksNobodyElse(t *testing.T) {
	script := string(mustRead("static/ttftap.js"))
	if len(script) > 12_000 {
		t.Errorf("the script has %d bytes", len(script))
	}
	for _, word := range []string{"http:", "https:", "import ", "eval(", "Function(", "document.write", ".style", "setAttribute(\"on"} {
		if strings.Contains(script, word) {
			t.Errorf("the script has %q", word)
		}
	}
}
