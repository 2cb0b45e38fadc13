package doctor_test

import (
	"net/http"
	"testing"

	"github.com/ttftap/ttftap/proxy/doctor"
	"github.com/ttftap/ttftap/proxy/exchange"
	"github.com/ttftap/ttftap/proxy/simulator"
)

// chatOnly is an upstream that has no /responses.
func chatOnly() http.Handler { return except(model(), fails(404, "not_found"), "/responses") }

func TestAnUpstreamOfChatAloneIsOfNoUseToCodex(t *testing.T) {
	healthy(serve(t, chatOnly())+"/v1").finds(t, "wire format", doctor.Change, "chat but not responses (404)", "Codex from 0.98 on cannot use it")
}

func TestAnUpstreamOfChatAloneIsFineForAClientOfChat(t *testing.T) {
	p := healthy(serve(t, chatOnly()) + "/v1")
	p.Wire = exchange.Chat
	p.finds(t, "wire format", doctor.OK, "it answers chat", "does not answer responses")
}

func TestAClientOfChatIsToldOfAnUpstreamOfResponsesAlone(t *testing.T) {
	h := except(model(), fails(404, "not_found"), "/chat/completions")
	p := healthy(serve(t, h)+"/v1").withCodex(t, "codex-cli 0.80.0", `model = "sim-light"
model_provider = "own"
[model_providers.own]
name = "own"
base_url = "BASE"
wire_api = "chat"
`)
	f := p.finds(t, "wire format", doctor.Change, "responses but not chat (404)", `wire_api = "responses"`)
	edits(t, p, f, `wire_api = "responses"`)
}

func TestAnOldCodexSpeaksChatUnlessToldOtherwise(t *testing.T) {
	p := healthy(serve(t, chatOnly())+"/v1").withCodex(t, "codex-cli 0.80.0", `model = "sim-light"
model_provider = "own"
[model_providers.own]
name = "own"
base_url = "BASE"
`)
	p.finds(t, "wire format", doctor.OK, "it answers chat")
}

func TestOutputThatComesAsItIsMadeIsSaidTo(t *testing.T) {
	healthy(serve(t, model(atPace))+"/v1").finds(t, "streaming", doctor.OK, "as it is made", "tokens/s")
}

func TestAStreamInFormAloneIsSeen(t *testing.T) {
	h := model(atPace, func(p *simulator.Profile) { p.Pseudo = true })
	healthy(serve(t, h)+"/v1").finds(t, "streaming", doctor.Change, "a stream in form alone", "proxy_buffering off")
}

func TestAHopThatCollectsOutputIsSeen(t *testing.T) {
	h := model(atPace, func(p *simulator.Profile) { p.HopTime = 100 * p.TPOT / 4 })
	healthy(serve(t, h)+"/v1").finds(t, "streaming", doctor.Change, "in lumps", "proxy_buffering off")
}

func TestAnAnswerInOnePieceIsNoStream(t *testing.T) {
	whole := says(200, "application/json", `{"id":"r","object":"response","status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"1 2 3"}]}],"usage":{"input_tokens":9,"output_tokens":5,"total_tokens":14}}`)
	healthy(serve(t, except(model(), whole, "/responses"))+"/v1").finds(t, "streaming", doctor.Change, "came as one body")
}

func TestAPageInThePlaceOfAnAnswerIsNoAnswer(t *testing.T) {
	all := healthy(serve(t, except(model(), page, "/responses")) + "/v1").examine(t)
	if f := all["wire format"]; f.State != doctor.Change {
		t.Errorf("%+v", f)
	}
	if f := all["streaming"]; f.State != doctor.Unchecked {
		t.Errorf("%+v", f)
	}
}

func TestAnErrorUnderAGoodStatusIsNoAnswer(t *testing.T) {
	h := except(model(), says(200, "application/json", `{"error":{"type":"no_channel","message":"no"}}`), "/responses")
	healthy(serve(t, h)+"/v1").finds(t, "wire format", doctor.Unchecked, "refused with 200 (no_channel)")
}

func TestAStreamThatIsCutIsSeen(t *testing.T) {
	h := model(atPace, func(p *simulator.Profile) { p.Mishap = simulator.Cut })
	healthy(serve(t, h)+"/v1").finds(t, "streaming", doctor.Change, "broke off after")
}

func TestHiddenReasoningLeavesNothingToTellStreamingBy(t *testing.T) {
	h := model(func(p *simulator.Profile) { p.Reasoning, p.ReasoningTokens, p.Output = simulator.Hidden, 64, 0 })
	healthy(serve(t, h)+"/v1").finds(t, "streaming", doctor.Unchecked, "reasoning")
}

func TestTokensThatAreNotReportedAreMissed(t *testing.T) {
	h := model(func(p *simulator.Profile) { p.Usage = simulator.Unreported })
	healthy(serve(t, h)+"/v1").finds(t, "usage", doctor.Change, "tokens are not reported")
}

func TestCachedTokensThatAreNotReportedAreNoMisses(t *testing.T) {
	h := model(func(p *simulator.Profile) { p.Cached = simulator.Unreported })
	healthy(serve(t, h)+"/v1").finds(t, "usage", doctor.OK, "cached tokens are not", "a missing count is not a miss")
}

func TestTokensAndCachedTokensAreSaidToBeReported(t *testing.T) {
	healthy(serve(t, model())+"/v1").finds(t, "usage", doctor.OK, "tokens and cached tokens are reported")
}

// strict is an upstream that refuses a field of chat's.
func strict(field string) http.Handler {
	h := model()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := bodyOf(r)
		if body.has(field) {
			fails(400, "unknown_parameter: "+field)(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func TestStreamOptionsThatAreRefusedAreLeftOut(t *testing.T) {
	p := healthy(serve(t, strict("stream_options")) + "/v1")
	p.finds(t, "stream_options", doctor.OK, "stream_options are refused", "clients of responses need none")
	p = healthy(serve(t, strict("stream_options")) + "/v1")
	p.Wire = exchange.Chat
	p.finds(t, "stream_options", doctor.Change, "must not send them")
}

func TestStreamOptionsWithoutEffectAreSaidToHaveNone(t *testing.T) {
	p := healthy(serve(t, model(func(p *simulator.Profile) { p.Usage = simulator.Unreported })) + "/v1")
	p.Wire = exchange.Chat
	p.finds(t, "stream_options", doctor.Change, "no usage comes of it")
}

func TestStreamOptionsThatWorkAreSaidTo(t *testing.T) {
	healthy(serve(t, model())+"/v1").finds(t, "stream_options", doctor.OK, "tell their usage when asked", "--inject-usage")
}

func TestAModelThatWantsTheNewerLimitIsAskedWithIt(t *testing.T) {
	p := healthy(serve(t, strict("max_tokens")) + "/v1")
	p.Wire = exchange.Chat
	p.finds(t, "wire format", doctor.OK, "it answers chat")
}

func TestAnUpstreamThatTakesNoLimitIsAskedWithoutOne(t *testing.T) {
	p := healthy(serve(t, strict("max_output_tokens")) + "/v1")
	p.Wire = exchange.Responses
	p.finds(t, "wire format", doctor.OK, "it answers responses")
}

func TestAWebSocketThatOpensIsSaidTo(t *testing.T) {
	healthy(serve(t, model())+"/v1").finds(t, "WebSocket", doctor.OK, "it opens")
}

// socketless refuses the upgrade.
func socketless(status int) http.Handler {
	h := model()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" {
			fails(status, "no_upgrade")(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func TestAnUpgradeThatIsRefusedRightCostsNothing(t *testing.T) {
	healthy(serve(t, socketless(426))+"/v1").finds(t, "WebSocket", doctor.OK, "426")
}

func TestAnUpgradeThatIsRefusedWronglyCostsCodexTime(t *testing.T) {
	const builtIn = "model = \"sim-light\"\nopenai_base_url = \"BASE\"\n"
	p := healthy(serve(t, socketless(404))+"/v1").withCodex(t, today, builtIn)
	p.finds(t, "WebSocket", doctor.Change, "refused with 404", "6 to 7 s", "go through ttftap")
	p = healthy(serve(t, socketless(400))+"/v1").withCodex(t, today, builtIn)
	p.finds(t, "WebSocket", doctor.Change, "fails the turn")
}

func TestAProviderThatTriesNoWebSocketNeedsNone(t *testing.T) {
	p := healthy(serve(t, socketless(404))+"/v1").withCodex(t, today, goodConfig)
	p.finds(t, "WebSocket", doctor.OK, "the provider in use tries none")
}

func TestAProviderThatIsToldToTryAWebSocketIsToldNotTo(t *testing.T) {
	p := healthy(serve(t, socketless(404))+"/v1").withCodex(t, today, goodConfig+"supports_websockets = true # fast\n")
	f := p.finds(t, "WebSocket", doctor.Change, "supports_websockets = false")
	edits(t, p, f, "supports_websockets = false # fast")
}
