package web

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// colours are the variables of a block of the style sheet.
func colours(t *testing.T, block string) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for _, m := range regexp.MustCompile(`--([a-z-]+): #([0-9a-f]{6});`).FindAllStringSubmatch(block, -1) {
		rgb, err := strconv.ParseUint(m[2], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		all[m[1]] = 0.2126*linear(rgb>>16) + 0.7152*linear(rgb>>8&255) + 0.0722*linear(rgb&255)
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
	sheet := styleSheet()
	light, rest, _ := strings.Cut(string(sheet), "@media (prefers-color-scheme: dark)")
	dark, _, _ := strings.Cut(rest, "/* Ground rules */")
	for name, theme := range map[string]map[string]float64{"light": colours(t, light), "dark": colours(t, dark)} {
		for text, grounds := range map[string]string{
			"text": "ground paper hover chosen error-tint gone-tint", "soft": "ground paper hover chosen neutral-tint",
			"dim": "ground paper hover chosen error-tint gone-tint", "link": "ground paper", "prefill-text": "prefill-tint",
			"decode-text": "ground hover", "neutral-text": "ground hover chosen", "error": "ground error-tint", "gone": "ground gone-tint",
		} {
			for ground := range strings.FieldsSeq(grounds) {
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
