package dialect

import (
	"strings"

	"github.com/tidwall/gjson"
)

// counter says where one token count may stand in a usage object. The first
// path that holds a number gives it; a vendor's own field is one more path.
type counter struct {
	into  func(*Usage) **int64
	paths []string
}

func prompt(u *Usage) **int64     { return &u.Prompt }
func cached(u *Usage) **int64     { return &u.Cached }
func cacheWrite(u *Usage) **int64 { return &u.CacheWrite }
func output(u *Usage) **int64     { return &u.Output }
func thought(u *Usage) **int64    { return &u.Reasoning }
func total(u *Usage) **int64      { return &u.Total }

// openAICounters is for chat and Responses: prompt_* and completion_* are of the
// former, input_* and output_* of the latter.
var openAICounters = []counter{
	{prompt, []string{"prompt_tokens", "input_tokens"}},
	{cached, []string{
		"prompt_tokens_details.cached_tokens",
		"input_tokens_details.cached_tokens",
		"cached_tokens",           // Moonshot, Together
		"prompt_cache_hit_tokens", // DeepSeek
		"num_cached_tokens",
	}},
	{cacheWrite, []string{
		"prompt_tokens_details.cache_write_tokens", // OpenRouter
		"input_tokens_details.cache_write_tokens",
		"prompt_tokens_details.cache_creation_tokens", // LiteLLM
		"cache_creation_input_tokens",                 // Vercel, Databricks
	}},
	{output, []string{"completion_tokens", "output_tokens"}},
	{thought, []string{
		"completion_tokens_details.reasoning_tokens",
		"output_tokens_details.reasoning_tokens",
		"reasoning_tokens", // Copilot
	}},
	{total, []string{"total_tokens"}},
}

// anthropicCounters is for Messages, whose input leaves the cache out.
var anthropicCounters = []counter{
	{prompt, []string{"input_tokens"}},
	{cached, []string{"cache_read_input_tokens"}},
	{cacheWrite, []string{"cache_creation_input_tokens"}},
	{output, []string{"output_tokens"}},
	{thought, []string{"output_tokens_details.thinking_tokens", "output_tokens_details.reasoning_tokens"}},
}

// ollamaCounters is for Ollama's native answers.
var ollamaCounters = []counter{
	{prompt, []string{"prompt_eval_count"}},
	{output, []string{"eval_count"}},
}

// maxUsage bounds a usage object, in bytes; a longer one is none.
const maxUsage = 64 << 10

// usageOf reads a usage object, and keeps it as it came.
func usageOf(v gjson.Result, table []counter) Usage {
	u := Usage{Raw: strings.Clone(v.Raw)}
	for _, row := range table {
		for _, path := range row.paths {
			if n := count(v.Get(path)); n != nil {
				*row.into(&u) = n
				break
			}
		}
	}
	return u
}

// counted tells whether any count is known.
func (u *Usage) counted() bool {
	return u.Prompt != nil || u.Output != nil || u.Total != nil
}

// usageRank says where a usage object stood. One from a better place is not
// replaced by one from a worse.
type usageRank uint8

const (
	fromChoice usageRank = iota + 1 // choices[].usage: Moonshot's documented place
	fromGroq                        // x_groq.usage
	fromTop
)

// use takes a usage object over: the last that is not empty wins, but one
// without any count does not wipe out counts.
func (r *reading) use(v gjson.Result, from usageRank) {
	if !v.IsObject() || !filled(v) || len(v.Raw) > maxUsage || from < r.usageFrom {
		return
	}
	u := usageOf(v, openAICounters)
	if r.answer.Usage.counted() && !u.counted() {
		return
	}
	r.answer.Usage, r.usageFrom = u, from
	r.time("usage", v)
}

// maxFields bounds the keys of a merged usage object.
const maxFields = 64

// merged is a usage object put together from several: of each key the last
// value that is not null.
type merged []struct{ key, raw string }

// merge takes an object over, and tells whether there was anything in it.
func (m *merged) merge(v gjson.Result) (any bool) {
	if !v.IsObject() || len(v.Raw) > maxUsage {
		return false
	}
	v.ForEach(func(key, v gjson.Result) bool {
		if v.Type != gjson.Null {
			any = true
			m.set(key.Raw, v.Raw)
		}
		return true
	})
	return any
}

func (m *merged) set(key, raw string) {
	for i, field := range *m {
		if field.key == key {
			(*m)[i].raw = strings.Clone(raw)
			return
		}
	}
	if len(*m) < maxFields {
		*m = append(*m, struct{ key, raw string }{strings.Clone(key), strings.Clone(raw)})
	}
}

func (m merged) String() string {
	fields := make([]string, len(m))
	for i, field := range m {
		fields[i] = field.key + ":" + field.raw
	}
	return "{" + strings.Join(fields, ",") + "}"
}
