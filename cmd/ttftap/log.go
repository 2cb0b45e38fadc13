package main

import (
	"github.com/dustin/go-humanize"
)

// logCommand is upkeep of the log.
type logCommand struct {
	Backup backupCommand `cmd:"" help:"Copy the log into a new file, also while a proxy records into it."`
	Delete deleteCommand `cmd:"" help:"Delete requests from the log by the page's filters, also while a proxy records into it."`
	Size   sizeCommand   `cmd:"" help:"Say what the log holds and what takes up its space."`
}

// inBytes is a size for humans.
func inBytes(n *int64) string { return humanize.Bytes(uint64(max(*n, 0))) }
