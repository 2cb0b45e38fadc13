package web

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"strings"

	"github.com/ttftap/ttftap/store/audit/console"
)

const (
	uploadMost      = 64 << 20 // bytes of all files of one comparison
	uploadFilesMost = 16
	fieldMost       = 4 << 10 // bytes of a field that is no file
)

// sentFile is one file of the form. It is nowhere but in memory.
type sentFile struct{ name, content string }

// readUpload reads the form part by part; nothing of it touches a disk.
func readUpload(w http.ResponseWriter, r *http.Request) (q auditQuestion, files []sentFile, err error) {
	r.Body = http.MaxBytesReader(w, r.Body, uploadMost)
	q.Mapping = console.Mapping{}
	form, err := r.MultipartReader()
	if err != nil {
		return q, nil, brokenAudit("form")
	}
	for {
		part, err := form.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return q, nil, uploadError(err)
		}
		if part.FormName() == "file" {
			files, err = readFile(part, files)
		} else {
			err = q.read(part)
		}
		if err != nil {
			return q, nil, err
		}
	}
	if len(files) == 0 {
		return q, nil, brokenAudit("none")
	}
	return q, files, nil
}

// readFile adds a file; an empty choice is none.
func readFile(part *multipart.Part, files []sentFile) ([]sentFile, error) {
	var b strings.Builder
	n, err := io.Copy(&b, part)
	switch {
	case err != nil:
		return nil, uploadError(err)
	case n == 0 && part.FileName() == "":
		return files, nil
	case len(files) == uploadFilesMost:
		return nil, brokenAudit("many")
	}
	return append(files, sentFile{plain(part.FileName(), nameRunes), b.String()}), nil
}

// read takes a field of the form.
func (q *auditQuestion) read(part *multipart.Part) error {
	b, err := io.ReadAll(io.LimitReader(part, fieldMost))
	if err != nil {
		return uploadError(err)
	}
	value := string(b)
	switch name := part.FormName(); name {
	case "zone":
		q.Zone = value
	case "upstream":
		q.Upstream = value
	case "shared":
		q.Shared = value != ""
	default:
		if field, ok := strings.CutPrefix(name, "map."); ok && value != "" {
			q.Mapping[console.Field(field)] = value
		}
	}
	return nil
}

func uploadError(err error) error {
	var most *http.MaxBytesError
	if errors.As(err, &most) {
		return tooLarge
	}
	return brokenAudit("form")
}
