package doctor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/diagnosis/figure"
)

// Abort is an answer that was broken off, as the log tells.
type Abort struct {
	After    time.Duration  // from the start to the end
	Silence  *time.Duration // from the last sign of the upstream to the end; nil if unknown
	ByClient bool           // the client left; otherwise the upstream broke off
	Client   string         // as it names itself
}

// What makes a cluster: so many aborts, and of all that are alike by their side
// so large a part, within a twentieth of the shortest or the time that a client
// takes to act.
const (
	leastAbort   = 10 * time.Second // what is shorter, a person ended
	leastCluster = 3
	clusterShare = 0.5
	slack        = 500 * time.Millisecond
)

// limits are the ones that clients and hops have by themselves.
var limits = []struct {
	at       time.Duration
	byClient bool
	client   string // beginning of its name in lower case; "": any
	words    string
	cure     string
}{
	{5 * time.Minute, true, "codex", "the idle limit of Codex", "stream_idle_timeout_ms = 900000 in the provider's table"},
	{10 * time.Minute, true, "", "the time-out of OpenAI's and Anthropic's SDKs", "timeout=1800 (Python, in seconds) or timeout: 1_800_000 (Node, in ms) where the client is made"},
	{5 * time.Minute, true, "", "the header and body limit of Node's fetch", "a dispatcher with headersTimeout: 0 and bodyTimeout: 0"},
	{time.Minute, true, "", "a time-out of one minute in the client", "raise the client's own time-out"},
	{30 * time.Second, true, "", "a time-out of 30 s in the client", "raise the client's own time-out"},
	{time.Minute, false, "", "the usual limit of nginx and of load balancers", "proxy_read_timeout 1h; in nginx, or the idle time-out of the load balancer"},
	{100 * time.Second, false, "", "Cloudflare's limit for an answer's beginning", "ask for a stream, or take a route past it"},
}

// checkAborts looks for a time limit in how long broken answers lasted.
func checkAborts(c *Case) *Finding {
	if c.NoLog != "" {
		return ok("skipped: " + c.NoLog)
	}
	for _, byClient := range []bool{true, false} {
		if f := c.clustered(byClient); f != nil {
			return f
		}
	}
	return ok(fmt.Sprintf("%d broken answers in the log, at no common duration", len(c.Aborts)))
}

// clustered looks at one side's aborts, by their silence and by their whole
// length, and tells the tighter one.
func (c *Case) clustered(byClient bool) *Finding {
	var whole, silent []time.Duration
	clients := map[string]int{}
	for _, a := range c.Aborts {
		if a.ByClient != byClient || a.After < leastAbort {
			continue
		}
		whole = append(whole, a.After)
		if a.Silence != nil && *a.Silence >= leastAbort {
			silent = append(silent, *a.Silence)
		}
		clients[strings.ToLower(a.Client)]++
	}
	n, at := cluster(silent)
	kind := "of silence"
	if m, after := cluster(whole); m > n {
		n, at, kind = m, after, "in all"
	}
	if n < leastCluster || float64(n) < clusterShare*float64(len(whole)) {
		return nil
	}
	who := "the upstream, or a hop before it, breaks off"
	if byClient {
		who = "the client leaves"
	}
	words, cure := c.limitAt(at, byClient, most(clients))
	return change(fmt.Sprintf("%d of %d times %s after %s %s: %s", n, len(whole), who, figure.Duration(&at), kind, words), cure)
}

// cluster finds the most durations that lie close together, and their median.
func cluster(ds []time.Duration) (n int, at time.Duration) {
	ds = slices.Sorted(slices.Values(ds))
	for i, from := range ds {
		upTo := from + max(slack, from/20)
		end, _ := slices.BinarySearch(ds, upTo+1)
		if end-i > n {
			n, at = end-i, ds[(i+end)/2]
		}
	}
	return n, at
}

func most(counts map[string]int) string {
	best := ""
	for name, n := range counts {
		if n > counts[best] || n == counts[best] && name < best {
			best = name
		}
	}
	return best
}

// limitAt names the limit that a duration stands for. What Codex' config says
// itself comes first.
func (c *Case) limitAt(at time.Duration, byClient bool, client string) (words, cure string) {
	if e := c.Codex.provided("stream_idle_timeout_ms"); e != nil && byClient {
		ms, err := strconv.Atoi(strings.ReplaceAll(e.value, "_", ""))
		if limit := time.Duration(ms) * time.Millisecond; err == nil && near(at, limit) {
			return fmt.Sprintf("that is stream_idle_timeout_ms of Codex' config, line %d", e.line), fmt.Sprintf("stream_idle_timeout_ms = %d", max(900_000, 3*ms))
		}
	}
	for _, l := range limits {
		if l.byClient == byClient && strings.HasPrefix(client, l.client) && near(at, l.at) {
			return "that is " + l.words, l.cure
		}
	}
	if byClient {
		return "that is a limit of the client's", "raise it: stream_idle_timeout_ms in Codex, timeout in an SDK"
	}
	return "that is a limit between here and the model", "find it in the gateway's or load balancer's settings and raise it"
}

// near says whether a duration comes of a limit: a little later, never much
// sooner.
func near(at, limit time.Duration) bool {
	return at >= limit-slack && at <= limit+max(slack, limit/20)
}
