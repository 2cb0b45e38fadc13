package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

type backupCommand struct {
	File string `arg:"" help:"File to make. There must be none of that name."`
	DB   string `name:"db" help:"File of the log. Default: ${db}." placeholder:"PATH"`
}

// Help is what log backup --help adds.
func (backupCommand) Help() string {
	return `The copy is the log as it was when the copying began, in a file that only you can
read. A proxy may go on recording into the log: it does not wait. To look into the
copy, or to go on with it, name it with --db. Example:

  ttftap log backup ttftap-$(date +%F).db`
}

// Run copies the log.
func (c *backupCommand) Run(out *console) error {
	log, err := openLog(out, c.DB)
	if err != nil {
		return err
	}
	p := newProgress(out.stderr)
	p.as = inBytes
	err = log.Backup(out.stop, c.File, func(done, of int64) {
		p.of = of
		p.reach(done)
	})
	if err = errors.Join(err, log.Close()); errors.Is(err, fs.ErrExist) {
		return usagef("there is a file %s already: name another, or remove it first", c.File)
	}
	if err != nil {
		return err
	}
	file, err := os.Stat(c.File)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out.stdout, "%s: %s\n", c.File, inBytes(new(file.Size())))
	return err
}
