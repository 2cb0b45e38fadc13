package main

import (
	"regexp"
	"strings"
)

var bareWord = regexp.MustCompile(`^[\w@%+=:,./-]+$`)

// shellWord is a word as a shell takes it, in a command for people to run.
func shellWord(s string) string {
	if bareWord.MatchString(s) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
