package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/ttftap/ttftap/proxy/diagnosis/experiment"
	"github.com/ttftap/ttftap/proxy/probe"
)

type compareCommand struct {
	through
	told
	A string `arg:"" help:"Id of an experiment, or a stretch of the log as FROM..TO, such as -2d..-1d; either end may be left out."`
	B string `arg:"" help:"The same; it is compared with the first."`
}

// Run says what differs.
func (c *compareCommand) Run(out *console) (err error) {
	if err := cmp.Or(c.told.check(), comparable(c.A, c.B)); err != nil {
		return err
	}
	via, err := c.reach(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, via.close()) }()
	a, err := side(out.stop, via.Instance, c.A)
	if err != nil {
		return err
	}
	b, err := side(out.stop, via.Instance, c.B)
	if err != nil {
		return err
	}
	if a.Kind != b.Kind {
		return usagef("%s is a %s and %s a %s: they have nothing in common to compare", c.A, a.Kind, c.B, b.Kind)
	}
	d := experiment.Compare(a, b)
	if c.JSON {
		return writeIndented(out.stdout, d)
	}
	return c.write(out.stdout, d.Markdown(c.Lang))
}

// comparable says whether two things are named that can be compared.
func comparable(sides ...string) error {
	ranges := 0
	for _, s := range sides {
		_, err := ulid.ParseStrict(s)
		isRange := strings.Contains(s, "..")
		switch {
		case isRange:
			ranges++
		case err != nil:
			return usagef("%q is neither the id of an experiment nor a stretch of time: FROM..TO, such as -2d..-1d", s)
		}
	}
	if ranges == 1 {
		return usagef("an experiment cannot be compared with a stretch of time: give two of one sort")
	}
	return nil
}

func side(ctx context.Context, i *probe.Instance, name string) (r *experiment.Report, err error) {
	if from, to, ok := strings.Cut(name, ".."); ok {
		r, err = i.Range(ctx, from, to)
	} else {
		r, err = i.Report(ctx, name)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if r.Sent == 0 {
		return nil, usagef("%s: there are no requests in it", name)
	}
	return r, nil
}
