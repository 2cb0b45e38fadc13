package dialect

import (
	"bytes"
	"math"
	"math/bits"
	"strings"
	"unsafe"

	"github.com/tidwall/gjson"
)

// parse reads JSON in place. The strings of the result share the data's memory
// unless they hold escapes: what is to stay is cloned by keep.
//
// Gjson reads broken JSON as best it can, which is nonsense now and then, so
// the data is validated first: about a nanosecond for each of its bytes.
func parse(data []byte) (root gjson.Result, ok bool) {
	if !IsJSON(data) {
		return gjson.Result{}, false
	}
	return gjson.Parse(unsafe.String(unsafe.SliceData(data), len(data))), true
}

// IsJSON says whether a body can be read as JSON.
func IsJSON(body []byte) bool { return shallow(body) && gjson.ValidBytes(body) }

const (
	safeLen  = 64 << 10 // bytes that cannot nest deep enough to do harm
	maxDepth = 1000
)

// shallow tells whether data may be validated: gjson does so by recursion, and
// 32 MiB of open brackets would overflow the stack, which nothing can recover.
func shallow(data []byte) bool {
	if len(data) <= safeLen {
		return true
	}
	depth := 0
	for i := 0; i < len(data) && depth <= maxDepth; i++ {
		switch data[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			i += stringEnd(data[i+1:])
		}
	}
	return depth <= maxDepth
}

// stringEnd is how far it is to the quote that ends a string, and past it.
func stringEnd(data []byte) int {
	for i := 0; ; i++ {
		n := bytes.IndexByte(data[i:], '"')
		if n < 0 {
			return len(data)
		}
		i += n
		slashes := i - len(bytes.TrimRight(data[:i], `\`))
		if slashes%2 == 0 {
			return i + 1
		}
	}
}

// find is the value under a key of an object, an empty result for any other
// value. Gjson itself would look for an object inside a string, too.
func find(v gjson.Result, key string) gjson.Result {
	if !v.IsObject() {
		return gjson.Result{}
	}
	return v.Get(key)
}

// truthy tells whether a value says anything: null, false, 0, "", [] and {} do
// not.
func truthy(v gjson.Result) bool {
	switch v.Type {
	case gjson.String:
		return v.Str != ""
	case gjson.Number:
		return v.Num != 0
	case gjson.JSON:
		return filled(v)
	}
	return v.Type == gjson.True
}

// filled tells whether an object or array has anything in it.
func filled(v gjson.Result) bool {
	return v.Type == gjson.JSON && len(v.Raw) > 2 && strings.Trim(v.Raw[1:len(v.Raw)-1], " \t\r\n") != ""
}

// size is the length of a string in bytes, 0 for any other value.
func size(v gjson.Result) int {
	if v.Type != gjson.String {
		return 0
	}
	return len(v.Str)
}

// payload is the length of a string, or of an object that stands for one.
func payload(v gjson.Result) int {
	if v.IsObject() && filled(v) {
		return len(v.Raw)
	}
	return size(v)
}

// count is a whole number that is not negative, nil for any other value.
func count(v gjson.Result) *int64 {
	const most = 1 << 53 // beyond it a JSON number is not exact
	if v.Type != gjson.Number || v.Num < 0 || v.Num > most {
		return nil
	}
	n := int64(math.Floor(v.Num))
	return &n
}

// place is a small number, such as an index, and -1 for any other value.
func place(v gjson.Result) int {
	if v.Type != gjson.Number || !(v.Num >= 0 && v.Num < maxPlaces-1) {
		return -1
	}
	return int(v.Num)
}

// maxWord bounds what is kept of a name, an id or a reason, in bytes.
const maxWord = 256

// keep copies a string that is neither empty nor there already.
func keep(to *string, v gjson.Result) {
	if size(v) > 0 && v.Str != *to {
		*to = clip(v.Str, maxWord)
	}
}

// keepFirst copies the first string that is not empty.
func keepFirst(to *string, v gjson.Result) {
	if *to == "" {
		keep(to, v)
	}
}

// clip copies at most n bytes of s, as valid UTF-8.
func clip(s string, n int) string {
	return strings.Clone(strings.ToValidUTF8(s[:min(len(s), n)], ""))
}

const maxPlaces = 1024

// places is a set of places that never grows. Those that are unknown, -1, are
// one like any other: some gateways leave every index out.
type places [maxPlaces / 64]uint64

func (p *places) has(i int) bool { return p[(i+1)/64]&(1<<((i+1)%64)) != 0 }

func (p *places) add(i int) { p[(i+1)/64] |= 1 << ((i + 1) % 64) }

func (p *places) remove(i int) { p[(i+1)/64] &^= 1 << ((i + 1) % 64) }

func (p *places) len() (n int) {
	for _, word := range p {
		n += bits.OnesCount64(word)
	}
	return n
}
