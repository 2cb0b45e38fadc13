package web

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// billedOnce is a log that a console's export is laid beside: it begins hours
// before the file does.
func billedOnce() []*exchange.Exchange {
	all := []*exchange.Exchange{
		seeded("audit-early", 5*time.Hour, func(x *exchange.Exchange) { prompted(x, 900, 0); answered(x, 500, 1500, 40) }),
		seeded("audit-same", 100*time.Minute, func(x *exchange.Exchange) { prompted(x, 19_120, 17_920); answered(x, 1204, 9120, 402) }),
		seeded("audit-other", 90*time.Minute, func(x *exchange.Exchange) { prompted(x, 21_877, 19_072); answered(x, 1388, 48_210, 2911) }),
		seeded("audit-lost", 80*time.Minute, func(x *exchange.Exchange) { prompted(x, 18_342, 0); answered(x, 1912, 6480, 214) }),
		seeded("audit-left", 70*time.Minute, func(x *exchange.Exchange) {
			x.Outcome = exchange.ClientAbort
			broken(x, 1660, 11_600, 20_310)
		}),
		seeded("audit-again", 60*time.Minute, func(x *exchange.Exchange) { prompted(x, 96_210, 0); answered(x, 8930, 12_044, 188) }),
	}
	for _, x := range all {
		x.GatewayRequestID = "20260314" + x.ID
	}
	return all
}

// billOf is the export that a gateway's page makes of these: one row with another
// count, one that is not here, one lost, and a top-up before and after.
func billOf(log []*exchange.Exchange) string {
	var b strings.Builder
	b.WriteString("\uFEFF时间,类型,令牌,分组,模型,输入Tokens,输出Tokens,花费,用时(秒),流式,IP,Request ID,缓存 Tokens,详情\r\n")
	row := func(at time.Time, kind string, in, out, cached int64, id string) {
		fmt.Fprintf(&b, "%s,%s,laptop,default,gpt-5-codex,%d,%d,$0.%06d,9,是,,%s,%d,\r\n", at.Format("2006-01-02 15:04:05"), kind, in, out, in+8*out, id, cached)
	}
	row(noon.Add(-3*time.Hour), "充值", 0, 0, 0, "")
	for _, x := range log {
		in, out, cached := x.PromptTokens, x.OutputTokens, x.CachedTokens
		switch x.ID {
		case "audit-early", "audit-lost":
			continue
		case "audit-other":
			out = new(*out + 6)
		case "audit-left":
			in, out, cached = new(int64(54_990)), new(int64(655)), new(int64(53_248))
		}
		row(x.EndedAt().In(noon.Location()), "消费", *in, *out, *cached, x.GatewayRequestID)
	}
	row(noon.Add(-65*time.Minute), "消费", 5210, 300, 0, "20260314somebody-elses")
	row(noon.Add(-10*time.Minute), "充值", 0, 0, 0, "")
	return b.String()
}

// posted sends a file and fields to the audit as a browser does.
func posted(t *testing.T, page http.Handler, file string, fields map[string]string) *httptest.ResponseRecorder {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range fields {
		if err := form.WriteField(name, value); err != nil {
			t.Fatal(err)
		}
	}
	part, err := form.CreateFormFile("file", "export.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Write([]byte(file)); err != nil {
		t.Fatal(err)
	}
	form.Close()
	return ask(t, page, http.MethodPost, "/-/audit", body.String(), "Content-Type", form.FormDataContentType(), "Accept-Language", "en")
}

// auditedPage is a page that holds a result, and its address.
func auditedPage(t *testing.T) (http.Handler, string) {
	t.Helper()
	page := New(newConfig(t, billedOnce()...))
	w := posted(t, page, billOf(billedOnce()), nil)
	if w.Code != http.StatusSeeOther {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return page, w.Header().Get("Location")
}
