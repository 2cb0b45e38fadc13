package experiment

// judgeModels draws the line of each model, and compares the longest prompt of
// each with that of the first.
func (f *finder) judgeModels() {
	hidden := f.hidden()
	if hidden != "" {
		f.also(hidden, hiding[hidden])
	}
	first := f.ofModel(f.Models[0])
	f.addLines()
	var judged bool
	for _, model := range f.Models[1:] {
		c := f.compareLadders(first, f.ofModel(model))
		switch {
		case c == nil:
		case judged:
			f.also(c.found(), c.words())
		default:
			f.verdict(c.found(), c.words())
			judged = true
		}
	}
	if !judged {
		f.verdict(Unresolved, lacksArm)
	}
	f.saySpikes()
}

// compareLadders compares two ladders length by length and returns the change of
// the longest.
func (f *finder) compareLadders(a, b []int) *Change {
	var last *Change
	for i := range min(len(a), len(b)) {
		last = f.compare(a[i], b[i])
	}
	return last
}
