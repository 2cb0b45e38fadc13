package experiment

import (
	"cmp"
	"math"
	"slices"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Observed is the kind of a report by Range.
const Observed Kind = "range"

// Range is a report of exchanges that were part of no experiment, for Compare: an
// arm for each model, without rounds, and without a verdict of its own. As their
// prompts are of all lengths, none of them is called a spike.
func Range(name string, xs []*exchange.Exchange) *Report {
	xs = slices.DeleteFunc(slices.Clone(xs), (*exchange.Exchange).IsPrewarm)
	slices.SortFunc(xs, func(a, b *exchange.Exchange) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.ID, b.ID))
	})
	plan := Plan{Kind: Observed}
	arms := make(map[string]int)
	var rows []row
	for i, x := range xs {
		arm, ok := arms[x.Model()]
		if !ok {
			arm = len(plan.Arms)
			arms[x.Model()] = arm
			plan.Arms = append(plan.Arms, Arm{Name: x.Model(), Model: x.Model(), Upstream: x.Upstream})
		}
		s := Step{Arm: arm, Round: i}
		plan.Steps = append(plan.Steps, s)
		rows = append(rows, row{sample(x, i, s), x})
	}
	f := &finder{Report: newReport(Run{ID: name, Plan: plan}), rows: rows}
	f.State, f.Rounds = Done, 0
	if len(xs) > 0 {
		f.StartedAt = xs[0].StartedAt
	}
	f.tell()
	return f.Report
}

// Comparison is how a later run differs from an earlier one.
type Comparison struct {
	From    string     `json:"from"` // ids of the reports
	To      string     `json:"to"`
	Verdict Sentence   `json:"verdict"`
	Found   []Finding  `json:"found"` // Faster, Slower, Same or Unresolved, by the first token
	Says    []Sentence `json:"says"`
	Arms    []Paired   `json:"arms"` // those that both have
}

// Paired are the changes of one arm.
type Paired struct {
	Name    string   `json:"name"`
	Changes []Change `json:"changes"` // From and To are the ids of the reports
}

// Compare says how b differs from a, arm by arm of the same name: first token,
// wait and decode rate. The two are of different times, so no round of one is a
// pair with one of the other.
func Compare(a, b *Report) *Comparison {
	c := &Comparison{From: a.ID, To: b.ID, Found: []Finding{}, Says: []Sentence{}, Arms: []Paired{}}
	for i, before := range a.Arms {
		j := slices.IndexFunc(b.Arms, func(after ArmReport) bool { return after.Name == before.Name })
		if j < 0 {
			continue
		}
		p := Paired{Name: before.Name, Changes: []Change{}}
		for _, of := range []Figure{TTFT, Wait, Rate} {
			if change := later(of, a.values(i, of), b.values(j, of)); change != nil {
				change.From, change.To = a.ID, b.ID
				p.Changes = append(p.Changes, *change)
			}
		}
		c.Arms = append(c.Arms, p)
		c.warn(before, b.Arms[j])
	}
	c.judge()
	return c
}

// mostValues bounds what is compared: the newest of many tell as much.
const mostValues = 400

// values are the settled figures of one arm, the newest of them.
func (r *Report) values(arm int, of Figure) []float64 {
	vs := known(r.Samples, func(s Sample) *float64 {
		if s.Arm != arm {
			return nil
		}
		return s.settled(of)
	})
	return vs[max(0, len(vs)-mostValues):]
}

// later is how a figure changed, nil where one side has none.
func later(of Figure, a, b []float64) *Change {
	by := apart(a, b)
	if by == nil {
		return nil
	}
	c := newChange(middle(a), middle(b), *by)
	c.Figure = of
	return &c
}

// warn says where the prompts of two arms differ, so that their times do.
func (c *Comparison) warn(a, b ArmReport) {
	if a.Prompt == nil || b.Prompt == nil || math.Abs(b.Prompt.At-a.Prompt.At) <= 2*alike*a.Prompt.At {
		return
	}
	c.Says = append(c.Says, Sentence{
		"The prompts of ${arm} differ: ${before} tokens in the median, then ${after}. That alone makes a difference.",
		"${arm}的输入长度不同：中位数先是 ${before} tokens，后是 ${after}；仅此就会造成差别。",
	}.with(figures{"arm": quoted(a.Name), "before": tokens(a.Prompt.At), "after": tokens(b.Prompt.At)}))
}

// judge says which way the first tokens went, by the arm that changed most.
func (c *Comparison) judge() {
	ways := make(map[Finding]int)
	var most *Change
	var of string
	for _, arm := range c.Arms {
		for i, change := range arm.Changes {
			if change.Figure != Wait { // the first token's says as much
				c.note(arm.Name, change)
			}
			if change.Figure != TTFT {
				continue
			}
			ways[change.found()]++
			if most == nil || change.outweighs(*most) {
				most, of = &arm.Changes[i], arm.Name
			}
		}
	}
	if most == nil {
		c.found(Unresolved, Sentence{"Not resolved: the two have no arm in common that was answered in both.", "无法判断：两者没有都得到回答的同名组。"})
		return
	}
	c.found(overall(ways, most.found()), inArm(of, *most))
	if ways[Faster] > 0 && ways[Slower] > 0 {
		c.Verdict = Sentence{"Not resolved as a whole: some are faster, some slower.", "总体无法判断：有的变快，有的变慢。"}
	}
}

func (c *Comparison) found(f Finding, s Sentence) { c.Found, c.Verdict = append(c.Found, f), s }

// overall is what all arms say together, given what the one that changed most says.
func overall(ways map[Finding]int, most Finding) Finding {
	if ways[Faster] > 0 && ways[Slower] > 0 {
		return Unresolved
	}
	return most
}

// outweighs says whether a change tells more than another: the sure one, then the
// open one, then the larger.
func (c Change) outweighs(other Change) bool {
	weight := map[Resolution]int{Resolved: 2, Undecided: 1, NoChange: 0}
	if weight[c.Resolution] != weight[other.Resolution] {
		return weight[c.Resolution] > weight[other.Resolution]
	}
	return math.Abs(c.Share) > math.Abs(other.Share)
}

// note tells a change of one arm.
func (c *Comparison) note(arm string, change Change) {
	c.Says = append(c.Says, inArm(arm, change))
}

// inArm says which arm a change is of.
func inArm(arm string, change Change) Sentence {
	return Sentence{"In ${arm}: ", "${arm}："}.with(figures{"arm": quoted(arm)}).join(change.words())
}
