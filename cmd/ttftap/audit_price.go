package main

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ttftap/ttftap/store/audit"
)

// prices reads what models cost: IN/CACHED/OUT for a million tokens, or
// IN/CACHED/WRITE/OUT, and the currency if it is not USD: "1.25/0.125/10 CNY".
func prices(asked map[string]string) (list []audit.Price, err error) {
	for _, model := range slices.Sorted(maps.Keys(asked)) {
		amounts, currency, _ := strings.Cut(strings.TrimSpace(asked[model]), " ")
		var nano []int64
		for s := range strings.SplitSeq(amounts, "/") {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || !(v >= 0 && v < 1e6) {
				return nil, usagef("--price %s=%s: %q is no price", model, asked[model], s)
			}
			nano = append(nano, int64(math.Round(v*1e9)))
		}
		p := audit.Price{Model: model, Currency: cmp.Or(strings.ToUpper(strings.TrimSpace(currency)), "USD")}
		switch len(nano) {
		case 3:
			p.Input, p.Cached, p.Output = nano[0], nano[1], nano[2]
		case 4:
			p.Input, p.Cached, p.CacheWrite, p.Output = nano[0], nano[1], &nano[2], nano[3]
		default:
			return nil, usagef("--price %s=%s: want IN/CACHED/OUT, or IN/CACHED/WRITE/OUT", model, asked[model])
		}
		list = append(list, p)
	}
	return list, nil
}
