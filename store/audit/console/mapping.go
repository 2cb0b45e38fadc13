package console

import (
	"cmp"
	"strings"
	"time"

	"github.com/ttftap/ttftap/store/audit"
)

// A mapping says which columns of a source make a record. A column is named in
// its normal form; "a|b" is the first of them that says something.
type mapping struct {
	kind        audit.Kind
	time, until string // what a bucket spans ends at until, or else with the unit that time is told in
	at          audit.Reference
	zone        *time.Location // of times without an offset; nil: not known

	id     string // of several columns, "a b": all of them
	model  string
	also   string // its other names, "a b"
	key    string
	status string

	input, cached, write, output, reasoning string // counts; "a + b" is the sum
	apart                                   bool   // input is without cached and write: they are added
	requests                                string

	money, currency string // currency: the name of one, or the column of it after "="
	moneyKind       audit.MoneyKind
	unit            float64 // of the currency in one of the money column; 0: 1

	ttft, total string // "column ms" or "column s"

	failed    string // columns that say true: cancelled, cache of the gateway likewise
	cancelled string
	fromCache string

	embeds string // columns that hold JSON as text, "a b"
	// quirk sets what no column says by itself. It may be nil.
	quirk func(row, *audit.Record, *importing) error
}

// record makes a record of a row.
func (m *mapping) record(r row, im *importing) (*audit.Record, error) {
	rec := &audit.Record{Line: r.line, Kind: m.kind, At: m.at}
	for _, step := range []func(row, *audit.Record, *importing) error{m.names, m.clock, m.counts, m.amount, m.spans, m.quirk} {
		if step == nil {
			continue
		}
		if err := step(r, rec, im); err != nil {
			return nil, err
		}
	}
	if m.apart {
		addUp(&rec.Counts)
	}
	return rec, nil
}

// addUp makes an input that is without the cached and written tokens one that
// is with them.
func addUp(c *audit.Counts) {
	if c.Input == nil {
		return
	}
	sum := *c.Input
	for _, part := range []*int64{c.Cached, c.CacheWrite} {
		if part != nil {
			sum += *part
		}
	}
	c.Input = &sum
}

func (m *mapping) names(r row, rec *audit.Record, im *importing) error {
	for columns := range strings.FieldsSeq(m.id) {
		if id := r.text(columns); id != "" {
			rec.IDs = append(rec.IDs, kept(id))
		}
	}
	rec.Model = im.intern(r.text(m.model))
	for columns := range strings.FieldsSeq(m.also) {
		if name := r.text(columns); name != "" && name != rec.Model {
			rec.ModelAlso = append(rec.ModelAlso, im.intern(name))
		}
	}
	rec.Key = im.intern(r.text(m.key))
	rec.Failed, rec.Cancelled, rec.GatewayCache = r.isTrue(m.failed), r.isTrue(m.cancelled), r.isTrue(m.fromCache)
	status, err := r.count(m.status, false)
	if status != nil && *status > 0 { // 0 is none
		rec.Status = status
		rec.Failed = rec.Failed || *status >= 400
	}
	return err
}

func (r row) isTrue(columns string) bool {
	switch strings.ToLower(r.text(columns)) {
	case "true", "yes", "是", "1":
		return true
	}
	return false
}

func (m *mapping) clock(r row, rec *audit.Record, im *importing) error {
	if m.time == "" {
		return nil
	}
	zone := m.zone
	if zone == nil {
		zone = im.zone()
	}
	span, err := r.time(m.time, zone)
	if err != nil {
		return err
	}
	if m.until != "" && r.text(m.until) != "" {
		until, err := r.time(m.until, zone)
		if err != nil {
			return err
		}
		if span.to = until.from; span.to.Before(span.from) {
			return r.doubt(m.until, "it ends before it begins", "结束早于开始")
		}
	}
	if span.zoneless && m.zone == nil {
		im.zoneless(span.from)
	}
	rec.From, rec.To = span.from, span.to
	return nil
}

func (r row) time(columns string, zone *time.Location) (interval, error) {
	s := r.text(columns)
	if s == "" {
		return interval{}, r.doubt(columns, "there is no time", "没有时间")
	}
	i, ok := clock(s, zone)
	if !ok {
		return i, r.doubt(columns, "%q is no time", "%q 不是时间", short(s))
	}
	return i, nil
}

func (m *mapping) counts(r row, rec *audit.Record, im *importing) (err error) {
	for _, c := range []struct {
		columns string
		to      **int64
	}{
		{m.input, &rec.Input}, {m.cached, &rec.Cached}, {m.write, &rec.CacheWrite},
		{m.output, &rec.Output}, {m.reasoning, &rec.Reasoning}, {m.requests, &rec.Requests},
	} {
		if *c.to, err = r.count(c.columns, im.decimalComma); err != nil {
			return err
		}
	}
	return nil
}

func (m *mapping) amount(r row, rec *audit.Record, im *importing) error {
	s := r.text(m.money)
	if s == "" {
		return nil
	}
	units, currency, err := money(s, im.decimalComma)
	n, ok := nano(units * cmp.Or(m.unit, 1))
	if err != nil || !ok {
		return r.doubt(m.money, "%q is no amount", "%q 不是金额", short(s))
	}
	said := m.currency
	if column, ok := strings.CutPrefix(said, "="); ok {
		said = strings.ToUpper(r.text(column))
	}
	rec.Money = &audit.Money{Nano: n, Currency: im.intern(cmp.Or(currency, said)), Kind: m.moneyKind}
	return nil
}

func (m *mapping) spans(r row, rec *audit.Record, im *importing) (err error) {
	if rec.TTFT, err = r.span(m.ttft, im.decimalComma); err != nil {
		return err
	}
	if rec.TTFT != nil && *rec.TTFT == 0 {
		rec.TTFT = nil // nothing comes at once: the gateway does not know
	}
	rec.Total, err = r.span(m.total, im.decimalComma)
	return err
}
