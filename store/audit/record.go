// Package audit lays a provider console's export beside the log: which rows
// are the same requests, which differ, and which only one side knows. It reads
// no file and no database: an importer gives it a File, the store its attempts.
//
// Nil, the empty string and the zero time are the only "unknown": a count that
// a console does not state is never 0.
package audit

import "time"

// File is what an importer made of one file.
type File struct {
	Name       string    // as the user knows it, without its folder
	Source     string    // the shape of its header, not a brand: "new-api", "openrouter", ..., "mapped"
	Zoneless   bool      // its times state no offset: ZoneOffset was applied to them
	ZoneOffset int       // minutes east of UTC that its zoneless times were read at
	From, To   time.Time // what it covers, where it says so; zero: from its first row to its last
	Records    []Record
	Unread     []Record  // rows that could not be read: what is known of whose they are, no figures
	Warnings   []Warning // what could not be read, or was read with doubt
}

// Warning is a remark on a file, or on one of its rows.
type Warning struct {
	Line int   `json:"line"` // as in Record; 0: the file as a whole
	Say  Words `json:"say"`
}

// Words are a sentence, or a word, in both languages.
type Words struct {
	En string `json:"en"`
	Zh string `json:"zh"`
}

// In gives the words in lang: "zh", or anything else for English.
func (w Words) In(lang string) string {
	if lang == "zh" {
		return w.Zh
	}
	return w.En
}

// Kind says what a row of a console is.
type Kind string

// The kinds of rows.
const (
	Request Kind = "request" // one request
	Bucket  Kind = "bucket"  // a sum over a span of time
	Entry   Kind = "entry"   // of the account: a top-up, a login, a setting. Compared with nothing
)

// Reference says which instant of a request a console's time stands for.
type Reference string

// The references; the empty one is unknown: anywhere in the request.
const (
	AtStart Reference = "start"
	AtEnd   Reference = "end"
)

// Record is one row of a console's export.
type Record struct {
	Line int // its row in the file, the header being 1; in JSON the item's place, from 1
	Kind Kind

	IDs []string // every id of a request or an answer that the row has, trimmed

	// From and To are the half-open interval of UTC in which the instant lies (a
	// time told in seconds is an interval of one second), or what a bucket spans.
	// Both are zero where the row tells no time.
	From, To time.Time
	At       Reference

	Model     string
	ModelAlso []string // other names that the row has for it: mapped, dated, displayed
	Key       string   // the key's name on the console
	Status    *int64

	Requests *int64 // of a bucket: how many; nil where it does not say, and in a Request
	Counts
	Money *Money

	TTFT  *time.Duration // to the first byte or token, as the console has it
	Total *time.Duration

	Failed       bool // the console says that it failed
	Cancelled    bool // the console says that the client left
	Refund       bool // takes back what another row billed: its counts and money are not negative
	Estimated    bool // its tokens were counted by the gateway, not reported by the upstream
	GatewayCache bool // answered by the gateway's own cache: no upstream saw it
}

// Counts are tokens. Input includes the cached tokens and those written to the
// cache, output includes reasoning; where a console counts otherwise the
// importer has added them up. Where it is not known how a console counts, they
// are as it has them: the comparison finds that out.
type Counts struct {
	Input      *int64 `json:"input_tokens"`
	Cached     *int64 `json:"cached_tokens"`
	CacheWrite *int64 `json:"cache_write_tokens"`
	Output     *int64 `json:"output_tokens"`
	Reasoning  *int64 `json:"reasoning_tokens"`
}

// Money is an amount in billionths of its currency, so that sums are exact.
type Money struct {
	Nano     int64     `json:"nano"`
	Currency string    `json:"currency"` // USD, CNY, ...; "quota" where a gateway's own unit is all there is
	Kind     MoneyKind `json:"kind"`
}

// MoneyKind says what an amount is.
type MoneyKind string

// The kinds of money.
const (
	Billed MoneyKind = "billed" // taken from the balance
	Listed MoneyKind = "list"   // by the list of prices, before discounts
	Quota  MoneyKind = "quota"  // reckoned from a gateway's quota at its usual rate
)
