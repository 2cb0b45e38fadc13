package audit

import "time"

// usualGuard is how near to the end of what a file covers its rows may lack: they
// come late, and clocks differ.
const usualGuard = 5 * time.Minute

func (c *comparison) guard() time.Duration {
	if c.options.Guard > 0 {
		return c.options.Guard
	}
	return usualGuard
}

// cover finds what the log and the files cover.
func (c *comparison) cover() {
	c.log = c.options.Log
	if c.log.From.IsZero() {
		for i := range c.here {
			h := &c.here[i]
			c.log.add(time.Unix(0, h.start), time.Unix(0, h.end))
		}
	}
	c.console = covered(c.files)
}

// mistaken is how far a file's times may be from what they turn out to be, by a zone
// and a clock.
const mistaken = 30 * time.Hour

// Around is the time in which what the files have may have been; zero where they
// tell none.
func Around(files []File) Span {
	s := covered(files)
	if s.From.IsZero() || s.To.IsZero() {
		return Span{}
	}
	return Span{s.From.Add(-mistaken), s.To.Add(mistaken)}
}

// covered is the time from the first row of the files to the last, or what they
// say that they cover. Zoneless times are in it as they were read.
func covered(files []File) Span {
	var s Span
	for i := range files {
		s.add(files[i].From, files[i].To)
		for k := range files[i].Records {
			s.add(files[i].Records[k].From, files[i].Records[k].To)
		}
	}
	return s
}

// add widens the span; a time that is not known widens nothing.
func (s *Span) add(from, to time.Time) {
	if !from.IsZero() && (s.From.IsZero() || from.Before(s.From)) {
		s.From = from.UTC()
	}
	if !to.IsZero() && to.After(s.To) {
		s.To = to.UTC()
	}
}

func (s Span) isZero() bool { return s.From.IsZero() }

func (s Span) overlaps(o Span) bool {
	return !s.isZero() && !o.isZero() && s.From.Before(o.To) && o.From.Before(s.To)
}

// holds says whether the whole interval lies in the span, guard away from its ends.
func (s Span) holds(lo, hi int64, guard time.Duration) bool {
	return !s.isZero() && lo >= s.From.Add(guard).UnixNano() && hi <= s.To.Add(-guard).UnixNano()
}

func shifted(t time.Time, by int64) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(time.Duration(by))
}

// consoleCovers says whether a row would be missed that is not there for an attempt.
func (c *comparison) consoleCovers(h *here) bool { return c.console.holds(h.start, h.end, c.guard()) }

// logCovers says whether an attempt would be missed that is not here for a row.
func (c *comparison) logCovers(t *there) bool { return t.timed() && c.log.holds(t.lo, t.hi, c.guard()) }

// keepScope sets aside the attempts of upstreams and keys that the files are
// not of, and the rows of keys that the log has none of: where something was
// matched at all, and nothing of theirs.
func (c *comparison) keepScope() {
	upstreams, keys, named := newMatches(), newMatches(), newMatches()
	for _, g := range c.groups {
		for _, i := range g.here {
			upstreams.hit[c.here[i].Upstream] = true
			keys.hit[c.here[i].Key] = true
		}
		for _, j := range g.there {
			named.hit[c.there[j].Key] = true
		}
	}
	for i := range c.here {
		h := &c.here[i]
		switch {
		case h.state != open:
		case upstreams.strange(h.Upstream):
			c.setAside(h, otherUpstream.with("name", h.Upstream))
		case keys.strange(h.Key):
			c.setAside(h, otherKey)
		}
	}
	for j := range c.there {
		if t := &c.there[j]; t.state == open && named.strange(t.Key) {
			c.setRowAside(t, otherConsoleKey.with("name", t.Key))
		}
	}
}

// matches are the names of which something was matched.
type matches struct{ hit map[string]bool }

func newMatches() matches { return matches{hit: make(map[string]bool)} }

// strange says whether others were matched, and it was not.
func (m matches) strange(name string) bool { return len(m.hit) > 0 && !m.hit[name] }

var (
	otherUpstream   = Words{"No row of the file is of the upstream ${name}.", "文件中没有上游 ${name} 的记录。"}
	otherKey        = Words{"No row of the file is of this request's key.", "文件中没有该请求所用密钥的记录。"}
	otherConsoleKey = Words{"No request of the log is of the key ${name}.", "日志中没有使用令牌 ${name} 的请求。"}
)

func (c *comparison) setAside(h *here, why Words) {
	h.state = aside
	c.rows = append(c.rows, c.hereRow(h, OutOfScope, why))
}

func (c *comparison) setRowAside(t *there, why Words) {
	t.state = aside
	c.rows = append(c.rows, c.thereRow(t, OutOfScope, why))
}
