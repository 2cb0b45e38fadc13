package diagnosis

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var nameInPhrase = regexp.MustCompile(`\$\{([^}]*)\}`)

// names are those that stand in a phrase, each once.
func names(phrase string) []string {
	var all []string
	for _, m := range nameInPhrase.FindAllStringSubmatch(phrase, -1) {
		all = append(all, m[1])
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// phrasesIn are the phrases of some files, as pairs of Go strings.
func phrasesIn(t *testing.T, files ...string) [][2]string {
	t.Helper()
	var all [][2]string
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if pair, ok := n.(*ast.CompositeLit); ok && len(pair.Elts) == 2 {
				en, isEN := pair.Elts[0].(*ast.BasicLit)
				zh, isZH := pair.Elts[1].(*ast.BasicLit)
				if isEN && isZH && en.Kind == token.STRING {
					all = append(all, [2]string{en.Value, zh.Value})
				}
			}
			return true
		})
	}
	if len(all) < 10 {
		t.Fatalf("only %d phrases in %v", len(all), files)
	}
	return all
}

// A misspelt name in a phrase would leave a hole in the sentence, and one that
// no phrase has is dead.
func TestEveryNameInAPhraseIsAFigureAndEveryFigureInAPhrase(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	ofRows := slices.DeleteFunc(files, func(f string) bool { return f == "words.go" || strings.HasSuffix(f, "_test.go") })
	for _, c := range []struct {
		of      string
		phrases [][2]string
		figures []string
	}{
		{"a row", phrasesIn(t, ofRows...), slices.Concat(keys(durations), keys(counts), keys(texts), keys(parts))},
		{"a baseline", phrasesIn(t, "words.go"), keys(baselineFigures)},
	} {
		used := make(map[string]bool)
		for _, p := range c.phrases {
			en, zh := names(p[0]), names(p[1])
			if !slices.Equal(en, zh) {
				t.Errorf("%v in English, %v in Chinese: %s", en, zh, p[0])
			}
			for _, name := range en {
				used[name] = true
			}
		}
		slices.Sort(c.figures)
		if got := slices.Sorted(maps.Keys(used)); !slices.Equal(got, c.figures) {
			t.Errorf("the phrases of %s have\n%q\nbut its figures are\n%q", c.of, got, c.figures)
		}
	}
}

func keys[V any](figures map[string]V) []string { return slices.Collect(maps.Keys(figures)) }
