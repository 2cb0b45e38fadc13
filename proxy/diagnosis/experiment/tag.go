package experiment

import (
	"fmt"
	"regexp"
	"strconv"
)

// product is what the requests of experiments are sent by.
const product = "ttftap-probe"

var tag = regexp.MustCompile(`^` + product + `/\S+ \(experiment ([0-9A-Z]{26}); step (\d{1,9})\)$`)

// Tag is the user agent by which a request is known as a step of an experiment:
// the proxy, which adds nothing to a request and takes nothing out, can tell by it.
// id is a ULID, step a place in Plan.Steps.
func Tag(version, id string, step int) string {
	return fmt.Sprintf("%s/%s (experiment %s; step %d)", product, version, id, step)
}

// ReadTag reads a user agent that Tag made; ok is false for any other.
func ReadTag(agent string) (id string, step int64, ok bool) {
	m := tag.FindStringSubmatch(agent)
	if m == nil {
		return "", 0, false
	}
	step, _ = strconv.ParseInt(m[2], 10, 64)
	return m[1], step, true
}
