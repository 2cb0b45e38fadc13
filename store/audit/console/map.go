package console

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ttftap/ttftap/store/audit"
)

// Field is what a column of an unknown header can be.
type Field string

// The fields, as they are written in a mapping.
const (
	Time       Field = "time" // needed
	Until      Field = "until"
	Model      Field = "model"
	ID         Field = "id"
	Key        Field = "key"
	Status     Field = "status"
	Input      Field = "input"
	Cached     Field = "cached"
	CacheWrite Field = "cache_write"
	Output     Field = "output" // needed, unless there is input or money
	Reasoning  Field = "reasoning"
	Requests   Field = "requests"
	Amount     Field = "money"
	Currency   Field = "currency"
	TTFT       Field = "ttft_ms"
	Total      Field = "total_ms"
)

// Mapping names the column of each field. A column may have any spelling that
// differs from the file's in case, width and blanks.
type Mapping map[Field]string

// Mapped is the source of a file whose header was mapped by the user.
const Mapped = "mapped"

// guesses are the names by which a column is known for what it is, in their
// normal form and the likeliest first. A name that holds one counts too.
var guesses = []struct {
	field Field
	names []string
}{
	{Time, []string{"start_time", "starttime", "started_at", "created_at", "createdat", "timestamp", "time", "date", "时间", "消费时间", "开始时间", "日期"}},
	{Until, []string{"end_time", "endtime", "ended_at", "结束时间"}},
	{Model, []string{"model_name", "modelname", "model", "模型名称", "模型"}},
	{ID, []string{"request_id", "requestid", "generation_id", "response_id", "trace_id", "请求id"}},
	{Key, []string{"api_key_name", "key_name", "token_name", "api_key", "apikey", "令牌", "密钥"}},
	{Status, []string{"status_code", "statuscode", "http_status", "状态码"}},
	{Cached, []string{"cached_tokens", "cache_read_tokens", "cache_hit_tokens", "cached_input", "input_cached", "cached", "缓存命中", "缓存tokens", "缓存"}},
	{CacheWrite, []string{"cache_write_tokens", "cache_creation_tokens", "cache_write", "缓存写入"}},
	{Reasoning, []string{"reasoning_tokens", "thinking_tokens", "reasoning", "推理tokens"}},
	{Input, []string{"input_tokens", "prompt_tokens", "inputtokens", "prompttokens", "tokens_in", "tokens_prompt", "input", "prompt", "输入tokens", "输入"}},
	{Output, []string{"output_tokens", "completion_tokens", "outputtokens", "completiontokens", "tokens_out", "tokens_completion", "output", "completion", "输出tokens", "输出"}},
	{Requests, []string{"num_model_requests", "request_count", "requests", "requestcount", "调用次数", "请求次数", "请求数"}},
	{Amount, []string{"total_cost", "cost_usd", "cost", "amount", "spend", "金额", "花费", "费用"}},
	{Currency, []string{"currency", "币种"}},
	{TTFT, []string{"ttft_ms", "first_token_ms", "time_to_first_token", "ttft", "firsttoken(ms)"}},
	{Total, []string{"total_ms", "duration_ms", "latency_ms", "duration(ms)", "elapsed_ms", "latency", "duration"}},
}

// ParseMapping reads "time=COLUMN,model=COLUMN,...". A column whose name has a
// comma is put in double quotes.
func ParseMapping(s string) (Mapping, error) {
	m := Mapping{}
	for s != "" {
		field, rest, ok := strings.Cut(s, "=")
		f := Field(strings.TrimSpace(field))
		if !ok {
			return nil, fmt.Errorf("%q: want FIELD=COLUMN", s)
		}
		if !known(f) {
			return nil, fmt.Errorf("there is no field %q; there are: %s", f, join(Fields()))
		}
		column := ""
		if quoted, isQuoted := strings.CutPrefix(rest, `"`); isQuoted {
			if column, s, ok = strings.Cut(quoted, `"`); !ok {
				return nil, fmt.Errorf("the quote of %s=%s is not closed", f, rest)
			}
			s = strings.TrimPrefix(s, ",")
		} else {
			column, s, _ = strings.Cut(rest, ",")
		}
		if column = strings.TrimSpace(column); column == "" {
			return nil, fmt.Errorf("%s names no column", f)
		}
		m[f] = column
	}
	return m, nil
}

// String writes the mapping as ParseMapping reads it.
func (m Mapping) String() string {
	var terms []string
	for _, f := range Fields() {
		if column, ok := m[f]; ok {
			if strings.ContainsRune(column, ',') {
				column = `"` + column + `"`
			}
			terms = append(terms, string(f)+"="+column)
		}
	}
	return strings.Join(terms, ",")
}

// Fields lists every field, in the order in which they are shown.
func Fields() []Field {
	return []Field{Time, Until, Model, ID, Key, Status, Input, Cached, CacheWrite, Output, Reasoning, Requests, Amount, Currency, TTFT, Total}
}

func known(f Field) bool { return slices.Contains(Fields(), f) }

// Missing are the fields without which nothing can be compared.
func (m Mapping) Missing() (missing []Field) {
	if m[Time] == "" {
		missing = append(missing, Time)
	}
	if m[Output] == "" && m[Input] == "" && m[Amount] == "" {
		missing = append(missing, Output)
	}
	return missing
}

// fits says whether a header has every column that is mapped.
func (m Mapping) fits(has map[string]bool) bool {
	for _, column := range m {
		if !has[normal(column)] {
			return false
		}
	}
	return len(m) > 0 && len(m.Missing()) == 0
}

// source reads the columns as they are mapped. How the console counts is not
// known, so the counts stay as they are.
func (m Mapping) source() *source {
	to := func(f Field) string { return normal(m[f]) }
	s := &source{name: Mapped, mapping: mapping{
		kind: audit.Request, time: to(Time), until: to(Until), model: to(Model), id: to(ID), key: to(Key), status: to(Status),
		input: to(Input), cached: to(Cached), write: to(CacheWrite), output: to(Output), reasoning: to(Reasoning), requests: to(Requests),
		money: to(Amount), moneyKind: audit.Billed, ttft: to(TTFT) + " ms", total: to(Total) + " ms",
		quirk: bucketOrRequest,
	}}
	if c := to(Currency); c != "" {
		s.currency = "=" + c
	}
	return s
}

// bucketOrRequest tells by the row which it is: one that counts requests, or
// whose time is no finer than an hour, is a sum.
func bucketOrRequest(_ row, rec *audit.Record, _ *importing) error {
	if rec.Requests != nil || rec.To.Sub(rec.From).Hours() >= 1 {
		rec.Kind = audit.Bucket
	}
	return nil
}

// Propose guesses which column is what, by names that consoles use.
func Propose(columns []string) Mapping {
	m, taken := Mapping{}, map[string]bool{}
	for _, exact := range []bool{true, false} {
		for _, g := range guesses {
			if m[g.field] != "" {
				continue
			}
			if c := guess(g.names, columns, taken, exact); c != "" {
				m[g.field], taken[c] = c, true
			}
		}
	}
	return m
}

// guess is the first column that is, or else holds, one of names.
func guess(names, columns []string, taken map[string]bool, exact bool) string {
	for _, name := range names {
		for _, c := range columns {
			n := normal(c)
			if !taken[c] && (n == name || !exact && strings.Contains(n, name)) {
				return c
			}
		}
	}
	return ""
}

// unknownHeader says what is missing, and proposes what is likely.
func unknownHeader(file string, columns []string, asked Mapping) error {
	has := map[string]bool{}
	for _, c := range columns {
		has[normal(c)] = true
	}
	for _, f := range slices.Sorted(maps.Keys(asked)) {
		if !has[normal(asked[f])] {
			return refuse(file, "there is no column %q for %s; the columns are: %s", "没有可作为 %[2]s 的“%[1]s”列；现有各列：%[3]s", asked[f], f, strings.Join(columns, ", "))
		}
	}
	shown := columns[:min(len(columns), maxNamed)]
	u := &UnknownHeader{File: file, Columns: shown, Proposed: Propose(columns)}
	u.Missing = u.Proposed.Missing()
	return u
}

const maxNamed = 100 // columns that a message names
