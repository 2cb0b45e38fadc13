package store_test

import (
	"testing"

	"github.com/ttftap/ttftap/store/large"
)

func BenchmarkLargeMake(b *testing.B) { large.Log(b, large.Rows()) }
