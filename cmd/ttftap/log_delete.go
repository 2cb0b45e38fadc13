package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ttftap/ttftap/store"
)

type deleteCommand struct {
	filters
	All     bool   `help:"Delete every request. Needed where no filter is given." env:"-"`
	Yes     bool   `help:"Delete without asking." short:"y" env:"-"`
	DryRun  bool   `help:"Only say how many there are." env:"-"`
	Compact bool   `help:"Then write the file anew, without what is free in it. No proxy may record into it meanwhile." env:"-"`
	DB      string `name:"db" help:"File of the log. Default: ${db}." placeholder:"PATH"`
}

// Help is what log delete --help adds.
func (deleteCommand) Help() string {
	return `Says how many requests there are and asks. With each goes what is kept of its prompt,
and with the last one of an experiment what is kept of that. Requests under way stay.
Examples:

  ttftap log delete --to=-30d
  ttftap log delete --model gpt-5-mini --outcome client_abort --dry-run
  ttftap log delete --order asc --limit 10000 --yes
  ttftap log delete --compact

A proxy may go on recording: the work is done in steps of a few milliseconds, with
pauses. What becomes free is given back to the system likewise. A log that an
earlier version made keeps its free space, to fill it again, until --compact has
written it anew once; that needs as much room on the disk once more. To have a
proxy delete old requests by itself, start it with --keep or --max-rows.`
}

// Run deletes what the filters choose.
func (c *deleteCommand) Run(out *console) error {
	f, err := c.filter()
	if err != nil {
		return err
	}
	chosen := c.All || conditions(f)
	if !chosen && !c.Compact || c.All && conditions(f) {
		return usagef("log delete: say which requests by filters, or --all for every one of them")
	}
	path, err := existing(c.DB)
	if err != nil {
		return err
	}
	log, err := store.OpenBeside(out.stop, path)
	if err != nil {
		return err
	}
	if chosen {
		err = c.delete(out, log, f)
	}
	if err = errors.Join(err, log.Close()); err != nil || !c.Compact || c.DryRun {
		return err
	}
	return compact(out, path)
}

// conditions says whether f chooses some of all. The empty value of a filter, as of
// a variable that is not set, does not.
func conditions(f store.Filter) bool {
	f.Sort, f.Order = "", ""
	return len(f.Query()) > 0
}

func (c *deleteCommand) delete(out *console, log *store.Store, f store.Filter) error {
	n, err := howMany(out, log, f)
	if err != nil {
		return err
	}
	if n == 0 || c.DryRun {
		_, err := fmt.Fprintf(out.stdout, "%s that %s ended would be deleted.\n", plural(n, "request"), hasOrHave(n))
		return err
	}
	if err := c.confirm(out, n); err != nil {
		return err
	}
	p := newProgress(out.stderr)
	p.of = n
	deleted, err := log.Delete(out.stop, f, p.reach)
	fmt.Fprintf(out.stdout, "%s deleted.\n", plural(deleted, "request"))
	if err != nil {
		return err
	}
	return c.giveBack(out, log)
}

// howMany is how many exchanges f has, up to its limit.
func howMany(out *console, log *store.Store, f store.Filter) (n int64, err error) {
	if f.Limit == 0 {
		return log.Count(out.stop, f)
	}
	n, _, err = log.CountTo(out.stop, f, int64(f.Limit))
	return n, err
}

func hasOrHave(n int64) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

// confirm asks whether to delete so many.
func (c *deleteCommand) confirm(out *console, n int64) error {
	if c.Yes {
		return nil
	}
	const nobody = "nothing was deleted: nobody is there to say yes, so say --yes (or --dry-run, to see how many there are)"
	if !isTerminal(os.Stdin) {
		return usagef(nobody)
	}
	fmt.Fprintf(out.stdout, "Delete %s for ever? [y/N] ", plural(n, "request"))
	switch yes, err := agreed(out.stop, os.Stdin); {
	case yes:
		return nil
	case errors.Is(err, io.EOF):
		return usagef(nobody)
	}
	return errors.New("nothing was deleted")
}

// giveBack returns what has become free to the system, or says what becomes of it.
func (c *deleteCommand) giveBack(out *console, log *store.Store) error {
	space, err := log.Space(out.stop)
	if err != nil || space.Free == 0 || c.Compact {
		return err
	}
	if !space.Returnable {
		_, err := fmt.Fprintf(out.stdout, "%s are free in the file now, and will be filled again. To make it smaller, stop the proxy and use: ttftap log delete --compact\n", inBytes(&space.Free))
		return err
	}
	p := newProgress(out.stderr)
	p.as, p.of = inBytes, space.Free
	if err := log.Shrink(out.stop, 0, func(left int64) { p.reach(space.Free - left) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out.stdout, "%s given back.\n", inBytes(&space.Free))
	return err
}

// compact writes the log anew.
func compact(out *console, path string) error {
	log, err := store.Open(out.stop, path)
	if err != nil {
		return err
	}
	before, err := log.Space(out.stop)
	if err == nil {
		err = log.Compact(out.stop)
	}
	after, afterErr := log.Space(out.stop)
	if err = errors.Join(err, afterErr, log.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out.stdout, "The file took %s and takes %s now.\n", inBytes(&before.File), inBytes(&after.File))
	return err
}
