package audit_test

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store/audit"
	"github.com/ttftap/ttftap/store/audit/console"
)

// samples is a folder of made-up exports and the log that they belong to. The
// tests that need it are skipped where it is not.
const samples = "../../../shared/audit/samples"

// sampleLog reads the log's side, whole: what a file is compared with is found
// out, as with a real log.
func sampleLog(t *testing.T) []audit.Attempt {
	f, err := os.Open(filepath.Join(samples, "local-attempts.csv"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the samples are not beside this folder")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var attempts []audit.Attempt
	for _, cells := range rows[1:] {
		row := make(map[string]string)
		for i, name := range rows[0] {
			row[name] = cells[i]
		}
		attempts = append(attempts, audit.AttemptOf(sampleExchange(t, row)))
	}
	return attempts
}

func sampleExchange(t *testing.T, row map[string]string) *exchange.Exchange {
	number := func(name string) *int64 {
		n, err := strconv.ParseInt(row[name], 10, 64)
		if err != nil {
			return nil
		}
		return &n
	}
	ms := func(name string) *time.Duration {
		if n := number(name); n != nil {
			return new(time.Duration(*n) * time.Millisecond)
		}
		return nil
	}
	start, err := time.Parse(time.RFC3339Nano, row["started_at_utc"])
	if err != nil {
		t.Fatal(err)
	}
	x := &exchange.Exchange{
		ID: row["started_at_utc"][11:19], StartedAt: start, Upstream: row["upstream"], KeyID: row["key_label"],
		Dialect: exchange.Responses, ModelRequested: row["model_requested"], RequestID: row["request_id"],
		ResponseID: row["response_id"], GatewayRequestID: row["gateway_request_id"], RetryGroup: row["retry_group"],
	}
	if n := number("status"); n != nil && *n > 0 {
		x.Status = n
	}
	x.Outcome = map[string]exchange.Outcome{
		"done": exchange.OK, "client_abort": exchange.ClientAbort, "upstream_error": exchange.UpstreamError,
		"timeout_first_byte": exchange.ClientAbort,
	}[row["end_reason"]]
	x.PromptTokens, x.CachedTokens, x.OutputTokens, x.ReasoningTokens = number("prompt_tokens"), number("cached_tokens"), number("output_tokens"), number("reasoning_tokens")
	x.FirstByte, x.FirstToken, x.End = ms("ttfb_ms"), ms("ttft_ms"), ms("total_ms")
	return x
}

func sampleFile(t *testing.T, name string, zone *time.Location) []audit.File {
	f, err := os.Open(filepath.Join(samples, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	files, err := console.Read(name, f, at.Size(), console.Options{Zone: zone})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// unmatched are the findings that are worth a word, as "class exchanges".
func unmatched(r *audit.Result) []string {
	var found []string
	for _, row := range r.Rows {
		if row.Class == audit.Matched || row.Class == audit.OutOfScope || row.Class == audit.BucketEqual {
			continue
		}
		s := string(row.Class)
		for _, id := range row.Exchanges {
			s += " " + id
		}
		if len(row.Exchanges) == 0 {
			s += " at " + row.Time.Format("15:04")
		}
		found = append(found, s)
	}
	slices.Sort(found)
	return found
}

func TestThePlantedCasesOfTheSamplesAreFound(t *testing.T) {
	gateway := []string{
		"aborted_billed 02:20:00",
		"failed_not_billed 02:03:10",
		"only_console at 02:10",
		"only_local 01:12:04",
		"retry_duplicate 02:42:36",
		"tokens_differ 01:13:02",
		"failed_billed 02:41:33",
	}
	slices.Sort(gateway)
	tests := []struct {
		file    string
		zone    *time.Location
		verdict audit.Verdict
		want    []string
	}{
		{"newapi-log-self.json", nil, audit.Differences, gateway},
		{"newapi-ui-export.csv", nil, audit.Differences, gateway},
		{"newapi-ui-export.csv", time.FixedZone("", 8*3600), audit.Differences, gateway},
		{"sub2api-usage.csv", nil, audit.Clean, []string{
			"ambiguous 03:05:09 03:05:10", "failed_not_billed 02:03:10", "failed_not_billed 02:20:00", "failed_not_billed 02:41:33",
		}},
		{"openrouter-activity.csv", nil, audit.Differences, []string{"aborted_billed 05:04:10"}},
		{"deepseek-amount-2026-11-28_2026-11-29.csv", nil, audit.Clean, nil},
		{"openai-completions-usage.csv", nil, audit.Clean, nil},
		{"openai-usage-api-1h.json", nil, audit.Differences, []string{"bucket_differs at 10:00"}},
		{"anthropic-usage.csv", nil, audit.Differences, []string{"only_console at 00:00", "only_console at 00:00"}},
		{"zhipu-expense-detail.csv", nil, audit.CannotCompare, nil},
		{"fireworks-billing-metrics.csv", nil, audit.Differences, []string{"only_console at 05:03"}},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			r := audit.Compare(sampleFile(t, tt.file, tt.zone), sampleLog(t), audit.Options{})
			if diff := cmp.Diff(tt.want, unmatched(r)); diff != "" || r.Verdict != tt.verdict {
				t.Errorf("%s: %s\n%s", r.Verdict, r.Say.En, diff)
				for _, row := range r.Rows {
					t.Log(row.Class, row.Exchanges, row.Lines, row.Time.Format("02 15:04:05"), row.Model, row.Reasons)
				}
				t.Log(r.Notes, r.Clock, r.Zone, r.Conventions)
			}
		})
	}
}
