package diagnosis

import (
	"strings"
	"testing"

	"github.com/ttftap/ttftap/proxy/exchange"
)

func TestErrorsAreNamedWithTheirCure(t *testing.T) {
	upstream := func(status int64, text string) *exchange.Exchange {
		return whole(0.2, outcome(exchange.UpstreamError, status, text))
	}
	inside := func(text string) *exchange.Exchange {
		return streamed(1, 2, outcome(exchange.ErrorEvent, 200, text))
	}
	unreachable := func(text string) *exchange.Exchange { return whole(0.2, outcome(exchange.Unreachable, 0, text)) }
	refused := func(text string) *exchange.Exchange { return whole(0, outcome(exchange.Refused, 0, text)) }
	cut := func(last, end float64) *exchange.Exchange {
		return streamed(1, last, outcome(exchange.UpstreamCut, 200, "broke off"), func(x *exchange.Exchange) { x.End = sec(end) })
	}
	socket := func(o exchange.Outcome, text string) *exchange.Exchange {
		return streamed(1, 2, outcome(o, 101, text), func(x *exchange.Exchange) { x.Transport = "websocket" })
	}
	path := upstream(404, "not_found_error: File Not Found")
	path.Path = "/v1/v1/responses"

	for _, c := range []struct {
		name   string
		row    *exchange.Exchange
		en, zh string // how it begins
	}{
		{"a loop", refused("508 loop: this request came back"), "The upstream leads back", "上游又指回"},
		{"a socket", refused("426 use_http: served over HTTP"), "The proxy answered this WebSocket", "代理以 426"},
		{"a socket that the upstream does not take", whole(0.2, outcome(exchange.UpstreamError, 404, "Not Found"), func(x *exchange.Exchange) {
			x.Note = exchange.FellBack + " for the upstream's 404"
		}), "The upstream takes no WebSocket (404)", "上游不接受 WebSocket（404）"},
		{"another refusal", refused("404 unknown_upstream: no such name."), "The proxy itself refused this request: 404 unknown_upstream: no such name.", "本代理拒绝"},
		{"no address", unreachable("dns: no address for a.test: no such host"), "Could not reach the upstream: its name has no address (DNS)", "无法连接上游：域名"},
		{"a bad certificate", unreachable("tls: the handshake failed: x509: unknown authority"), "Could not reach the upstream: the TLS", "无法连接上游：TLS"},
		{"nobody listens", unreachable("connect: could not connect: connection refused"), "Could not reach the upstream: nothing took", "无法连接上游：连接"},
		{"the client left", whole(41, outcome(exchange.ClientAbort, 0, "")), "No token for 41.0 s when the client left", "客户端中断"},
		{"the proxy was stopped", streamed(1, 2, outcome(exchange.Interrupted, 200, "")), "The proxy was stopped", "代理在请求进行中被停止"},

		{"a bad key", upstream(401, "invalid_api_key"), "The upstream refused the key", "上游拒绝了密钥"},
		{"a forbidden place", upstream(403, "unsupported_country_region_territory"), "The upstream refused this key or this place", "上游拒绝了该密钥"},
		{"no credit by status", upstream(402, ""), "The account has no credit", "余额或额度不足"},
		{"no credit by code", upstream(429, "insufficient_quota: You exceeded …"), "The account has no credit", "余额或额度不足"},
		{"no credit of a relay", upstream(403, "new_api_error insufficient_user_quota: 用户额度不足"), "The account has no credit", "余额或额度不足"},
		{"no credit in a stream", inside("billing_error"), "The account has no credit", "余额或额度不足"},
		{"too many requests", upstream(429, "rate_limit_exceeded"), "The upstream limits the rate", "上游或网关限流"},
		{"too many in a stream", inside("rate_limit_error: slow down"), "The upstream limits the rate", "上游或网关限流"},
		{"a wrong path", path, "The upstream has no such path (/v1/v1/responses). Most often the base URL has one /v1", "上游没有该路径（/v1/v1/responses）"},
		{"a wrong model by code", upstream(404, "invalid_request_error model_not_found: The model … does not exist"), "The upstream does not know this model", "上游没有该模型"},
		{"a wrong model in words", upstream(400, "The requested model … is not supported"), "The upstream does not know this model", "上游没有该模型"},
		{"a wrong model of a relay", upstream(503, "当前分组下对于模型 … 无可用渠道"), "The upstream does not know this model", "上游没有该模型"},
		{"a parameter that a model lacks", upstream(400, "unsupported_parameter: … is not supported with this model"), "The upstream rejected the request (400): unsupported_parameter", "上游拒绝了请求内容"},
		{"a prompt too long", upstream(400, "context_length_exceeded"), "The request is longer", "请求超出"},
		{"a prompt too long, by a local server", upstream(400, "exceed_context_size_error: request (9213 tokens) exceeds the available context size"), "The request is longer", "请求超出"},
		{"a body too large", upstream(413, "Request Entity Too Large"), "The request is longer", "请求超出"},
		{"a prompt too long, told in the stream", inside("invalid_request_error: prompt is too long"), "The request is longer", "请求超出"},
		{"a gateway gave up", upstream(524, "html: a web page"), "Something between gave up waiting (524)", "中间网关等待超时（524）"},
		{"an upstream failed", upstream(500, "server_error"), "The upstream failed or is overloaded (500)", "上游故障或过载（500）"},
		{"overloaded", inside("overloaded_error: Overloaded"), "The upstream is overloaded", "上游过载"},
		{"an engine that died", inside("engine died."), "The upstream reported an error inside the answer, after its 200: engine died.", "上游在 200 之后"},
		{"a page for an answer", inside("html: the answer is a web page"), "What came is a web page", "返回的是网页"},
		{"no answer", whole(2, outcome(exchange.UpstreamCut, 0, "closed")), "The upstream closed the connection before", "上游在应答之前"},
		{"a stream that went silent", cut(2, 62), "The stream went silent for 60.0 s", "流静默 60.0 s"},
		{"a stream cut short", cut(2, 3), "The stream ended early", "流提前结束"},
		{"the hour of a socket", socket(exchange.ErrorEvent, "400 invalid_request_error websocket_connection_limit_reached: …"), "The upstream ends every WebSocket after 60 minutes", "上游会在 60 分钟后"},
		{"a conversation that is gone", socket(exchange.ErrorEvent, "400 invalid_request_error previous_response_not_found"), "The upstream no longer has the answer", "上游已没有该请求"},
		{"too many over a socket", socket(exchange.ErrorEvent, "429 usage_limit_reached"), "The upstream limits the rate", "上游或网关限流"},
		{"a failure over a socket", socket(exchange.ErrorEvent, "500 server_error"), "The upstream failed or is overloaded (500)", "上游故障或过载（500）"},
		{"another error over a socket", socket(exchange.ErrorEvent, "odd: a thing"), "The upstream reported an error over the WebSocket: odd: a thing.", "上游通过 WebSocket"},
		{"a socket that was closed", socket(exchange.UpstreamCut, "websocket: closed by the upstream with 1011, internal error"), "The WebSocket ended before the answer did (websocket: closed by the upstream with 1011", "WebSocket 在回答结束前断开"},
		{"a riddle", whole(1, outcome(exchange.UpstreamError, 0, "")), "Unknown: –.", "未知：–。"},
		{"no trouble", streamed(1, 2), "", ""},
		{"none yet", streamed(1, 2, outcome(exchange.Open, 200, "")), "", ""},
		{"a limit is no trouble", streamed(1, 2, outcome(exchange.Incomplete, 200, "")), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			en, zh := ErrorWords(c.row, "en"), ErrorWords(c.row, "zh")
			if !strings.HasPrefix(en, c.en) || (c.en == "") != (en == "") {
				t.Errorf("%q does not begin with %q", en, c.en)
			}
			if !strings.HasPrefix(zh, c.zh) || (c.zh == "") != (zh == "") {
				t.Errorf("%q does not begin with %q", zh, c.zh)
			}
		})
	}
}
