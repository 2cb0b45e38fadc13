package dialect

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// The corpus is a folder of bodies that real servers sent, each with the values
// that must be read from it. It is optional: it lies beside the repository, or
// where TTFTAP_SHARED says, and the fixtures in testdata do not depend on it.

// recording is one row of the corpus' index.
type recording struct {
	File     string
	Endpoint exchange.Dialect
	Streamed bool
	Status   int
	Expect   figures
	Usage    any
}

// figures is what must be read of one body.
type figures struct {
	Model           *string `json:"model"`
	PromptTokens    *int64  `json:"prompt_tokens"`
	CachedTokens    *int64  `json:"cached_tokens"`
	OutputTokens    *int64  `json:"output_tokens"`
	ReasoningTokens *int64  `json:"reasoning_tokens"`
	FirstTokenEvent *int    `json:"first_token_event"`
	FirstTokenKind  *string `json:"first_token_kind"`
	ContentEvents   *int    `json:"content_events"`
	Finish          *string `json:"finish"`
	FinishDetail    *string `json:"finish_detail"`
	HasUsage        bool    `json:"has_usage"`
	Error           bool    `json:"error"`
	DoneMarker      bool    `json:"done_marker"`
	DataEvents      *int    `json:"data_events"`
}

func TestEveryRecordedBodyIsReadRight(t *testing.T) {
	folder := corpus(t)
	random := rand.New(rand.NewPCG(1, 2))
	for _, rec := range recordings(t, folder) {
		t.Run(rec.File, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join(folder, rec.File))
			if err != nil {
				t.Fatal(err)
			}
			for _, parts := range [][][]byte{{body}, randomCuts(body, random), randomCuts(body, random)} {
				events, answer := replay(rec.Endpoint, filepath.Ext(rec.File), parts...)
				if diff := cmp.Diff(rec.Expect, observed(rec, events, answer)); diff != "" {
					t.Fatalf("in %d parts (-want +got):\n%s", len(parts), diff)
				}
				compareUsage(t, rec.Usage, answer.Usage.Raw)
				if i := slices.IndexFunc(events, func(e Event) bool { return e.Unread }); i >= 0 {
					t.Errorf("event %d was not understood", i)
				}
			}
		})
	}
}

// observed puts what was read in the corpus' words.
func observed(rec recording, events []Event, a *Answer) figures {
	got := figures{
		Model:           known(a.Model),
		PromptTokens:    a.Usage.Prompt,
		CachedTokens:    a.Usage.Cached,
		OutputTokens:    a.Usage.Output,
		ReasoningTokens: a.Usage.Reasoning,
		Finish:          known(a.FinishReason),
		FinishDetail:    known(a.FinishDetail),
		HasUsage:        a.Usage.Raw != "",
		Error:           a.End == EndedInError || rec.Status >= 400,
		DoneMarker:      a.DoneMarker,
	}
	if !rec.Streamed {
		return got
	}
	count, content := len(events), 0
	for i, e := range events {
		if e.Kind == 0 {
			continue
		}
		if content == 0 {
			got.FirstTokenEvent, got.FirstTokenKind = &i, known(firstKind(e.Kind))
		}
		content++
	}
	got.DataEvents, got.ContentEvents = &count, &content
	return got
}

// firstKind names a set of kinds by the one that the corpus prefers.
func firstKind(kinds Kind) string {
	for _, k := range []struct {
		kind Kind
		name string
	}{{Thought, "reasoning"}, {Text, "text"}, {Refusal, "refusal"}, {Tool, "tool_call"}, {Audio, "audio"}, {Image, "image"}} {
		if kinds&k.kind != 0 {
			return k.name
		}
	}
	return ""
}

func known(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func compareUsage(t *testing.T, want any, raw string) {
	t.Helper()
	var got any
	if raw != "" {
		if err := json.Unmarshal([]byte(raw), &got); err != nil {
			t.Fatalf("raw usage %q: %v", raw, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("raw usage (-want +got):\n%s", diff)
	}
}

func recordings(t *testing.T, folder string) []recording {
	index, err := os.Open(filepath.Join(folder, "index.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	var all []recording
	for decoder := json.NewDecoder(bufio.NewReader(index)); decoder.More(); {
		var rec recording
		if err := decoder.Decode(&rec); err != nil {
			t.Fatal(err)
		}
		all = append(all, rec)
	}
	if len(all) == 0 {
		t.Fatal("the corpus' index is empty")
	}
	return all
}

// corpus is the folder of the recordings. They are no part of the repository:
// without them the test is skipped.
func corpus(t *testing.T) string {
	t.Helper()
	shared := os.Getenv("TTFTAP_SHARED")
	if shared == "" {
		shared = filepath.Join(moduleRoot(t), "..", "shared")
	}
	folder := filepath.Join(shared, "streams")
	if _, err := os.Stat(filepath.Join(folder, "index.jsonl")); err == nil {
		return folder
	}
	t.Skipf("SKIPPED: no recordings in %s, so the readers were not checked against real servers", folder)
	return ""
}

func moduleRoot(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("no go.mod above the package")
	return ""
}
