package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Edit puts a text in the place of a piece of a config file.
type Edit struct {
	from, to int
	text     string
	was, is  string // the setting as people should see it, "" where they should not
}

// Edited is one setting as it was and as it is now. One of them is empty where a
// line was taken out or put in; Before also where it may hold a secret.
type Edited struct {
	Line   int    `json:"line"` // in the file as it was
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// replace edits the value of a setting; what stands beside it stays.
func (c *Config) replace(e *entry, value string) Edit {
	return c.put(e, strconv.Quote(value))
}

func (c *Config) put(e *entry, literal string) Edit {
	return Edit{e.from, e.to, literal, e.name() + " = " + string(c.text[e.from:e.to]), e.name() + " = " + literal}
}

// secretly is the same edit without a word of what was there.
func (e Edit) secretly() Edit {
	e.was = ""
	return e
}

// move edits the line of a setting to the top of the file, before every table.
func (c *Config) move(e *entry) []Edit {
	from := 1 + bytes.LastIndexByte(c.text[:e.from], '\n')
	to := len(c.text)
	if n := bytes.IndexByte(c.text[e.to:], '\n'); n >= 0 {
		to = e.to + n + 1
	}
	line, shown := strings.TrimSpace(string(c.text[from:to])), e.name()+" = "+strconv.Quote(e.openly())
	return []Edit{{text: line + "\n", is: shown}, {from: from, to: to, was: shown}}
}

// Fix makes edits in a file, all at once, and keeps the file as it was beside it.
// A file that has changed since it was read is left alone.
func (c *Config) Fix(edits []Edit, now time.Time) (done []Edited, backup string, err error) {
	path, err := filepath.EvalSymlinks(c.Path) // a link stays one
	if err != nil {
		return nil, "", fmt.Errorf("fix %s: %w", c.Path, err)
	}
	current, err := os.ReadFile(path)
	if err != nil {
		return nil, "", fmt.Errorf("fix %s: %w", c.Path, err)
	}
	if !bytes.Equal(current, slices.Concat(c.mark, c.text)) {
		return nil, "", fmt.Errorf("fix %s: it has changed meanwhile: try again", c.Path)
	}
	status, err := os.Stat(path)
	if err != nil {
		return nil, "", fmt.Errorf("fix %s: %w", c.Path, err)
	}
	backup = path + "." + now.UTC().Format("20060102-150405") + ".bak"
	if err := create(backup, current, status.Mode().Perm()); err != nil {
		return nil, "", fmt.Errorf("keep %s as it was: %w", c.Path, err)
	}
	text, done := c.edited(edits)
	fresh := path + ".new"
	if err := create(fresh, slices.Concat(c.mark, text), status.Mode().Perm()); err != nil {
		return nil, "", fmt.Errorf("fix %s: %w", c.Path, err)
	}
	if err := os.Rename(fresh, path); err != nil {
		return nil, "", fmt.Errorf("fix %s: %w", c.Path, errors.Join(err, os.Remove(fresh)))
	}
	return done, backup, nil
}

// create writes a file that must not be there yet.
func create(path string, text []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// edited is the text after the edits, and what they did. Of two that overlap the
// first in the text is made; the next run tells of the other.
func (c *Config) edited(edits []Edit) ([]byte, []Edited) {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return a.from - b.from })
	var text []byte
	var done []Edited
	upTo := 0
	for _, e := range edits {
		if e.from < upTo {
			continue
		}
		text = append(append(text, c.text[upTo:e.from]...), e.text...)
		upTo = e.to
		done = append(done, Edited{1 + bytes.Count(c.text[:e.from], []byte("\n")), e.was, e.is})
	}
	return append(text, c.text[upTo:]...), done
}
