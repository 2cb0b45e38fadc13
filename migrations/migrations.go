// Package migrations holds the numbered SQL files that make the log's schema.
// They only go forward. It runs nothing; package store does.
package migrations

import "embed"

// FS holds the migrations, one numbered file each.
//
//go:embed *.sql
var FS embed.FS
