package proxy

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/dialect"
	"github.com/ttftap/ttftap/proxy/exchange"
)

// Names under which upstreams and gateways send the ids that their consoles
// show, the first that is there wins.
var (
	requestIDs = []string{"X-Request-Id", "X-Oai-Request-Id", "Request-Id", "Apim-Request-Id", "X-Ms-Request-Id",
		"X-Amzn-Requestid", "X-Siliconcloud-Trace-Id", "X-Ds-Trace-Id", "X-Tt-Logid", "Cf-Ray"}
	gatewayIDs = []string{"X-Oneapi-Request-Id", "X-Litellm-Call-Id", "X-Generation-Id", "Cf-Aig-Log-Id",
		"Helicone-Id", "X-Portkey-Trace-Id", "X-Kong-Request-Id"}
)

// readAnswerHead takes the facts of the answer's head.
func (f *flight) readAnswerHead(res *http.Response) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := &f.x
	x.Status = new(int64(res.StatusCode))
	if res.StatusCode == http.StatusSwitchingProtocols {
		x.Transport = "websocket"
	}
	x.RequestID = clip(firstHeader(res.Header, requestIDs))
	x.GatewayRequestID = clip(firstHeader(res.Header, gatewayIDs))
	x.ModelServed = clip(firstHeader(res.Header, []string{"Openai-Model", "X-Openai-Model"}))
	x.Server = dialect.HeadTimings(res.Header.Get)
	x.RTT = f.proxy.dialer.roundTrip(f.upstream.URL.Host, f.trail.conn)
	x.UpstreamClockOffset = f.clockOffset(res.Header.Get("Date"))
}

// clockOffset is how far the upstream's clock was ahead when the head came, nil
// where it did not tell the time. It tells whole seconds, cut off: their middle is
// the best guess.
func (f *flight) clockOffset(date string) *time.Duration {
	if date == "" || f.x.Headers == nil {
		return nil
	}
	there, err := http.ParseTime(date)
	if err != nil {
		return nil
	}
	return new(there.Add(time.Second / 2).Sub(f.start.Add(*f.x.Headers)))
}

// unreachable says why no answer came: the step that failed, and in words the
// host, the step and the cause.
func (f *flight) unreachable(err error) (step, words string) {
	host := f.upstream.URL.Host
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return stepDNS, fmt.Sprintf("dns: no address for %s: %s", dns.Name, dns.Err)
	case f.x.GotConn != nil:
		return "answer", fmt.Sprintf("%s closed the connection before an answer: %s", host, f.cause(err))
	case f.trail.step == stepTLS:
		return stepTLS, fmt.Sprintf("tls: the handshake with %s failed: %s", host, f.cause(err))
	}
	return stepConnect, fmt.Sprintf("connect: could not connect to %s: %s", host, f.cause(err))
}

// cause is the innermost words of a network error, without addresses twice. They
// may quote what the upstream sent.
func (f *flight) cause(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	return f.scrub(err.Error())
}

// describeError puts the upstream's error, or a broken stream, into words.
func (f *flight) describeError(a *dialect.Answer) {
	switch {
	case f.x.Error != "":
	case a.Error != nil:
		f.x.Error = f.errorWords(a.Error)
	case f.tap.isHTML() && f.x.Dialect != exchange.Other:
		f.x.Error = "html: the answer is a web page, not an API's"
	case f.x.Outcome == exchange.UpstreamError:
		f.x.Error = http.StatusText(int(*f.x.Status))
	case f.x.Outcome == exchange.UpstreamCut && f.tap.readError() != nil:
		f.x.Error = "the upstream broke off: " + f.cause(f.tap.readError())
	case f.x.Outcome == exchange.UpstreamCut && f.err != nil:
		_, f.x.Error = f.unreachable(f.err)
	case f.x.Outcome == exchange.UpstreamCut:
		f.x.Error = "the stream ended without its last event"
	}
}

// errorWords keeps of an upstream's error its type, code, param and a scrubbed
// message.
func (f *flight) errorWords(e *dialect.Error) string {
	var words []string
	if e.Status > 0 && f.x.Status != nil && *f.x.Status < http.StatusBadRequest {
		words = append(words, strconv.FormatInt(e.Status, 10)) // the answer's own says that all is well
	}
	for _, w := range []string{e.Type, e.Code, e.Param} {
		if w = f.scrub(w); w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	head := strings.Join(words, " ")
	switch message := f.scrub(e.Message); {
	case head == "":
		return message
	case message == "":
		return head
	default:
		return head + ": " + message
	}
}
