package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// screenshots are the pictures of the documentation, by the file's name.
var screenshots = []struct {
	name, target string
	height       int64
	path         string // of a link on the target to be followed first; "" for none
}{
	{"requests", "/-/?lang=en", 1180, ""},
	{"requests-zh", "/-/?lang=zh", 1180, ""},
	{"request", "/-/?bound=prefill&lang=en", 1180, "tr.exchange td.c-time a"},
	{"turn", "/-/turns/agent-1-turn-2?lang=en", 760, ""},
	{"charts", "/-/charts?lang=en", 1180, ""},
}

// TestScreenshots makes the pictures of the documentation from the demo, in the
// folder that TTFTAP_SCREENSHOTS names.
func TestScreenshots(t *testing.T) {
	dir := os.Getenv("TTFTAP_SCREENSHOTS")
	if dir == "" {
		t.Skip("run by make screenshots alone")
	}
	r := startProgram(t, "demo")
	awaitQuiet(r)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.DisableGPU)
	if path := cmp.Or(os.Getenv("TTFTAP_CHROMIUM"), "chromium"); path != "" {
		options = append(options, chromedp.ExecPath(path))
	}
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	for _, s := range screenshots {
		err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, s.height), chromedp.Navigate(r.base+s.target))
		if err == nil && s.path != "" {
			_, err = chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(s.path)))
		}
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, s.name+".png"), png, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// awaitQuiet waits until the demo's own traffic is through: until there are rows,
// and none has come for some seconds.
func awaitQuiet(r *running) {
	r.t.Helper()
	n, since := 0, time.Now()
	for n == 0 || time.Since(since) < 5*time.Second {
		if now := len(r.rows(1)); now != n {
			n, since = now, time.Now()
		}
		<-time.After(200 * time.Millisecond)
	}
}
