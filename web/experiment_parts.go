package web

import (
	"slices"
	"strconv"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// partList is what a first token is made of, as a bar and in numbers.
type partList struct {
	Bar  bar
	Rows []partRow
}

// partRow is one part.
type partRow struct {
	Kind  kind
	Word  string
	Value armCell
}

// partOrder is that in which parts come, and what each is drawn as. Decode comes
// after the first token, and is told of one token: it is in no bar.
var partOrder = []struct {
	of   experiment.Finding
	kind kind
}{
	{experiment.FoundNetwork, network}, {experiment.FoundFloor, floor}, {experiment.FoundQueue, queue},
	{experiment.FoundPrefill, prefill}, {experiment.FoundDecode, decode},
}

// parts draws the parts that are known.
func (e reported) parts() (list partList) {
	var phases []phase
	at := time.Duration(0)
	for _, in := range partOrder {
		i := slices.IndexFunc(e.Parts, func(p experiment.Part) bool { return p.Of == in.of })
		if i < 0 {
			continue
		}
		p := e.Parts[i]
		list.Rows = append(list.Rows, partRow{in.kind, p.Name.In(string(e.l)), e.cell("experiment.part", &p.MS, inMillis)})
		if took := milli(p.MS.At); in.of != experiment.FoundDecode && took > 0 {
			phases = append(phases, phase{Kind: in.kind, Start: at, Length: took})
			at += took
		}
	}
	list.Bar = bar{Alt: inPhrases(e.l, phases), Rects: scale{end: at}.rects(phases)}
	return list
}

// spikeList is the requests that waited far longer than the others of their arm.
type spikeList struct {
	Say  string // "" where that cannot be told
	Rows []spikeRow
}

// spikeRow is one of them.
type spikeRow struct{ Word, URL string }

func (e reported) spikes() (list spikeList) {
	if e.Spikes == nil {
		return list
	}
	n, of := strconv.Itoa(len(e.Spikes.Steps)), strconv.Itoa(e.Spikes.Of)
	if e.Spikes.Excess == nil {
		list.Say = e.l.say("experiment.no_spikes", of)
		return list
	}
	list.Say = e.l.say("experiment.spikes", n, of, inMillis(*e.Spikes.Excess))
	for _, s := range e.Samples {
		if s.Over != nil && s.TTFT != nil {
			word := e.l.say("experiment.spike", strconv.Itoa(s.Step), e.name(s.Arm), inMillis(*s.TTFT))
			list.Rows = append(list.Rows, spikeRow{word, sampleURL(s)})
		}
	}
	return list
}

// idTable is by what the provider's console knows the requests.
type idTable struct {
	Consoles []fact // where each kind of id is searched for
	Rows     []idRow
	More     string // how many are not listed; "" for none
}

// idRow is one request.
type idRow struct {
	Step      string // from 0, as in the exports
	URL       string
	When, UTC string
	Shape     string
	Name      string
	TTFT      string
	IDs       []sampleID
}

// sampleID is an id, the copy of it "" where it has more in it than shows.
type sampleID struct{ Word, Value, Copy string }

// idsShown is how many requests a report lists; the exports have them all.
const idsShown = 200

func (e reported) ids(zone *time.Location) (t idTable) {
	for _, s := range e.Samples[:min(len(e.Samples), idsShown)] {
		row := idRow{
			Step: strconv.Itoa(s.Step), URL: sampleURL(s), When: clock(s.StartedAt, zone), UTC: utc(s.StartedAt),
			Shape: armShape(s.Arm), Name: e.name(s.Arm),
		}
		if s.TTFT != nil {
			row.TTFT = inMillis(*s.TTFT)
		}
		for _, id := range []struct{ from, value string }{{"gateway", s.GatewayRequestID}, {"request", s.RequestID}, {"response", s.ResponseID}} {
			row.IDs = append(row.IDs, e.id(&t, id.from, id.value))
		}
		t.Rows = append(t.Rows, row)
	}
	if more := len(e.Samples) - idsShown; more > 0 {
		t.More = e.l.number("experiment.more", int64(more))
	}
	return t
}

// id is one id, and of the first of its kind where to search for it.
func (e reported) id(t *idTable, from, value string) sampleID {
	word := e.l.say("fact." + from + "_id")
	if value != "" && !slices.ContainsFunc(t.Consoles, func(f fact) bool { return f.Name == word }) {
		t.Consoles = append(t.Consoles, fact{Name: word, Value: consoleOf(e.l, from, value)})
	}
	id := sampleID{Word: word, Value: plain(value, nameRunes)}
	if id.Value == value {
		id.Copy = value
	}
	return id
}

func sampleURL(s experiment.Sample) string { return exchangeURL(&exchange.Exchange{ID: s.Exchange}) }
