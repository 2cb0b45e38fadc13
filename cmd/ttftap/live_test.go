package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// liveEvents are the names of the events of a live page with what they say, until
// it ends; the summaries are left out.
func liveEvents(t *testing.T, client *http.Client, at string) (events <-chan [2]string, ended <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	res, err := client.Do(must(http.NewRequestWithContext(ctx, http.MethodGet, at, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("%s, %v", res.Status, res.Header)
	}
	all, end := make(chan [2]string, 100), make(chan error, 1)
	go func() {
		defer res.Body.Close()
		name := ""
		lines := bufio.NewReader(res.Body)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				end <- err
				return
			}
			if rest, ok := strings.CutPrefix(line, "event: "); ok {
				name = strings.TrimSpace(rest)
			}
			if rest, ok := strings.CutPrefix(line, "data: "); ok && name != "summary" {
				var told struct{ HTML string }
				if err := json.Unmarshal([]byte(rest), &told); err != nil {
					end <- err
					return
				}
				all <- [2]string{name, told.HTML}
			}
		}
	}()
	return all, end
}

func TestALivePageFollowsARequestToItsEnd(t *testing.T) {
	h2c := &http.Transport{Protocols: new(http.Protocols)}
	h2c.Protocols.SetUnencryptedHTTP2(true)
	for name, client := range map[string]*http.Client{"HTTP/1.1": {Transport: &http.Transport{}}, "h2c": {Transport: h2c}} {
		t.Run(name, func(t *testing.T) {
			upstream, release := gated(t)
			r := startProgram(t, "serve", "--upstream", upstream)
			events, _ := liveEvents(t, client, liveAddress(t, r.base, "/-/"))
			go http.Post(r.base+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"m-live","stream":true}`))
			seen := ""
			for !strings.HasSuffix(seen, "finished ") {
				select {
				case e := <-events:
					if !strings.Contains(e[1], "m-live") && !strings.Contains(e[1], "/v1/chat/completions") {
						t.Errorf("%s: %s", e[0], e[1])
					}
					if seen += e[0] + " "; e[0] == "finished" && !strings.Contains(e[1], ">5<") {
						t.Errorf("it ended: %s", e[1])
					}
					if release != nil && strings.Contains(e[1], "Answering") {
						close(release)
						release = nil
					}
				case <-time.After(10 * time.Second):
					t.Fatalf("seen so far: %s", seen)
				}
			}
			if !strings.HasPrefix(seen, "started ") || release != nil {
				t.Errorf("seen: %s", seen)
			}
		})
	}
}

func TestALivePageDoesNotKeepTheProgramFromStopping(t *testing.T) {
	upstream, _ := gated(t)
	r := startProgram(t, "serve", "--upstream", upstream)
	_, ended := liveEvents(t, http.DefaultClient, liveAddress(t, r.base, "/-/"))
	begun := time.Now()
	r.stop()
	if err := <-ended; err != io.EOF {
		t.Errorf("the page was cut off: %v", err)
	}
	if code := r.exit(); code != 0 {
		t.Errorf("exit code %d: %s", code, r.stderr)
	}
	if took := time.Since(begun); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestALivePageIsShownToThoseWithTheTokenAlone(t *testing.T) {
	upstream, _ := gated(t)
	r := startProgram(t, "serve", "--upstream", upstream, "--ui-token", "sesame")
	if res, _ := r.get("/-/live"); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("without it: %s", res.Status)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	q := must(http.NewRequestWithContext(ctx, http.MethodGet, r.base+"/-/live", nil))
	q.Header.Set("Authorization", "Bearer sesame")
	res := must(http.DefaultClient.Do(q))
	defer res.Body.Close()
	if line, err := bufio.NewReader(res.Body).ReadString('\n'); line != "retry: 2000\n" {
		t.Errorf("%s: %q, %v", res.Status, line, err)
	}
}
