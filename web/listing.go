package web

// listing are exchanges of a view other than the log, as rows like its own.
type listing struct {
	Zone  string
	Scale scale
	Rows  []row
	Signs []sign
}

func (sh *sheet) listing(rows []row) listing {
	return listing{Zone: zone(sh.now), Scale: sh.scale, Rows: rows, Signs: signsOf(sh.l, rows)}
}
