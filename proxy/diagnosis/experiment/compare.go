package experiment

// Comparison is how a later run differs from an earlier one.
type Comparison struct {
	From    string     `json:"from"` // ids of the reports
	To      string     `json:"to"`
	Verdict Sentence   `json:"verdict"`
	Found   []Finding  `json:"found"`
	Says    []Sentence `json:"says"`
	Arms    []Paired   `json:"arms"` // those that both have
}

// Paired are the changes of one arm.
type Paired struct {
	Name    string   `json:"name"`
	Changes []Change `json:"changes"`
}

// Compare says how b differs from a, arm by arm of the same name: first token,
// wait and decode rate.
func Compare(a, b *Report) *Comparison {
	return &Comparison{From: a.ID, To: b.ID}
}

// Markdown is the comparison as text, in "zh" or English.
func (c *Comparison) Markdown(lang string) string {
	return "# " + c.Verdict.In(lang) + "\n"
}
