package doctor

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// Config is a TOML file of Codex, with the place of each of its settings.
type Config struct {
	Path    string
	mark    []byte // of byte order, at the beginning; Codex passes over it
	text    []byte // behind it
	entries []entry
	broken  string // why it is no TOML; "" where it is
	line    int    // of what is broken
}

// entry is one setting, or the head of one table.
type entry struct {
	path     []string
	head     bool // of a table
	value    string
	line     int
	from, to int // of the value in the text; of the key, of a head
}

// name is the setting's own name, without its table's.
func (e *entry) name() string { return e.path[len(e.path)-1] }

// openly is the value as it may be shown: of an address, what is no secret.
func (e *entry) openly() string {
	if strings.Contains(e.value, "://") {
		return cleanBase(e.value)
	}
	return e.value
}

// readConfig reads a TOML file. Nil: there is none.
func readConfig(path string) (*Config, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Codex' config: %w", err)
	}
	c := &Config{Path: path, text: bytes.TrimPrefix(text, byteOrderMark)}
	c.mark = text[:len(text)-len(c.text)]
	if c.validate(); c.broken == "" {
		c.index()
	}
	return c, nil
}

// byteOrderMark is what some editors put before UTF-8.
var byteOrderMark = []byte("\xef\xbb\xbf")

// validate has the whole of it decoded, which finds more than indexing does.
func (c *Config) validate() {
	var all map[string]any
	err := toml.Unmarshal(c.text, &all)
	var broken *toml.DecodeError
	switch {
	case errors.As(err, &broken):
		c.broken = strings.TrimPrefix(broken.Error(), "toml: ")
		c.line, _ = broken.Position()
	case err != nil:
		c.broken = strings.TrimPrefix(err.Error(), "toml: ")
	}
}

// index notes the settings. Of a file that is broken none is known.
func (c *Config) index() {
	var p unstable.Parser
	p.Reset(c.text)
	var table []string
	for p.NextExpression() {
		switch e := p.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			path, at := keyOf(e)
			table = path
			c.add(entry{path: path, head: true, from: int(at.Offset), to: int(at.Offset + at.Length)})
		case unstable.KeyValue:
			c.indexValue(table, e)
		}
	}
}

// indexValue notes a setting, and those within it where it is a table in line.
func (c *Config) indexValue(table []string, e *unstable.Node) {
	name, _ := keyOf(e)
	path := slices.Concat(table, name)
	v := e.Value()
	if v.Kind != unstable.InlineTable {
		c.add(entry{path: path, value: string(v.Data), from: int(v.Raw.Offset), to: int(v.Raw.Offset + v.Raw.Length)})
		return
	}
	c.add(entry{path: path, head: true, from: int(v.Raw.Offset), to: int(v.Raw.Offset)})
	for it := v.Children(); it.Next(); {
		if it.Node().Kind == unstable.KeyValue {
			c.indexValue(path, it.Node())
		}
	}
}

// keyOf is a dotted key and where it stands.
func keyOf(e *unstable.Node) (path []string, at unstable.Range) {
	for it := e.Key(); it.Next(); {
		n := it.Node()
		if path == nil {
			at.Offset = n.Raw.Offset
		}
		at.Length = n.Raw.Offset + n.Raw.Length - at.Offset
		path = append(path, string(n.Data))
	}
	return path, at
}

func (c *Config) add(e entry) {
	e.line = 1 + bytes.Count(c.text[:e.from], []byte("\n"))
	c.entries = append(c.entries, e)
}

// find is the setting with a path, nil where there is none. A nil config has
// none.
func (c *Config) find(path ...string) *entry {
	if c == nil {
		return nil
	}
	for i, e := range c.entries {
		if slices.Equal(e.path, path) {
			return &c.entries[i]
		}
	}
	return nil
}

// within are the settings of a table, or of all tables where several names are
// left open by "*".
func (c *Config) within(path ...string) []*entry {
	var found []*entry
	if c == nil {
		return nil
	}
	for i, e := range c.entries {
		if len(e.path) >= len(path) && fits(e.path, path) {
			found = append(found, &c.entries[i])
		}
	}
	return found
}

func fits(path, pattern []string) bool {
	for i, name := range pattern {
		if name != "*" && name != path[i] {
			return false
		}
	}
	return true
}
