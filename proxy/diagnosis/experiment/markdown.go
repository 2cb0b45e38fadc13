package experiment

// Markdown is the report as text to read or to paste, in "zh" or English.
func (r *Report) Markdown(lang string) string {
	return "# " + r.Verdict.In(lang) + "\n"
}
