package store

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestAConsolesRowIsKeptWithItsExchangeAndGoesWithIt(t *testing.T) {
	s := openTemp(t)
	if err := s.Save(t.Context(), []*exchange.Exchange{{ID: "a", StartedAt: time.Unix(1, 0), Outcome: exchange.OK}}); err != nil {
		t.Fatal(err)
	}
	row := ConsoleRow{
		ExchangeID: "a", KeptAt: time.Unix(100, 7).UTC(), Place: "log.csv: 3", Class: "tokens_differ", Model: "m", Key: "laptop",
		Input: new(int64(0)), Output: new(int64(7)), Amount: "0.000000001", Currency: "USD", MoneyKind: "billed",
	}
	gone := ConsoleRow{ExchangeID: "none", KeptAt: time.Unix(100, 0)}
	if err := s.SaveConsole(t.Context(), []ConsoleRow{{ExchangeID: "a", KeptAt: time.Unix(50, 0), Place: "before", Class: "matched"}, row, gone}); err != nil {
		t.Fatal(err)
	}
	got, err := s.ConsoleRow(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&row, got); diff != "" {
		t.Error(diff)
	}
	if _, err := s.conns().writer.Exec("DELETE FROM exchange WHERE id = 'a'"); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"a", "none"} {
		if got, err := s.ConsoleRow(t.Context(), id); got != nil || err != nil {
			t.Errorf("of %s there is %+v, %v", id, got, err)
		}
	}
}
