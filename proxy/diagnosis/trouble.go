package diagnosis

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// ErrorWords says what went wrong with an exchange that failed, was refused, cut
// or given up, and what to do about it; "" for one that did not. Where the row's
// error text names a step, it begins with it: "dns:", "tls:", "html:".
func ErrorWords(x *exchange.Exchange, lang string) string {
	return teller{x, Weigh(x), lang}.tell(trouble(x))
}

func trouble(x *exchange.Exchange) phrase {
	for _, t := range troubles {
		if t.holds(x) {
			return t.phrase
		}
	}
	return phrase{}
}

// condition is what the row of a trouble shows.
type condition func(*exchange.Exchange) bool

func all(cs ...condition) condition {
	return func(x *exchange.Exchange) bool {
		return !slices.ContainsFunc(cs, func(c condition) bool { return !c(x) })
	}
}

func ended(as ...exchange.Outcome) condition {
	return func(x *exchange.Exchange) bool { return slices.Contains(as, x.Outcome) }
}

func status(from, to int64) condition {
	return func(x *exchange.Exchange) bool {
		s := statusOf(x)
		return s != nil && *s >= from && *s <= to
	}
}

// leading is the status that an error begins with.
var leading = regexp.MustCompile(`^[45]\d\d\b`)

// statusOf is the upstream's status. An error inside an answer has one of its own,
// if it tells.
func statusOf(x *exchange.Exchange) *int64 {
	if x.Outcome != exchange.ErrorEvent {
		return x.Status
	}
	n, err := strconv.ParseInt(leading.FindString(x.Error), 10, 64)
	if err != nil {
		return x.Status
	}
	return &n
}

// says looks for words in what the upstream, or the proxy, said of the error.
func says(pattern string) condition {
	re := regexp.MustCompile("(?i)" + pattern)
	return func(x *exchange.Exchange) bool { return re.MatchString(x.Error) }
}

// failed is an error that the upstream worded, by status or in a stream.
var failed = ended(exchange.UpstreamError, exchange.ErrorEvent)

func wentWrong(x *exchange.Exchange) bool {
	return !answered(x) && x.Outcome != exchange.Open
}

// gaveUp is the status of a hop that waited for the next one in vain.
func gaveUp(x *exchange.Exchange) bool {
	s := statusOf(x)
	return s != nil && slices.Contains([]int64{408, 504, 524}, *s)
}

// softened says whether the client was told to go on over HTTP, in other words
// than the upstream's.
func softened(x *exchange.Exchange) bool { return strings.Contains(x.Note, exchange.FellBack) }

// FallsBack says whether x is a WebSocket that was refused in a way upon which the
// client goes on over HTTP: no call of a model, and nothing that failed.
func FallsBack(x *exchange.Exchange) bool {
	if x.Method != "GET" || x.Dialect != exchange.Responses {
		return false
	}
	switch x.Outcome {
	case exchange.Refused: // by the proxy, for one reason or another
		return strings.HasPrefix(x.Error, "426 ")
	case exchange.UpstreamError:
		return x.Status != nil && slices.Contains([]int64{400, 404, 405, 426, 501}, *x.Status)
	}
	return false
}

func overSocket(x *exchange.Exchange) bool { return x.Transport == "websocket" }

func noAnswer(x *exchange.Exchange) bool { return x.Status == nil }

func wentSilent(x *exchange.Exchange) bool { return silence(x) >= 10*time.Second }

// troubles are in order: what the error says of itself before what its status
// means, the special before the general.
var troubles = []struct {
	holds condition
	phrase
}{
	{all(ended(exchange.Refused), says(`\bloop\b`)), phrase{
		"The upstream leads back to this proxy. Give --upstream the model server's own base URL.",
		"上游又指回了本代理。请把 --upstream 设为模型服务自己的 Base URL。",
	}},
	{all(ended(exchange.Refused), says(`use_http`)), phrase{
		"The proxy answered this WebSocket attempt with 426, and the client goes on over HTTP. supports_websockets = false in Codex' provider block spares the attempt.",
		"代理以 426 回绝了 WebSocket，客户端会改走 HTTP。在 Codex 的 provider 中设 supports_websockets = false 可省去这次尝试。",
	}},
	{all(ended(exchange.UpstreamError), softened), phrase{
		"The upstream takes no WebSocket (${status}), and the client goes on over HTTP. supports_websockets = false in Codex' provider block spares the attempt.",
		"上游不接受 WebSocket（${status}），客户端会改走 HTTP。在 Codex 的 provider 中设 supports_websockets = false 可省去这次尝试。",
	}},
	{ended(exchange.Refused), phrase{
		"The proxy itself refused this request: ${error}.",
		"本代理拒绝了该请求：${error}。",
	}},

	{all(ended(exchange.Unreachable), says(`^dns`)), phrase{
		"Could not reach the upstream: its name has no address (DNS). Check the host in --upstream, and the resolver.",
		"无法连接上游：域名解析失败（DNS）。请检查 --upstream 的主机名与 DNS。",
	}},
	{all(ended(exchange.Unreachable), says(`^tls|certificate|x509`)), phrase{
		"Could not reach the upstream: the TLS handshake failed. Check https or http in --upstream, the port, and whether its certificate needs a CA of your own.",
		"无法连接上游：TLS 握手失败。请检查 --upstream 的 https/http 与端口，以及证书是否需要自备 CA。",
	}},
	{ended(exchange.Unreachable), phrase{
		"Could not reach the upstream: nothing took the connection. Check host and port in --upstream, whether the server runs, and any firewall.",
		"无法连接上游：连接（connect）失败。请检查 --upstream 的主机与端口、服务是否在运行，以及防火墙。",
	}},

	{ended(exchange.ClientAbort), phrase{
		"${so far} If nobody pressed stop, raise the client's time limit.",
		"${so far}若非手动停止，请调大客户端的超时。",
	}},
	{ended(exchange.Interrupted), phrase{
		"The proxy was stopped while this was under way. ${so far}",
		"代理在请求进行中被停止。${so far}",
	}},

	{all(failed, says(`websocket_connection_limit_reached`)), phrase{
		"The upstream ends every WebSocket after 60 minutes. The client opens another one and sends the whole conversation again.",
		"上游会在 60 分钟后结束每条 WebSocket。客户端会重新连接，并重发整段对话。",
	}},
	{all(failed, says(`previous_response_not_found`)), phrase{
		"The upstream no longer has the answer that this request goes on from: after a reconnection the client has to send the whole conversation again.",
		"上游已没有该请求所接续的那次回答：重新连接后，客户端须重发整段对话。",
	}},
	{all(failed, says(`insufficient_[a-z_]*quota|current quota|insufficient.{0,20}(balance|credit|funds)|credit balance|billing|余额|额度|欠费`)), noCredit},
	{all(failed, status(402, 402)), noCredit},
	{all(failed, says(`context.?(length|size|window)|maximum context|(prompt|input|request).{0,60}too (long|large)|上下文.*超|输入.*过长`)), tooLong},
	{all(failed, status(413, 413)), tooLong},
	{all(failed, status(401, 401)), phrase{
		"The upstream refused the key (401). Check that the client sends the key of this upstream, and that it has not expired.",
		"上游拒绝了密钥（401）。请检查客户端发送的是不是该上游的密钥，以及是否过期。",
	}},
	{all(failed, says(`model_not_found|(unknown|invalid|no such|unsupported) model|model\b.{0,120}(not found|not exist|not supported|no access|do not have access)|模型.*不存在|无可用渠道`)), phrase{
		"The upstream does not know this model, or not for this key. Check the model's name against the upstream's list.",
		"上游没有该模型，或该密钥无权使用。请对照上游的模型列表检查名称。",
	}},
	{all(failed, status(403, 403)), phrase{
		"The upstream refused this key or this place (403). Check what the key may use, and whether the region or a firewall is blocked.",
		"上游拒绝了该密钥或来源（403）。请检查密钥权限，以及地区或防火墙限制。",
	}},
	{all(failed, status(404, 404)), phrase{
		"The upstream has no such path (${path}). Most often the base URL has one /v1 too many or too few: compare --upstream and the client's base URL.",
		"上游没有该路径（${path}）。多半是 Base URL 多写或漏写了 /v1：请对照 --upstream 与客户端的 Base URL。",
	}},
	{all(failed, status(429, 429)), rateLimit},
	{all(failed, says(`rate.?limit|too many requests|限流|请求过于频繁`)), rateLimit},
	{all(failed, says(`overloaded`)), phrase{
		"The upstream is overloaded. Try again later, or with fewer requests at once.",
		"上游过载。请稍后重试或减少并发。",
	}},
	{all(failed, gaveUp), phrase{
		"Something between gave up waiting (${status}); the model may have gone on, and may be billed. Stream the request, or raise the gateway's time limit.",
		"中间网关等待超时（${status}）；模型可能仍在执行并计费。请改用流式，或调大网关超时。",
	}},
	{all(failed, status(500, 599)), phrase{
		"The upstream failed or is overloaded (${status}). Try again; if it stays so, ask whoever runs it, with the request id.",
		"上游故障或过载（${status}）。请重试；若持续出现，请带上 request id 询问服务方。",
	}},
	{all(failed, status(400, 499)), phrase{
		"The upstream rejected the request (${status}): ${error}. Check its parameters against what this upstream takes.",
		"上游拒绝了请求内容（${status}）：${error}。请检查参数是否被该上游支持。",
	}},

	{says(`^html:`), phrase{
		"What came is a web page and no API answer: a login or a block page, or the gateway's home page. Check the base URL, and its /v1.",
		"返回的是网页，不是 API 内容：登录页、拦截页或网关首页。请检查 Base URL 及其 /v1。",
	}},
	{all(ended(exchange.ErrorEvent), overSocket), phrase{
		"The upstream reported an error over the WebSocket: ${error}.",
		"上游通过 WebSocket 报告错误：${error}。",
	}},
	{ended(exchange.ErrorEvent), phrase{
		"The upstream reported an error inside the answer, after its 200: ${error}.",
		"上游在 200 之后于回答内返回错误：${error}。",
	}},
	{all(ended(exchange.UpstreamCut), noAnswer), phrase{
		"The upstream closed the connection before it answered. Try again; if it stays so, a gateway's time limit is likely.",
		"上游在应答之前就断开了连接。请重试；若持续出现，多半是网关超时。",
	}},
	{all(ended(exchange.UpstreamCut), overSocket), phrase{
		"The WebSocket ended before the answer did (${error}). The client connects again and sends the whole conversation again; if it stays so, something in between closes long connections.",
		"WebSocket 在回答结束前断开（${error}）。客户端会重新连接并重发整段对话；若持续出现，多半是中间设备会断开长连接。",
	}},
	{all(ended(exchange.UpstreamCut), wentSilent), phrase{
		"The stream went silent for ${silence} and then ended early. Something in between closes idle connections: raise its read time limit.",
		"流静默 ${silence} 后提前结束。中间有设备会断开空闲连接：请调大它的读超时。",
	}},
	{ended(exchange.UpstreamCut), phrase{
		"The stream ended early, without its last event; what came is not the whole answer. Try again.",
		"流提前结束，缺少最后一个事件，回答不完整。请重试。",
	}},
	{wentWrong, phrase{
		"Unknown: ${error}.",
		"未知：${error}。",
	}},
}

var (
	noCredit = phrase{
		"The account has no credit left. Top it up, or use another key.",
		"余额或额度不足。请充值或更换密钥。",
	}
	tooLong = phrase{
		"The request is longer than the model or the gateway allows. Shorten the conversation, or take a model with a larger context.",
		"请求超出模型上下文或网关的上限。请精简对话，或换上下文更大的模型。",
	}
	rateLimit = phrase{
		"The upstream limits the rate. Wait, send fewer requests at once, or ask for a higher limit.",
		"上游或网关限流。请稍候、减少并发，或申请更高的限额。",
	}
)
