package main

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"hash/fnv"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// canaries are texts that must never be found again, by what they are. Each is
// made of its name, so that one that is found tells by which road it came.
type canaries map[string]string

// of is the canary of a name: 36 characters, of which every second name has
// nothing but letters, which no rule for keys knows.
func (c canaries) of(name string) string {
	if c[name] != "" {
		return c[name]
	}
	alphabet := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if len(c)%2 == 1 {
		alphabet += "0123456789+/"
	}
	sum, made := fnv.New64a(), make([]byte, 36)
	for i := range made {
		sum.Write([]byte(name))
		made[i] = alphabet[sum.Sum64()>>32%uint64(len(alphabet))]
	}
	c[name] = string(made)
	return c[name]
}

// leastHalf is how long a part of a canary is that must not be found.
const leastHalf = 12

// forms are the spellings in which a canary may have got through, in lower case:
// each third of it, and what it is in the encodings that texts go through.
func forms(canary string) map[string]string {
	quoted, _ := json.Marshal(canary) // a string is always JSON
	all := map[string]string{
		"as it is": canary, "URL-encoded": url.QueryEscape(canary), "as JSON": strings.Trim(string(quoted), `"`), "in hex": hex.EncodeToString([]byte(canary)),
	}
	for at := 0; at+leastHalf <= len(canary); at += leastHalf {
		part := canary[at : at+leastHalf]
		all["in part, "+part] = part
	}
	for shift := range 3 { // as it falls among the groups of three
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", shift) + canary))
		all["in base64, shifted by "+string(rune('0'+shift))] = encoded[4 : len(encoded)-4]
	}
	for how, form := range all {
		all[how] = strings.ToLower(form)
	}
	return all
}

// left is everything that a program has left behind, by where.
type left map[string]string

// files adds all files below a folder.
func (l left) files(t *testing.T, folder string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			l["file "+filepath.Base(path)] = string(must(os.ReadFile(path)))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// holdsNone fails for each canary that is in what was left behind.
func (l left) holdsNone(t *testing.T, c canaries) {
	t.Helper()
	for where, text := range l {
		low := strings.ToLower(text)
		for name, canary := range c {
			for how, form := range forms(canary) {
				if at := strings.Index(low, form); at >= 0 {
					t.Errorf("%s (%s) is in the %s: …%q…", name, how, where, text[max(0, at-100):min(len(text), at+100)])
					break
				}
			}
		}
	}
}

// A search that finds nothing anywhere would prove nothing.
func TestCanariesAreFoundInEveryForm(t *testing.T) {
	c := make(canaries)
	for _, name := range []string{"letters", "and more"} {
		canary := c.of(name)
		for _, text := range []string{
			canary, strings.ToLower(canary), "…" + canary[12:24] + "…", "?key=" + url.QueryEscape(canary), hex.EncodeToString([]byte(canary)),
			base64.StdEncoding.EncodeToString([]byte("user:" + canary)), base64.URLEncoding.EncodeToString([]byte(canary)),
		} {
			found := false
			for _, form := range forms(canary) {
				found = found || strings.Contains(strings.ToLower(text), form)
			}
			if !found {
				t.Errorf("not found in %q", text)
			}
		}
	}
}
