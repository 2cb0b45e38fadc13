package simulator

import (
	"hash/fnv"
	"strings"

	"github.com/tidwall/gjson"
)

// bytesPerToken is the rule of thumb by which tokens are counted.
const bytesPerToken = 4

func tokens(bytes int) int { return (bytes + bytesPerToken - 1) / bytesPerToken }

// silent are the keys whose values a model is not shown, or not as text: ids,
// marks of the wire format, and what is opaque.
var silent = map[string]bool{
	"type": true, "id": true, "call_id": true, "tool_call_id": true, "tool_use_id": true, "status": true,
	"signature": true, "encrypted_content": true, "data": true, "image_url": true, "cache_control": true,
}

// prompt is what a model is shown of a request, in the order in which it reads
// it: a conversation that grows at its end grows at the prompt's end too,
// wherever it stands in the JSON.
func prompt(body gjson.Result, parts []string) string {
	var b strings.Builder
	for _, part := range parts {
		if v := body.Get(part); part == "tools" {
			b.WriteString(v.Raw)
		} else {
			speak(&b, v)
		}
	}
	return b.String()
}

func speak(b *strings.Builder, v gjson.Result) {
	if !v.IsObject() && !v.IsArray() {
		b.WriteString(v.String())
		return
	}
	v.ForEach(func(key, value gjson.Result) bool {
		if !silent[key.Str] {
			speak(b, value)
		}
		return true
	})
}

// prefixes hashes the prompt up to the end of each block of that many tokens.
// A last token at least is in none, since one must be computed to go on.
func prefixes(text string, block int) []uint64 {
	size := block * bytesPerToken
	sums := make([]uint64, 0, len(text)/size)
	hash := fnv.New64a()
	for ; len(text) > size; text = text[size:] {
		hash.Write([]byte(text[:size]))
		sums = append(sums, hash.Sum64())
	}
	return sums
}
