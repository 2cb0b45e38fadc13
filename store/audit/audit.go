package audit

import "time"

// Options say what is known beforehand of a comparison.
type Options struct {
	// Log is what the log covers, whichever part of it is compared; zero: from
	// the first attempt to the last.
	Log Span

	Guard     time.Duration // rows so near to the end of what the other side covers are not missed; 0: 5 min
	ZoneFixed bool          // the user chose the zone: it is not set aside, however little it fits
	Shared    bool          // others use the key past the proxy: what only the console has is no difference
	Aliases   []Alias       // names of the same model, as the user knows them
	Prices    []Price       // without any, money is added up but not compared
}

// Alias says that a model is called There on the console and Here in the log.
type Alias struct{ Here, There string }

// Price is what a model's tokens cost, in billionths of the currency for a
// million tokens. CacheWrite is nil where it is billed as input.
type Price struct {
	Model      string
	Currency   string
	Input      int64
	Cached     int64
	CacheWrite *int64
	Output     int64
}
