package web

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

const (
	beatEach    = 15 * time.Second // a sign of life, so that no hop takes the silence for the end
	writeWithin = 10 * time.Second // a listener that takes nothing for so long is gone
	leaveWithin = time.Second      // the same once the server stops
)

// The names of /-/live beside those of the page whose rows it tells of.
const (
	sinceName  = "since"  // position from which on to tell, if the browser says none itself
	axisName   = "axis"   // where the bars of the page end, in seconds
	tongueName = "tongue" // the page's language, however it was chosen
)

// liveURL is where a page that shows a query on a scale follows it from a
// position on.
func liveURL(q query, l language, on scale, position string) string {
	values := url.Values{tongueName: {string(l)}, sinceName: {position}}
	if on.end > 0 {
		values.Set(axisName, strconv.FormatFloat(on.end.Seconds(), 'f', -1, 64))
	}
	maps.Copy(values, q)
	return address("/-/live", values)
}

// live is the http.Handler of the server-sent events.
func (s *site) live(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // or nginx would collect them
	if r.Method == http.MethodHead {
		return nil
	}
	asked := r.URL.Query()
	position := cmp.Or(r.Header.Get("Last-Event-ID"), asked.Get(sinceName))
	l, ok := spoken(asked.Get(tongueName))
	if !ok {
		l = languageOf(r)
	}
	axis := axisAsked(asked)
	for _, name := range []string{sinceName, axisName, tongueName} {
		asked.Del(name)
	}
	name := string(l) + axis.String() + asked.Encode()
	me := s.hub.join(name, position, s.newAudience(s.Serving, l, asked, axis))
	if me == nil {
		return errCrowded
	}
	defer s.hub.leave(me)
	s.tell(w, r, me)
	return nil
}

// axisAsked is where the bars are to end, 30 s unless it is said.
func axisAsked(asked url.Values) time.Duration {
	if s, ok := scaleAsked(query{"scale": asked[axisName]}); ok && s.end > 0 {
		return s.end
	}
	return 30 * time.Second
}

// tell writes to a listener what it is told, until one of both leaves.
func (s *site) tell(w http.ResponseWriter, r *http.Request, me *listener) {
	v := voice{w, http.NewResponseController(w), s.Serving}
	defer v.rest()
	stop := context.AfterFunc(s.Serving, func() { v.within(leaveWithin) })
	defer stop()
	beat := time.NewTicker(beatEach)
	defer beat.Stop()
	for ok := v.say([]byte("retry: 2000\n\n")); ok; {
		select {
		case told, more := <-me.out:
			if !more {
				told = resetEvent
			}
			ok = v.say(told) && more
		case <-beat.C:
			ok = v.say([]byte(":\n\n"))
		case <-r.Context().Done():
			return
		case <-s.Serving.Done():
			return
		}
	}
}

// voice is the way to a listener, who may take long, or be gone without a word.
type voice struct {
	w       http.ResponseWriter
	out     *http.ResponseController
	serving context.Context
}

// say writes at once; false means that it is of no use to say more. Between two
// writes there is no limit: over HTTP/2 it would end a listener that is only not
// told anything.
func (v voice) say(told []byte) bool {
	if v.serving.Err() != nil {
		return false
	}
	defer v.rest()
	v.within(writeWithin)
	_, err := v.w.Write(told)
	return err == nil && v.out.Flush() == nil
}

// within lets what is being written take so long at most, where the server can.
func (v voice) within(d time.Duration) { _ = v.out.SetWriteDeadline(time.Now().Add(d)) }

// rest takes the limit away: the connection may serve a stream next.
func (v voice) rest() { _ = v.out.SetWriteDeadline(time.Time{}) }
