package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// checkModel says whether the upstream has the model.
func checkModel(c *Case) *Finding {
	list, name := c.at(modelsAsk).ids(), c.model.value
	switch {
	case name == "":
		return unchecked("no model is named and there is no list of them", "ttftap doctor --model NAME")
	case c.model.source == "the upstream's list":
		return ok(fmt.Sprintf("none is named; asked %s, of %d in the list", name, len(list)))
	case slices.Contains(list, name):
		return ok(name + ", as in the list")
	case c.at(responsesAsk).answered() || c.chat().answered():
		return ok(name + " answers")
	case len(list) == 0 && !c.at(responsesAsk).unknownModel() && !c.chat().unknownModel():
		return unchecked("there is no list of models, and no answer tells")
	}
	words := "there is no model " + name
	like := nearest(name, list)
	if like == "" {
		return c.remodelled(change(words, "take one of "+c.base+"/models"))
	}
	f := c.remodelled(change(words, fmt.Sprintf("the nearest in the list: model = %q", like)))
	if e := c.model.entry; e != nil {
		f.Edits = []Edit{c.Codex.Config.replace(e, like)}
	}
	return f
}

// remodelled names the line of the model, where it is from a file.
func (c *Case) remodelled(f *Finding) *Finding {
	if e := c.model.entry; e != nil {
		return f.at(c.Codex.Config, e.line)
	}
	return f
}

// nearest is the candidate that takes the fewest changes to come from a name, ""
// where even that has little in common with it.
func nearest(name string, candidates []string) string {
	best, least := "", max(3, len(name)/2+1) // two letters exchanged are two changes
	for _, candidate := range candidates {
		if d := distance(strings.ToLower(name), strings.ToLower(candidate)); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance is how many letters must be put in, taken out or exchanged.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
