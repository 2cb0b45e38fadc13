package audit

// comparison is one comparison under way.
type comparison struct {
	options  Options
	files    []File
	names    *names
	here     []here
	there    []there // rows of requests
	buckets  []there
	entries  []there
	unread   unread
	groups   []group
	idsTell  map[idKind]bool
	pairs    []pair // that the clock and the conventions are found by
	delta    int64  // how far apart a pair's times may be
	clock    *Clock
	zone     *Zone
	doubtful bool // the rows show another zone than the user chose
	guessed  bool // times state no zone, and too few rows show it
	summer   int  // minutes to a second zone that the rows show; 0: there is none
	habits   habits
	found    []Convention
	log      Span
	console  Span
	notes    []Words
	rows     []Row
}

// Compare lays the files of one console beside the attempts of the log.
func Compare(files []File, attempts []Attempt, o Options) *Result {
	c := newComparison(files, attempts, o)
	c.pairByID()
	c.findPairs()
	c.findReference()
	c.findZone()
	c.findClock()
	c.learnModels()
	c.findHabits()
	c.pairByTokens()
	c.keepScope()
	c.judgeGroups()
	c.judgeAlone()
	c.judgeBuckets()
	c.markRetries()
	return c.result()
}

func newComparison(files []File, attempts []Attempt, o Options) *comparison {
	n := newNames(o.Aliases)
	c := &comparison{options: o, files: once(files), names: n, idsTell: make(map[idKind]bool)}
	c.here = readyHere(attempts, n)
	c.there, c.buckets, c.entries = readyThere(c.files, n)
	c.unread = readyUnread(c.files, n)
	c.cover()
	return c
}

// settle makes a group of rows, which are then no more open.
func (c *comparison) settle(g group) {
	to := paired
	if g.unclear {
		to = crowded
	}
	for _, i := range g.here {
		c.here[i].state = to
	}
	for _, j := range g.there {
		c.there[j].state = to
	}
	c.groups = append(c.groups, g)
}
