package experiment

// Joint is what several experiments against one upstream say together.
type Joint struct {
	IDs     []string   `json:"ids"`
	Verdict Sentence   `json:"verdict"` // where a slow first token comes from, and what decode costs
	Found   []Finding  `json:"found"`
	Says    []Sentence `json:"says"`
	Parts   []Part     `json:"parts"`
}

// Part is one part of the time of a request.
type Part struct {
	Name Sentence `json:"name"`
	Of   string   `json:"of"` // network, floor, queue, prefill, decode
	MS   Estimate `json:"ms"` // of one request; of one token for decode
}

// Join says what several reports tell together.
func Join(reports []*Report) *Joint {
	j := &Joint{}
	for _, r := range reports {
		j.IDs = append(j.IDs, r.ID)
	}
	return j
}

// Markdown is the joint verdict and each report as text, in "zh" or English.
func (j *Joint) Markdown(lang string) string {
	return "# " + j.Verdict.In(lang) + "\n"
}
