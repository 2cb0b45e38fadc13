package audit

import (
	"fmt"
	"slices"
	"strings"
)

// once leaves out the rows that a console gave twice: pages that overlap. What is
// the same in every field is the same row, but as often as one file has it, and
// once if it has an id: pages may have been put together to one file.
func once(files []File) []File {
	most := make(map[string]int)
	out := slices.Clone(files)
	for f := range out {
		here := make(map[string]int)
		kept := make([]Record, 0, len(out[f].Records))
		for _, r := range out[f].Records {
			named := slices.ContainsFunc(r.IDs, tells)
			if len(files) == 1 && !named {
				kept = append(kept, r)
				continue
			}
			k := r.key()
			if here[k]++; here[k] > most[k] && (here[k] == 1 || !named) {
				most[k] = here[k]
				kept = append(kept, r)
			}
		}
		out[f].Records = kept
	}
	return out
}

// key is all that a row states.
func (r *Record) key() string {
	var b strings.Builder
	fmt.Fprint(&b, r.Kind, r.IDs, r.From.UnixNano(), r.To.UnixNano(), r.Model, r.Key, r.Refund, r.Failed)
	for _, n := range []*int64{r.Status, r.Requests, r.Input, r.Cached, r.CacheWrite, r.Output, r.Reasoning} {
		fmt.Fprint(&b, "|", written(n, ""))
	}
	if r.Money != nil {
		fmt.Fprint(&b, *r.Money)
	}
	if r.Total != nil {
		fmt.Fprint(&b, "|", *r.Total)
	}
	return b.String()
}
