package audit

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// purse adds up money by currency and kind.
type purse []Money

func (p *purse) put(m *Money, by int64) {
	if m == nil {
		return
	}
	for i := range *p {
		if q := &(*p)[i]; q.Currency == m.Currency && q.Kind == m.Kind {
			q.Nano += by * m.Nano
			return
		}
	}
	*p = append(*p, Money{by * m.Nano, m.Currency, m.Kind})
}

// amounts are the sums as text, in the order of their currencies.
func (p purse) amounts() []Amount {
	slices.SortFunc(p, func(a, b Money) int {
		return strings.Compare(a.Currency+string(a.Kind), b.Currency+string(b.Kind))
	})
	out := []Amount{}
	for _, m := range p {
		out = append(out, Amount{decimal(m.Nano), m.Currency, m.Kind})
	}
	return out
}

// decimal writes billionths without the zeros that say nothing.
func decimal(nano int64) string {
	minus := ""
	if nano < 0 {
		minus, nano = "-", -nano
	}
	whole, part := strconv.FormatInt(nano/1e9, 10), strconv.FormatInt(nano%1e9+1e9, 10)[1:]
	part = strings.TrimRight(part, "0")
	if part == "" {
		return minus + whole
	}
	return minus + whole + "." + part
}

// Money may differ by what consoles round, and by a thousandth.
const (
	roundedNano  = 2000
	moneyPartsOf = 1000
)

// priced compares what a row bills with what its tokens cost by the user's
// prices; nothing where there is no price for it.
func (c *comparison) priced(label int32, n Counts, m *Money) (reason Words, differs bool) {
	p := c.price(label, m)
	if p == nil || n.Input == nil || n.Output == nil {
		return Words{}, false
	}
	due := p.of(n)
	if off := abs(m.Nano - due); off <= roundedNano+abs(due)/moneyPartsOf {
		return Words{}, false
	}
	return Words{
		"Price: ${due} ${currency} by your prices, ${billed} ${currency} there.",
		"金额：按你的单价应为 ${due} ${currency}，控制台 ${billed} ${currency}。",
	}.with("due", decimal(due), "billed", decimal(m.Nano), "currency", m.Currency), true
}

func (c *comparison) price(label int32, m *Money) *Price {
	if m == nil {
		return nil
	}
	for i := range c.options.Prices {
		p := &c.options.Prices[i]
		if p.Currency == m.Currency && c.names.cost(label, c.names.label([]string{p.Model})) >= 0 {
			return p
		}
	}
	return nil
}

// of is what the tokens cost, in billionths.
func (p *Price) of(n Counts) int64 {
	cached, written := zeroIfNil(n.Cached), zeroIfNil(n.CacheWrite)
	write := p.Input
	if p.CacheWrite != nil {
		write = *p.CacheWrite
	}
	total := new(big.Int)
	for _, part := range [][2]int64{
		{*n.Input - cached - written, p.Input}, {cached, p.Cached}, {written, write}, {*n.Output, p.Output},
	} {
		total.Add(total, new(big.Int).Mul(big.NewInt(part[0]), big.NewInt(part[1])))
	}
	return total.Quo(total, big.NewInt(1e6)).Int64()
}

// zeroIfNil is for what is billed only where it is stated.
func zeroIfNil(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
