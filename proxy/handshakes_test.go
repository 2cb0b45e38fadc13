package proxy

import (
	"crypto/tls"
	"testing"
	"testing/synctest"
	"time"
)

const aHost = "api.example.com"

// shake notes handshakes of one round trip each, a while apart, and says what the
// round trip is then.
func (d *dialer) shake(apart time.Duration, trips ...time.Duration) time.Duration {
	for _, trip := range trips {
		time.Sleep(apart)
		d.noteHandshake(aHost, trip, tls.ConnectionState{Version: tls.VersionTLS13})
	}
	return *d.roundTrip(aHost, nil)
}

func TestTheRoundTripFollowsTheRoute(t *testing.T) {
	const quick, slow, lost = 20 * time.Millisecond, 180 * time.Millisecond, 3 * time.Second
	repeat := func(n int, trip time.Duration) (trips []time.Duration) {
		for range n {
			trips = append(trips, trip)
		}
		return trips
	}
	for _, c := range []struct {
		name  string
		apart time.Duration
		trips []time.Duration
		want  time.Duration
	}{
		{"a slow one is doubted", time.Minute, []time.Duration{quick, quick, lost}, quick},
		{"and another", time.Minute, []time.Duration{quick, lost, slow}, quick},
		{"three are not, however far apart", 2 * time.Minute, []time.Duration{quick, quick, quick, slow, slow, lost}, slow},
		{"a minute of slow ones is not", time.Second, append(repeat(40, quick), repeat(60, slow)...), slow},
		{"less of them is", time.Second, append(repeat(40, quick), repeat(59, slow)...), quick},
		{"a quick one counts at once", time.Minute, []time.Duration{slow, slow, quick}, quick},
		{"what is ten minutes old counts no more", 10 * time.Minute, []time.Duration{quick, slow}, slow},
	} {
		synctest.Test(t, func(t *testing.T) {
			d := new(dialer)
			if got := d.shake(c.apart, c.trips...); got != c.want {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		})
	}
}

func TestFewHandshakesAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(dialer)
		for range 1000 {
			d.shake(time.Millisecond, time.Millisecond)
		}
		if n := len(d.tls[aHost]); n != manyHandshakes {
			t.Errorf("%d of 1,000 in a second are kept", n)
		}
	})
}
