package main

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/store/audit"
)

// consoleSamples is a folder of made-up exports and the log that they belong to.
// The tests that need it are skipped where it is not.
const consoleSamples = "../../../shared/audit/samples"

// billed are exchanges that a console bills, half an hour apart.
func billed() []*exchange.Exchange {
	var rows []*exchange.Exchange
	start := time.Date(2027, 2, 28, 5, 0, 0, 0, time.UTC)
	for i, out := range []int64{96, 210, 55, 340, 77} {
		x := &exchange.Exchange{
			ID: "01X" + strconv.Itoa(i), StartedAt: start.Add(time.Duration(i) * 30 * time.Minute), Outcome: exchange.OK, Status: new(int64(200)),
			Upstream: "default", KeyID: "k1", Dialect: exchange.Chat, ModelRequested: "gpt-oss-120b", GatewayRequestID: "gw-" + strconv.Itoa(i),
		}
		x.PromptTokens, x.CachedTokens, x.OutputTokens = new(1000+out), new(int64(512)), &out
		x.FirstByte, x.FirstToken, x.End = new(800*time.Millisecond), new(900*time.Millisecond), new(4*time.Second)
		if i%2 == 0 {
			x.SessionID = "even"
		}
		rows = append(rows, x)
	}
	return rows
}

// audited runs the command and gives what it prints.
func audited(t *testing.T, db string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems strings.Builder
	ctx := context.Background()
	code = run(stopping{ctx, ctx}, append([]string{"audit", "--db", db}, args...), &out, &problems)
	return code, out.String(), problems.String()
}

// sampleLog is a log of what the samples' proxy saw.
func sampleLog(t *testing.T) string {
	t.Helper()
	f, err := os.Open(filepath.Join(consoleSamples, "local-attempts.csv"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the samples are not beside this folder")
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []*exchange.Exchange
	for _, cells := range table[1:] {
		row := make(map[string]string)
		for i, name := range table[0] {
			row[name] = cells[i]
		}
		rows = append(rows, sampleRow(t, row))
	}
	path := filepath.Join(t.TempDir(), "samples.db")
	if err := keep(path, rows); err != nil {
		t.Fatal(err)
	}
	return path
}

func sampleRow(t *testing.T, row map[string]string) *exchange.Exchange {
	t.Helper()
	number := func(name string) *int64 {
		if n, err := strconv.ParseInt(row[name], 10, 64); err == nil {
			return &n
		}
		return nil
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
		ID: row["started_at_utc"][11:19], StartedAt: start, Upstream: row["upstream"], KeyID: "k1", Dialect: exchange.Responses, ModelRequested: row["model_requested"],
		RequestID: row["request_id"], ResponseID: row["response_id"], GatewayRequestID: row["gateway_request_id"], RetryGroup: row["retry_group"],
	}
	if n := number("status"); *n > 0 {
		x.Status = n
	}
	x.Outcome = map[string]exchange.Outcome{
		"done": exchange.OK, "client_abort": exchange.ClientAbort, "timeout_first_byte": exchange.ClientAbort, "upstream_error": exchange.UpstreamError,
	}[row["end_reason"]]
	x.PromptTokens, x.CachedTokens, x.OutputTokens, x.ReasoningTokens = number("prompt_tokens"), number("cached_tokens"), number("output_tokens"), number("reasoning_tokens")
	x.FirstByte, x.FirstToken, x.End = ms("ttfb_ms"), ms("ttft_ms"), ms("total_ms")
	return x
}

func TestAuditNamesEachPlantedCaseOfTheSamples(t *testing.T) {
	db := sampleLog(t)
	for file, want := range map[string][]string{
		"newapi-log-self.json": {
			"aborted_billed 02:20:00", "failed_billed 02:41:33", "failed_not_billed 02:03:10", "only_console",
			"only_local 01:12:04", "out_of_scope", "retry_duplicate 02:42:36", "tokens_differ 01:13:02",
		},
		"newapi-ui-export.csv": {
			"aborted_billed 02:20:00", "failed_billed 02:41:33", "failed_not_billed 02:03:10", "only_console",
			"only_local 01:12:04", "out_of_scope", "retry_duplicate 02:42:36", "tokens_differ 01:13:02",
		},
		"openrouter-activity.csv":  {"aborted_billed 05:04:10"},
		"openai-usage-api-1h.json": {"bucket_differs"},
	} {
		t.Run(file, func(t *testing.T) {
			code, out, problems := audited(t, db, "--json", "--upstream", upstreamOf(file), filepath.Join(consoleSamples, file))
			if code != exitFailed {
				t.Fatalf("exit %d: %s", code, problems)
			}
			var r audit.Result
			if err := json.Unmarshal([]byte(out), &r); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, worthAWord(&r)); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func upstreamOf(file string) string {
	for _, name := range []string{"openrouter", "openai"} {
		if strings.HasPrefix(file, name) {
			return name
		}
	}
	return "gateway"
}

// worthAWord are the findings that are not simply matched, as "class exchange".
func worthAWord(r *audit.Result) (found []string) {
	for _, row := range r.Rows {
		if slices.Contains(simple, row.Class) {
			continue
		}
		s := string(row.Class)
		if row.Class != audit.BucketDiffers {
			s = strings.Join(append([]string{s}, row.Exchanges...), " ")
		}
		found = append(found, s)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func TestAuditTellsAPersonWhatWhyAndWhere(t *testing.T) {
	db := sampleLog(t)
	_, out, _ := audited(t, db, "--upstream", "gateway", "--page", "http://127.0.0.1:9/", filepath.Join(consoleSamples, "newapi-log-self.json"))
	for _, want := range []string{
		"newapi-log-self.json: 15 rows, read as new-api", "console's clock is 1.", " s behind", "Tokens differ", "out 2,911 / 2,917",
		"http://127.0.0.1:9/-/requests/01:13:02", "newapi-log-self.json: 13", "Not seen by the proxy", "Outside the comparison",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
	_, out, _ = audited(t, db, "--lang", "zh", "--upstream", "gateway", filepath.Join(consoleSamples, "newapi-log-self.json"))
	if !strings.Contains(out, "Token 数不一致") || strings.Contains(out, "behind") {
		t.Errorf("that is no Chinese:\n%s", out)
	}
}
