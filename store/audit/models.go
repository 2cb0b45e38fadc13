package audit

// learnModels takes from the pairs which names stand for the same model, where
// most pairs of a console's name say so.
func (c *comparison) learnModels() {
	all, seen := make(map[int32]int), make(map[[2]int32]int)
	for _, p := range c.pairs {
		if p.timed && abs(p.gap) > c.delta && c.there[p.there].state == open {
			continue
		}
		h, t := c.here[p.here].label, c.there[p.there].label
		all[t]++
		seen[[2]int32{h, t}]++
	}
	for labels, n := range seen {
		if 2*n <= all[labels[1]] || c.names.cost(labels[0], labels[1]) >= 0 {
			continue
		}
		c.names.learn(labels[0], labels[1])
		c.note(Words{
			"The model ${there} of the console is ${here} here, as ${pairs} pairs show.",
			"控制台的模型 ${there} 即本地的 ${here}（由 ${pairs} 对记录得出）。",
		}, "there", c.names.shown(labels[1]), "here", c.names.shown(labels[0]), "pairs", n)
	}
}
