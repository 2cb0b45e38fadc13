package dialect

import (
	"slices"

	"github.com/tidwall/gjson"
)

const (
	usageAsked   = `"include_usage":true`
	optionsAsked = `{` + usageAsked + `}`
)

// AskUsage is the body of a chat or completions request that asks for usage in
// its stream, and is otherwise as it was, byte for byte. Nil: the request asks for
// no stream, says itself whether it wants usage, or cannot be read. The body is
// left as it is.
func AskUsage(body []byte) []byte {
	root, ok := parse(body)
	if !ok || !root.IsObject() {
		return nil
	}
	var stream, options gjson.Result // the last, where one comes twice
	root.ForEach(func(key, v gjson.Result) bool {
		switch key.Str {
		case "stream":
			stream = v
		case "stream_options":
			options = v
		}
		return true
	})
	switch {
	case stream.Type != gjson.True:
		return nil
	case !options.Exists():
		return splice(body, end(stream), end(stream), `,"stream_options":`+optionsAsked)
	case options.Type == gjson.Null:
		return splice(body, options.Index, end(options), optionsAsked)
	case !options.IsObject() || find(options, "include_usage").Exists():
		return nil
	case filled(options):
		return splice(body, options.Index+1, options.Index+1, usageAsked+",")
	}
	return splice(body, options.Index, end(options), optionsAsked)
}

// end is where a value ends in what it was read from.
func end(v gjson.Result) int { return v.Index + len(v.Raw) }

// splice is a copy of the body with a text in the place of a range.
func splice(body []byte, from, to int, text string) []byte {
	return slices.Concat(body[:from], []byte(text), body[to:])
}
