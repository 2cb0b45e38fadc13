package dialect

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestWhereAMessageOfASocketBelongs(t *testing.T) {
	for message, want := range map[string]Envelope{
		`{"type":"response.create","model":"m","input":[]}`:                                            {Type: "response.create"},
		`{"input":[{"type":"message"}],"stream_id":"main","type":"response.create"}`:                   {Type: "response.create", Lane: "main"},
		`{"type":"response.completed","response":{"id":"r1","output":[{"type":"message","id":"m1"}]}}`: {Type: "response.completed", ResponseID: "r1"},
		`{"type":"responsesapi.websocket_timing","response_id":"r2","timing_metrics":{}}`:              {Type: "responsesapi.websocket_timing", ResponseID: "r2"},
		`{"type":"response.create","model":"m","input":[{"type":"mess`:                                 {Type: "response.create"}, // cut off
		`{"type":7,"stream_id":null,"response":"r"}`:                                                   {},
		`[{"type":"response.create"}]`:                                                                 {},
		`"{\"type\":\"response.create\"}"`:                                                             {},
		`no JSON`:                                                                                      {},
		``:                                                                                             {},
	} {
		if diff := cmp.Diff(want, ReadEnvelope([]byte(message))); diff != "" {
			t.Errorf("%s: %s", message, diff)
		}
	}
}

func TestWhatOnlyASocketsRequestSays(t *testing.T) {
	const turn = `{"turn_id":"t"}`
	body := fmt.Sprintf(`{"type":"response.create","model":"m","generate":false,"client_metadata":{"x-codex-turn-metadata":%q},"input":[]}`, turn)
	if r := ReadRequest(exchange.Responses, []byte(body)); r.Generate == nil || *r.Generate || r.Turn != turn {
		t.Errorf("%+v", r)
	}
	if r := ReadRequest(exchange.Chat, []byte(body)); r.Generate != nil || r.Turn != "" {
		t.Errorf("of chat: %+v", r)
	}
}

func TestTheEnginesTimesAreReadFromTheirEvent(t *testing.T) {
	ms := func(n int) *time.Duration { return new(time.Duration(n) * time.Millisecond) }
	for name, c := range map[string]struct {
		metrics string
		before  *Engine
		want    exchange.Server
	}{
		"the first of a turn":          {`"engine_service_ttft_total_ms":400,"engine_service_total_ms":900`, nil, exchange.Server{ServerPrefill: ms(400), ServerDecode: ms(500), ServerSource: "openai"}},
		"one more of it":               {`"engine_service_ttft_total_ms":650,"engine_service_total_ms":1350`, &Engine{FirstToken: ms(400), Total: ms(900)}, exchange.Server{ServerPrefill: ms(250), ServerDecode: ms(200), ServerSource: "openai"}},
		"less than before":             {`"engine_service_ttft_total_ms":300,"engine_service_total_ms":310`, &Engine{FirstToken: ms(400), Total: ms(900)}, exchange.Server{ServerPrefill: ms(300), ServerDecode: ms(10), ServerSource: "openai"}},
		"with the queue of one call":   {`"engine_service_ttft_total_ms":400,"engine_service_total_ms":900,"engine_queue_max_ms":150,"num_engine_calls":1`, nil, exchange.Server{ServerQueue: ms(150), ServerPrefill: ms(250), ServerDecode: ms(500), ServerSource: "openai"}},
		"with the longest of several":  {`"engine_service_ttft_total_ms":400,"engine_service_total_ms":900,"engine_queue_max_ms":150,"num_engine_calls":2`, nil, exchange.Server{ServerPrefill: ms(400), ServerDecode: ms(500), ServerSource: "openai"}},
		"first tokens alone":           {`"engine_service_ttft_total_ms":400`, nil, exchange.Server{ServerPrefill: ms(400), ServerSource: "openai"}},
		"a total alone":                {`"engine_service_total_ms":900`, nil, exchange.Server{}},
		"nothing that is known":        {`"responses_duration_excl_engine_and_client_tool_time_ms":30`, nil, exchange.Server{}},
		"what is no time":              {`"engine_service_ttft_total_ms":-1,"engine_service_total_ms":"soon"`, nil, exchange.Server{}},
		"more first tokens than total": {`"engine_service_ttft_total_ms":500,"engine_service_total_ms":400`, nil, exchange.Server{ServerPrefill: ms(500), ServerSource: "openai"}},
	} {
		r := New(exchange.Responses)
		e := r.Message("", []byte(`{"type":"responsesapi.websocket_timing","timing_metrics":{`+c.metrics+`}}`))
		var got exchange.Server
		if engine := r.Answer().Engine; engine != nil {
			got = engine.Since(c.before).Timings()
		}
		if diff := cmp.Diff(c.want, got); diff != "" || e.Kind != 0 || e.Terminal || e.Unread {
			t.Errorf("%s: %+v %s", name, e, diff)
		}
	}
}
