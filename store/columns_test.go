package store

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

const csvHeader = "id,started_at,ended_at,upstream,key_id,client,session_id,turn_id,request_kind,experiment,method,path," +
	"dialect,transport,streamed,model_requested,model_served,status,outcome,error," +
	"finish_reason,request_id,response_id,gateway_request_id,retry_group,attempt," +
	"prompt_tokens,cached_tokens,cache_write_tokens,uncached_tokens,output_tokens,reasoning_tokens,total_tokens,usage_source,reasoning," +
	"conn_reused,dns_ms,connect_ms,tls_ms,upload_ms,rtt_ms,headers_ms,first_byte_ms,first_event_ms,generation_started_ms," +
	"first_token_ms,first_reasoning_ms,first_text_ms,first_tool_ms,answer_start_ms,last_token_ms,terminal_ms,total_ms," +
	"network_ms,wait_ms,queue_ms,prefill_ms,decode_ms,hidden_decode_ms,unseen_decode_ms,hosted_tool_ms,client_wait_ms," +
	"proxy_ms,excess_ms,tpot_ms,tokens_per_sec,rate_quality,rate_last_over_first,end_to_end_tokens_per_sec,prefill_tokens_per_sec," +
	"output_events,tokens_per_event,max_gap_ms,stalls,stall_ms,delivery,server_queue_ms,server_prefill_ms,server_decode_ms,server_source," +
	"prefix_shared_tokens,cache_outcome,concurrency,idle_before_ms,request_bytes,response_bytes,upstream_clock_offset_ms," +
	"bound,cause,reason,rules_version"

func TestTheCSVColumnsKeepTheirNamesAndOrder(t *testing.T) {
	got := strings.Join(names(csvColumns(new(exchange.Exchange))), ",")
	if diff := cmp.Diff(csvHeader, got); diff != "" {
		t.Errorf("a script that reads the CSV would break:\n%s", diff)
	}
}

func TestColumnsAndTheTablesAreTheSameSet(t *testing.T) {
	s := openTemp(t)
	listed := map[string]string{}
	for _, c := range storedColumns(new(exchange.Exchange)) {
		listed[c.name] = c.sqlType()
	}
	if diff := cmp.Diff(tableColumns(t, s, "exchange"), listed); diff != "" {
		t.Errorf("table (-) and columns (+) differ:\n%s", diff)
	}
	listed["boundaries"] = "BLOB"
	if diff := cmp.Diff(tableColumns(t, s, "aloft"), listed); diff != "" {
		t.Errorf("the table of those under way (-) and columns (+) differ:\n%s", diff)
	}
}

func tableColumns(t *testing.T, s *Store, name string) map[string]string {
	t.Helper()
	rows, err := s.conns().reader.Query("SELECT name, type FROM pragma_table_xinfo(?)", name)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	table := map[string]string{}
	for rows.Next() {
		var name, typ string
		if err := rows.Scan(&name, &typ); err != nil {
			t.Fatal(err)
		}
		table[name] = typ
	}
	return table
}

func TestEveryFieldOfAnExchangeHasExactlyOneColumn(t *testing.T) {
	x := new(exchange.Exchange)
	columnsAt := map[uintptr]int{}
	for _, c := range storedColumns(x) {
		columnsAt[reflect.ValueOf(c.field).Field(0).Pointer()]++
	}
	leaves(reflect.ValueOf(x).Elem(), func(name string, leaf reflect.Value) {
		if n := columnsAt[leaf.Addr().Pointer()]; n != 1 {
			t.Errorf("%s has %d columns", name, n)
		}
	})
}

func TestTheTableChecksTypes(t *testing.T) {
	s := openTemp(t)
	_, err := s.conns().writer.Exec("INSERT INTO exchange (id, started_at, outcome, total_ms) VALUES ('a', 1, 'ok', 'soon')")
	if err == nil {
		t.Error("a text went into a column of numbers")
	}
}

func TestJSONHasTheCSVColumnsFirstThenTheOthersAndNullForNil(t *testing.T) {
	text, err := MarshalExchange(bare("01", exchange.Open))
	if err != nil {
		t.Fatal(err)
	}
	keys, values := object(t, text)
	want := strings.Split(csvHeader+",service_tier,note,unread_events,usage_raw,received_ms,got_conn_ms,sent_ms,upload_lower_bound,"+
		"hosted_before_first_ms,hosted_before_answer_ms,delivery_period_ms,delivery_bytes,choices,floor_ms,"+
		"model_idle_ms,usual_rows,usual_tokens,usual_tpot_ms,usual_prefill_ms,cached_wait_ms,estimate_error_ms,"+
		"prefix_counted,prefix_idle_ms,changed_section,changed_index,cadence,"+
		"pool_wait_ms,seen_delivery,seen_tpot_ms,seen_tokens_per_sec,seen_rate_quality,seen_rate_last_over_first,"+
		"estimated_output_tokens,experiment_step", ",")
	if diff := cmp.Diff(want, keys); diff != "" {
		t.Errorf("keys:\n%s", diff)
	}
	known := map[string]any{"id": "01", "started_at": "2026-09-06T06:00:00.000Z", "outcome": "open"}
	for key, value := range values {
		if value != known[key] {
			t.Errorf("%s is %v, want %v", key, value, known[key])
		}
	}
}

func TestJSONValuesAreTyped(t *testing.T) {
	x := typical(1)
	x.Reason = "a \"quoted\" reason\n\xff"
	text, err := MarshalExchange(x)
	if err != nil {
		t.Fatal(err)
	}
	_, values := object(t, text)
	for key, want := range map[string]any{
		"started_at": "2026-09-06T06:00:00.001Z", "ended_at": "2026-09-06T06:00:05.103Z", "streamed": true, "status": 200.0,
		"first_token_ms": 950.001, "tokens_per_event": 1.02, "upstream_clock_offset_ms": -13.999,
		"reason": "a \"quoted\" reason\n\uFFFD", "usage_raw": x.UsageRaw,
	} {
		if values[key] != want {
			t.Errorf("%s is %#v, want %#v", key, values[key], want)
		}
	}
}

// object reads a flat JSON object and the order of its keys.
func object(t *testing.T, text []byte) (keys []string, values map[string]any) {
	t.Helper()
	tokens := json.NewDecoder(bytes.NewReader(text))
	next := func() json.Token {
		token, err := tokens.Token()
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		return token
	}
	next() // {
	values = map[string]any{}
	for tokens.More() {
		key := next().(string)
		keys, values[key] = append(keys, key), next()
	}
	return keys, values
}
