package simulator

import (
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// flight is one exchange under way. It goes through its phases one after the
// other; each is spent against the instant at which the one before it ended,
// so that a late wake-up delays nothing that follows.
type flight struct {
	server  *Server
	request *http.Request
	wire    *wire
	start   time.Time
	at      time.Time // the instant reached
	ask     request
	how     Behaviour
	model   *model
	luck    *rand.Rand
	reply   reply
	voice   voice
	truth   Truth

	begun    bool      // the stream says more than that it lives
	sampled  time.Time // when the first token was
	answered int       // tokens generated that are not reasoning
	troubled bool      // stall and mishap have had their turn
}

func (s *Server) newFlight(w http.ResponseWriter, r *http.Request, dialect exchange.Dialect, id string) *flight {
	f := &flight{server: s, request: r, start: time.Now()}
	f.wire = &wire{w: w, how: &f.how}
	f.truth.Started, f.truth.RequestID, f.truth.Dialect = f.start, "req_"+id, dialect
	f.reply = reply{id: id, created: f.start.Unix(), how: &f.how, truth: &f.truth}
	return f
}

// run is the whole flight. It returns nil where the answer is complete, a fault
// where the request is refused, errCut, errBroken, or the reason why the client
// can be written to no more.
func (f *flight) run() error {
	if err := f.accept(); err != nil {
		return err
	}
	if err := f.approach(); err != nil {
		return err
	}
	blocks := f.blocks()
	turn := f.model.slots.enter(blocks)
	defer f.model.slots.leave(turn)
	if err := f.queue(turn); err != nil {
		return err
	}
	defer f.model.memory.leave()
	if err := f.load(); err != nil {
		return err
	}
	if err := f.prefill(turn.slot.cache, blocks); err != nil {
		return err
	}
	if err := f.decode(); err != nil {
		return err
	}
	return f.finish()
}

// accept reads the request.
func (f *flight) accept() error {
	body, err := bodyOf(f.wire.w, f.request)
	f.at = time.Now()
	f.truth.Network = f.at.Sub(f.start)
	if err != nil {
		return err
	}
	if f.ask, err = read(f.truth.Dialect, body); err != nil {
		return err
	}
	f.model = f.server.model(f.ask.model)
	f.how = f.model.Behaviour
	if err := f.how.override(f.request.Header.Values(OverrideHeader)); err != nil {
		return badRequest(err.Error())
	}
	f.prepare()
	return nil
}

// prepare settles what follows from the request alone.
func (f *flight) prepare() {
	f.how.Progress = f.how.Progress || f.ask.progress
	seed := fnv.New64a()
	seed.Write([]byte(f.ask.prompt))
	f.luck = rand.New(rand.NewPCG(f.server.config.Seed, seed.Sum64()))
	f.truth.Model, f.truth.Streamed = f.ask.model, f.ask.stream
	f.truth.PromptTokens = max(1, tokens(len(f.ask.prompt)))
	f.reply.usage, f.reply.inputs = f.ask.usage && f.how.Usage != Unreported, f.ask.inputs
	format := formats[f.truth.Dialect]
	if format.voice == nil {
		return
	}
	f.truth.ResponseID = format.id + f.reply.id
	f.reply.plan = newPlan(&f.ask, &f.how, f.reply.id, f.luck)
	f.voice = format.voice(&f.reply)
}

// approach is the way to the queue: the network and the gateway.
func (f *flight) approach() error {
	if err := f.spend(f.how.Network, &f.truth.Network); err != nil {
		return err
	}
	if f.how.Status != 0 {
		return &fault{status: f.how.Status, message: "refused as asked for", retryAfter: f.how.RetryAfter}
	}
	if err := f.reach(AtAccept); err != nil {
		return err
	}
	return f.spend(f.how.Floor, &f.truth.Floor)
}

// queue waits for a slot.
func (f *flight) queue(t *turn) error {
	from := f.at
	err := f.wire.wait(f.request.Context(), time.Time{}, t.ready)
	f.at = time.Now()
	f.truth.Queue = f.at.Sub(from)
	return err
}

// load waits, in the slot, for the model to be in memory.
func (f *flight) load() error {
	ready := f.model.memory.enter(f.at)
	if err := f.spend(max(0, ready.Sub(f.at)), &f.truth.Load); err != nil {
		return err
	}
	return f.reach(AtSlot)
}

// finish says that the answer is complete, or the whole of it.
func (f *flight) finish() error {
	if f.wire.opened {
		if err := f.wire.send(f.voice.end()); err != nil {
			return err
		}
		return f.wire.release()
	}
	f.truth.Status = http.StatusOK
	f.reply.timeHead(f.wire.w.Header(), atEnd)
	writeJSON(f.wire.w, http.StatusOK, formats[f.truth.Dialect].body(&f.reply))
	return nil
}

// reach sends the head of a stream where it is due at this stage.
func (f *flight) reach(stage Stage) error {
	due := f.how.Headers
	if due == "" {
		due = AtSlot
	}
	if !f.ask.stream || due != stage {
		return nil
	}
	f.truth.Status = http.StatusOK
	f.reply.timeHead(f.wire.w.Header(), stage)
	return f.wire.open(f.voice.ping())
}

// begin says the first of a stream whose head is sent, once.
func (f *flight) begin() error {
	if f.begun || !f.wire.opened {
		return nil
	}
	f.begun = true
	return f.wire.send(f.voice.begin())
}

// spend lets the time pass and books it to phases of the truth: all of it, or
// what has passed until the client left.
func (f *flight) spend(d time.Duration, phases ...*time.Duration) error {
	from, to := f.at, f.at.Add(d)
	err := f.wire.wait(f.request.Context(), to, nil)
	if f.at = to; err != nil {
		f.at = time.Now()
	}
	for _, phase := range phases {
		*phase += f.at.Sub(from)
	}
	return err
}

// conclude says how the flight ended, and answers what was refused.
func (f *flight) conclude(err error) exchange.Outcome {
	if refused, ok := errors.AsType[*fault](err); ok {
		f.truth.Status = refused.status
		refused.write(f.wire.w, f.truth.Dialect)
		return exchange.UpstreamError
	}
	switch {
	case errors.Is(err, errCut):
		return exchange.UpstreamCut
	case errors.Is(err, errBroken):
		return exchange.ErrorEvent
	case err != nil:
		return exchange.ClientAbort
	case f.reply.plan.finish == cutShort:
		return exchange.Incomplete
	}
	return exchange.OK
}
