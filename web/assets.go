package web

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
)

//go:embed static
var staticFiles embed.FS

// mediaTypes of the static files; the system's own table cannot be relied on.
var mediaTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

// assets are the static files by the name that their address ends in. The name
// holds a hash of the content, so a browser may keep a file for good.
type assets struct {
	content map[string][]byte
	address map[string]string // by the file's plain name
}

func readAssets() assets {
	a := assets{content: map[string][]byte{}, address: map[string]string{}}
	a.add("ttftap.css", styleSheet())
	files, err := fs.Glob(staticFiles, "static/*.*")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for _, file := range files {
		a.add(path.Base(file), mustRead(file))
	}
	return a
}

// styleSheet is the one sheet, of all its parts in the order of their names.
func styleSheet() []byte {
	parts, err := fs.Glob(staticFiles, "static/style/*.css")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	var sheet [][]byte
	for _, part := range parts {
		sheet = append(sheet, mustRead(part))
	}
	return bytes.Join(sheet, []byte("\n"))
}

func mustRead(file string) []byte {
	content, err := staticFiles.ReadFile(file)
	if err != nil {
		panic(err) // the file is part of the binary
	}
	return content
}

func (a assets) add(file string, content []byte) {
	name := hashed(file, content)
	a.content[name] = content
	a.address[file] = "/-/static/" + name
}

func (a assets) addressOf(name string) string { return a.address[name] }

// hashed puts a hash of the content before a name's extension.
func hashed(name string, content []byte) string {
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext) + "-" + hex.EncodeToString(sum[:6]) + ext
}

func (s *site) asset(w http.ResponseWriter, r *http.Request) error {
	name := chi.URLParam(r, "name")
	content, ok := s.assets.content[name]
	if !ok {
		return errNoSuchPage
	}
	w.Header().Set("Content-Type", mediaTypes[path.Ext(name)])
	w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(content))
	return nil
}
