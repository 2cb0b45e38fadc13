package web

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// audited are views in the states that they have, by the page that shows them.
var audited = map[string][]string{
	"full": {
		"/-/", "/-/?bound=decode&cols=client,queue_ms", "/-/?model=none-such", "/-/?bound=sideways", "/-/charts", "/-/models", "/-/connect", "/-/audit",
		"/-/requests/prefill", "/-/requests/decode", "/-/requests/cut", "/-/requests/under-way", "/-/requests/none-such",
		"/-/turns/turn-7", "/-/turns/none-such", "/-/compare?a=prefill&b=decode", "/-/compare?a=prefill",
	},
	"lab": {
		"/-/experiments", "/-/experiments/" + ladderID, "/-/experiments/" + cacheID, "/-/experiments/" + runningID, "/-/experiments/" + hostileID,
		"/-/experiments/" + strings.Repeat("0", 26), "/-/experiments/compare?a=" + ladderID + "&b=" + laterID, "/-/experiments/compare",
		"/-/?experiment=" + ladderID,
	},
	"empty":  {"/-/", "/-/charts", "/-/models", "/-/experiments"},
	"locked": {"/-/"},
}

// axeRun runs the audit by the success criteria of WCAG 2.2, levels A and AA, and
// the rules that are good practice.
const axeRun = `axe.run(document, {runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}).then(result =>
	result.violations.map(v => v.id + ": " + v.help + "\n" + v.nodes.map(n => "  " + n.target.join(" ") + "  " + n.html.slice(0, 200) + "\n    " + n.failureSummary).join("\n")))`

// TestEveryViewPassesTheAuditOfAccessibility needs a browser, and axe-core in the
// file that TTFTAP_AXE names.
func TestEveryViewPassesTheAuditOfAccessibility(t *testing.T) {
	path, err := exec.LookPath(cmp.Or(os.Getenv("TTFTAP_CHROMIUM"), "chromium"))
	axe, err2 := os.ReadFile(os.Getenv("TTFTAP_AXE"))
	if err := cmp.Or(err, err2); err != nil {
		if os.Getenv("TTFTAP_NO_SKIP") != "" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED: no chromium or no axe-core here, so nothing is known of how accessible the page is")
	}
	ctx := startBrowser(t, path)
	full := newConfig(t, append(telling(), overlong())...)
	full.Models = usualModels()
	locked := full
	locked.Token = "open sesame"
	for name, c := range map[string]Config{"full": full, "lab": newLab(t, everyTrial()...), "empty": newConfig(t), "locked": locked} {
		b := newTab(t, ctx, c)
		_, err := chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
		b.must(err)
		for _, target := range audited[name] {
			b.audit(string(axe), name, target)
		}
	}
	b := newTab(t, ctx, newConfig(t, billedOnce()...))
	_, err = chromedp.Call(b.ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
	b.must(err)
	b.auditsFindings(string(axe))
}

// audit looks at a view on a wide light screen in English and on a narrow dark one
// in Chinese.
func (b *browser) audit(axe, name, target string) {
	b.Helper()
	for _, state := range []struct {
		l      language
		scheme string
		width  int64
	}{{english, "light", 1280}, {chinese, "dark", 390}} {
		b.viewport(state.width, 900)
		b.prefer(state.scheme)
		b.visit(withLang(target, state.l))
		in[any](b, axe+"; true")
		violations, err := chromedp.Run(b.ctx, chromedp.EvaluateAsDevTools[[]string](axeRun, chromedp.EvalAwaitPromise))
		b.must(err)
		if len(violations) > 0 {
			b.Errorf("%s %s, %s:\n%s", name, withLang(target, state.l), fmt.Sprint(state.scheme, " ", state.width), strings.Join(violations, "\n"))
		}
	}
}
