//go:build unix

package proxy_test

import (
	"io"
	"testing"
	"time"
)

// streams are requests whose chunks come at a pace, or as fast as may be.
type streams struct {
	load
	pace time.Duration
}

func BenchmarkPacedChunk(b *testing.B) {
	streams{load{atOnce: requests, prompt: 1 << 10, chunks: 40}, 20 * time.Millisecond}.pairChunks(b)
}

func BenchmarkBulkChunk(b *testing.B) {
	streams{load{atOnce: 32, prompt: 1 << 10, chunks: 400}, 0}.pairChunks(b)
}

// pairChunks tells the processor time that a chunk takes through a Proxy beside Go's
// own reverse proxy, as pair does for a request. What the requests take is in it.
func (s streams) pairChunks(b *testing.B) {
	upstream := listen(b)
	go serveAll(upstream, s.answer)
	const direct, bare, own = 0, 1, 2
	addresses := []string{upstream.Addr().String(), bareProxy(b, upstream), droppingProxy(b, upstream)}
	var ways [3][]time.Duration
	for b.Loop() {
		for way, address := range addresses {
			ways[way] = append(ways[way], s.send(b, address))
		}
	}
	cost := func(way int) float64 {
		return float64((median(ways[way]) - median(ways[direct])).Nanoseconds()) / 1e3 / requests / float64(s.chunks)
	}
	b.ReportMetric(cost(bare), "bare-us/chunk")
	b.ReportMetric(cost(own), "us/chunk")
	b.ReportMetric(cost(own)/cost(bare), "x-bare")
	b.ReportMetric(0, "ns/op")
}

// answer sends the chunks at their pace.
func (s streams) answer(w io.Writer) error {
	if s.pace == 0 {
		return s.load.answer(w)
	}
	return s.load.answer(paced{w, s.pace})
}

// paced writes each time after a pause.
type paced struct {
	io.Writer
	pace time.Duration
}

func (p paced) Write(text []byte) (int, error) {
	<-time.After(p.pace)
	return p.Writer.Write(text)
}
