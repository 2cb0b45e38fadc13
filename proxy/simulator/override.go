package simulator

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// OverrideHeader changes the model's behaviour for one request. Its value is a
// comma-separated list of key=value, or of keys alone where a switch is meant:
//
//	X-Simulate: reasoning=hidden:640, output=120, stall=3s, at=40, hop=250ms
//
// Several such headers add up; of equal keys the last wins.
const OverrideHeader = "X-Simulate"

// knob sets one field of a behaviour from its wording.
type knob func(*Behaviour, string) error

// knobs are the keys of OverrideHeader.
var knobs = map[string]knob{
	"network":     setting(duration, func(b *Behaviour) *time.Duration { return &b.Network }),
	"floor":       setting(duration, func(b *Behaviour) *time.Duration { return &b.Floor }),
	"prefill":     setting(duration, func(b *Behaviour) *time.Duration { return &b.Prefill }),
	"growth":      setting(share(10), func(b *Behaviour) *float64 { return &b.PrefillGrowth }),
	"uncached":    setting(toggle, func(b *Behaviour) *bool { return &b.Uncached }),
	"tpot":        setting(duration, func(b *Behaviour) *time.Duration { return &b.TPOT }),
	"jitter":      setting(share(1), func(b *Behaviour) *float64 { return &b.Jitter }),
	"crowding":    setting(share(10), func(b *Behaviour) *float64 { return &b.Crowding }),
	"chunk":       setting(count, func(b *Behaviour) *int { return &b.Chunk }),
	"output":      setting(count, func(b *Behaviour) *int { return &b.Output }),
	"reasoning":   setReasoning,
	"tools":       setting(count, func(b *Behaviour) *int { return &b.ToolRounds }),
	"call":        setting(count, func(b *Behaviour) *int { return &b.ToolTokens }),
	"whole":       setting(toggle, func(b *Behaviour) *bool { return &b.Whole }),
	"stall":       setting(duration, func(b *Behaviour) *time.Duration { return &b.Stall }),
	"mishap":      setting(oneOf(Cut, ErrorEvent), func(b *Behaviour) *Mishap { return &b.Mishap }),
	"at":          setting(optional(count), func(b *Behaviour) **int { return &b.At }),
	"headers":     setting(oneOf(AtAccept, AtSlot, AtToken), func(b *Behaviour) *Stage { return &b.Headers }),
	"ping":        setting(duration, func(b *Behaviour) *time.Duration { return &b.Ping }),
	"progress":    setting(toggle, func(b *Behaviour) *bool { return &b.Progress }),
	"hop":         setHop,
	"pseudo":      setting(toggle, func(b *Behaviour) *bool { return &b.Pseudo }),
	"timings":     setting(oneOf(slices.Sorted(maps.Keys(shapes))...), func(b *Behaviour) *Timings { return &b.Timings }),
	"usage":       setting(oneOf(Unreported), func(b *Behaviour) *Report { return &b.Usage }),
	"cached":      setting(oneOf(Unreported, Zero), func(b *Behaviour) *Report { return &b.Cached }),
	"thoughts":    setting(oneOf(Unreported, Apart), func(b *Behaviour) *Report { return &b.Thoughts }),
	"status":      setting(refusal, func(b *Behaviour) *int { return &b.Status }),
	"retry_after": setting(duration, func(b *Behaviour) *time.Duration { return &b.RetryAfter }),
}

// override applies the values of OverrideHeader.
func (b *Behaviour) override(values []string) error {
	for word := range strings.SplitSeq(strings.Join(values, ","), ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(word), "=")
		if key == "" {
			continue
		}
		set, known := knobs[key]
		if !known {
			return fmt.Errorf("%s: unknown key %q", OverrideHeader, key)
		}
		if err := set(b, value); err != nil {
			return fmt.Errorf("%s: %s: %w", OverrideHeader, key, err)
		}
	}
	return nil
}

// setting makes a knob from the reading of a value and the field that it is for.
func setting[T any](read func(string) (T, error), field func(*Behaviour) *T) knob {
	return func(b *Behaviour, value string) error {
		v, err := read(value)
		if err == nil {
			*field(b) = v
		}
		return err
	}
}

// setReasoning reads none, or hidden, summary or visible with its tokens: hidden:640.
func setReasoning(b *Behaviour, value string) error {
	kind, number, _ := strings.Cut(value, ":")
	if kind == "none" {
		b.Reasoning, b.ReasoningTokens = "", 0
		return nil
	}
	shown, err := oneOf(Hidden, Summary, Visible)(kind)
	if err != nil {
		return err
	}
	n, err := count(number)
	if err == nil {
		b.Reasoning, b.ReasoningTokens = shown, n
	}
	return err
}

// setHop reads a size in bytes, 4096, or a time, 250ms.
func setHop(b *Behaviour, value string) error {
	if n, err := count(value); err == nil {
		b.HopBytes, b.HopTime = n, 0
		return nil
	}
	d, err := duration(value)
	if err == nil {
		b.HopBytes, b.HopTime = 0, d
	}
	return err
}

func duration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("want a duration such as 250ms, not %q", s)
	}
	return d, nil
}

func count(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || n > 1_000_000 {
		return 0, fmt.Errorf("want a number from 0 to 1000000, not %q", s)
	}
	return n, nil
}

func refusal(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 400 || n > 599 {
		return 0, fmt.Errorf("want a status from 400 to 599, not %q", s)
	}
	return n, nil
}

func share(most float64) func(string) (float64, error) {
	return func(s string) (float64, error) {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil || !(v >= 0 && v <= most) {
			return 0, fmt.Errorf("want a number from 0 to %g, not %q", most, s)
		}
		return v, nil
	}
}

// toggle is true for a key alone.
func toggle(s string) (bool, error) {
	switch s {
	case "", "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fmt.Errorf("want true or false, not %q", s)
}

func optional[T any](read func(string) (T, error)) func(string) (*T, error) {
	return func(s string) (*T, error) {
		v, err := read(s)
		return &v, err
	}
}

func oneOf[T ~string](words ...T) func(string) (T, error) {
	return func(s string) (T, error) {
		if !slices.Contains(words, T(s)) {
			return "", fmt.Errorf("want one of %q, not %q", words, s)
		}
		return T(s), nil
	}
}
