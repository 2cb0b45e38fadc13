package console

import (
	"errors"
	"strings"
	"time"

	"github.com/ttftap/ttftap/store/audit"
)

// importing is a file on its way to records.
type importing struct {
	options Options
	file    audit.File
	source  *source // nil until the header is known

	decimalComma bool // 1,5 is one and a half
	padded       bool // rows may lack their last cells, if they are empty
	rows         int
	leftOut      int
	texts        map[string]string // kept texts that recur, each held once
	buckets      map[bucketKey]int // place of a bucket among the records
}

func newImport(name string, o Options) *importing {
	return &importing{
		options: o, file: audit.File{Name: kept(name)},
		texts: map[string]string{}, buckets: map[bucketKey]int{},
	}
}

// knows says whether names are those of a source, or hold all that were mapped,
// and takes it for the file's.
func (im *importing) knows(names []string) bool {
	has := make(map[string]bool, len(names))
	for _, n := range names {
		has[normal(n)] = true
	}
	if im.source = sourceOf(has); im.source == nil && im.options.Map.fits(has) {
		im.source = im.options.Map.source()
	}
	if im.source != nil {
		im.file.Source = im.source.name
	}
	return im.source != nil
}

// unknown refuses a header with what can be said of it.
func (im *importing) unknown(names []string) error {
	return unknownHeader(im.file.Name, names, im.options.Map)
}

// add makes a record of a row.
func (im *importing) add(r row) error {
	if im.rows++; im.rows > maxRows {
		return refuse(im.file.Name, "it has more than %d rows: export a shorter time", "记录超过 %d 行：请导出更短的时间段", maxRows).at(r.line)
	}
	for column := range strings.FieldsSeq(im.source.embeds) {
		r.unfold(column)
	}
	rec, err := im.source.record(r, im)
	var d *doubt
	switch {
	case errors.As(err, &d):
		im.leaveOut(r.line, audit.Words{En: "column " + d.column + ": " + d.say.En, Zh: "“" + d.column + "”列：" + d.say.Zh})
		im.unread(r)
		return nil
	case err != nil:
		return err
	case rec.Kind == audit.Bucket:
		im.bucket(rec)
	default:
		im.file.Records = append(im.file.Records, *rec)
	}
	return nil
}

// zone is that of times without an offset.
func (im *importing) zone() *time.Location {
	if im.options.Zone != nil {
		return im.options.Zone
	}
	return time.UTC
}

// zoneless notes that a time stated no offset.
func (im *importing) zoneless(t time.Time) {
	if !im.file.Zoneless {
		_, seconds := t.In(im.zone()).Zone()
		im.file.Zoneless, im.file.ZoneOffset = true, seconds/60
	}
}

// remark warns of the file, or of one of its rows.
func (im *importing) remark(line int, words audit.Words) {
	im.file.Warnings = append(im.file.Warnings, audit.Warning{Line: line, Say: words})
}

// leaveOut warns of a row that is not read.
func (im *importing) leaveOut(line int, why audit.Words) {
	if im.leftOut++; im.leftOut <= maxRemarks {
		im.remark(line, audit.Words{En: "left out: " + why.En, Zh: "未读取：" + why.Zh})
	}
}

// unread keeps of a row that is left out what tells whose it is, so that nobody
// is said to have none.
func (im *importing) unread(r row) {
	rec := &audit.Record{Line: r.line, Kind: im.source.kind, At: im.source.at}
	_, _ = im.source.names(r, rec, im), im.source.clock(r, rec, im)
	if len(rec.IDs) > 0 || !rec.From.IsZero() {
		im.file.Unread = append(im.file.Unread, *rec)
	}
}

// finish is the file when all rows were added.
func (im *importing) finish() audit.File {
	if im.leftOut > maxRemarks {
		im.remark(0, say("%d rows were left out, of which the first %d are named", "共有 %d 行未读取，只列出前 %d 行", im.leftOut, maxRemarks))
	}
	im.endBuckets()
	return im.file
}

// intern keeps a text that recurs.
func (im *importing) intern(s string) string {
	if t, ok := im.texts[s]; ok || s == "" {
		return t
	}
	t := kept(s)
	im.texts[t] = t
	return t
}

// kept is a text that may outlive its row: not a part of that, which would be
// held with all it says, and valid UTF-8 of no great length.
func kept(s string) string {
	const most = 200
	if len(s) > most {
		s = s[:most]
	}
	return strings.Clone(strings.ToValidUTF8(s, "\uFFFD"))
}
