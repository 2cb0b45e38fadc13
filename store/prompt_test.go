package store

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// asking is the n-th exchange of a log, with a prompt.
func asking(n int) *exchange.Exchange {
	x := typical(n)
	x.Prompt = []exchange.Boundary{
		{Part: exchange.ModelPart, Hash: 7},
		{Part: exchange.UserPart, Inner: true, Bytes: 1024, Hash: 1 << 63},
		{Part: exchange.UserPart, Bytes: int64(n), Hash: uint64(n)},
	}
	return x
}

func TestAPromptIsReadWithItsExchangeAndInNoList(t *testing.T) {
	s := openTemp(t)
	want := asking(1)
	save(t, s, want, typical(2))
	got, err := s.Exchange(t.Context(), want.ID)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("saved (-), read (+):\n%s", diff)
	}
	if other, err := s.Exchange(t.Context(), typical(2).ID); err != nil || other.Prompt != nil {
		t.Errorf("a row without a prompt has %v, %v", other.Prompt, err)
	}
	page, err := s.List(t.Context(), Filter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range page.Exchanges {
		if x.Prompt != nil {
			t.Errorf("the list has the prompt of %s", x.ID)
		}
	}
}

func TestARowOfAListIsSavedAgainWithoutLosingItsPrompt(t *testing.T) {
	s := openTemp(t)
	want := asking(1)
	save(t, s, want)
	listed := *want
	listed.Prompt = nil
	save(t, s, &listed)
	if got, err := s.Exchange(t.Context(), want.ID); err != nil || !cmp.Equal(want, got) {
		t.Errorf("after saving it again: %v, %v", cmp.Diff(want, got), err)
	}
}

func TestAPromptIsDeletedWithItsExchange(t *testing.T) {
	s := openTemp(t)
	save(t, s, asking(1), asking(2))
	if _, err := s.conns().writer.Exec("DELETE FROM exchange WHERE id = ?", asking(1).ID); err != nil {
		t.Fatal(err)
	}
	var id string
	if err := s.conns().reader.QueryRow("SELECT group_concat(id) FROM prompt").Scan(&id); err != nil || id != asking(2).ID {
		t.Errorf("prompts are kept of %q, %v", id, err)
	}
}

func TestAPromptAndItsExchangeAreSavedTogetherOrNotAtAll(t *testing.T) {
	s := openTemp(t)
	if _, err := s.conns().writer.Exec("CREATE TRIGGER full BEFORE INSERT ON prompt BEGIN SELECT RAISE(ABORT, 'full'); END"); err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), []*exchange.Exchange{asking(1)}); err == nil {
		t.Error("saved without its prompt")
	}
	if got := ids(t, s, Filter{}); got != "" {
		t.Errorf("%s is in the log without its prompt", got)
	}
}

func TestTheNewestPromptsAreReadOldestFirst(t *testing.T) {
	s := openTemp(t)
	for n := range 5 {
		save(t, s, asking(n), typical(10+n))
	}
	var got []*exchange.Exchange
	if err := s.EachPrompt(t.Context(), 3, func(x *exchange.Exchange) { got = append(got, x) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]*exchange.Exchange{asking(2), asking(3), asking(4)}, got); diff != "" {
		t.Errorf("want (-), got (+):\n%s", diff)
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := s.EachPrompt(ctx, 3, func(*exchange.Exchange) {}); err == nil {
		t.Error("no error of a reading that was stopped")
	}
}

func TestADamagedPromptIsAnErrorAndNoPanic(t *testing.T) {
	whole := encodePrompt(asking(300).Prompt)
	for n := range whole {
		prompt, err := decodePrompt(whole[:n])
		if err == nil && len(encodePrompt(prompt)) != n {
			t.Errorf("%d of %d bytes were read as %d boundaries", n, len(whole), len(prompt))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		b := append([]byte{promptForm}, rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")...)
		if prompt, err := decodePrompt(b); err == nil && len(prompt) > len(b)/10 {
			t.Errorf("%d boundaries in %d bytes", len(prompt), len(b))
		}
	})
}
