package main

import (
	"slices"
	"strings"
)

// again is the command that does the same once more.
func again(args, models []string) string {
	words := []string{"ttftap"}
	for i := 0; i < len(args); i++ {
		switch flag, _, whole := strings.Cut(args[i], "="); flag {
		case "--yes", "-y", "--dry-run", "--json", "--markdown":
		case "--ui-token":
			if !whole {
				i++
			}
		default:
			words = append(words, shellWord(args[i]))
		}
	}
	if !slices.ContainsFunc(args, func(a string) bool { return a == "--model" || strings.HasPrefix(a, "--model=") }) {
		for _, m := range models {
			words = append(words, "--model", shellWord(m))
		}
	}
	return strings.Join(words, " ")
}
