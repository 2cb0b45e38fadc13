package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/ttftap/ttftap/proxy/exchange"
)

// Used is the model that the log has the most requests of, in the wire format that
// it is most used in. Where a model is given, it is that one's wire format. Both
// are "" where the log does not tell.
func (i *Instance) Used(ctx context.Context, upstream, model string) (_, wire string, err error) {
	q := url.Values{"limit": {"500"}, "upstream": {upstream}}
	found, err := i.rows(ctx, q.Encode())
	if err != nil {
		return "", "", err
	}
	type use struct{ model, wire string }
	uses, models := make(map[use]int), make(map[string]int)
	for _, r := range found {
		u := use{r.Model, wires[r.Dialect]}
		if r.answered() && u.model != "" && u.wire != "" && (model == "" || model == u.model) {
			uses[u]++
			models[u.model]++
		}
	}
	model = cmp.Or(model, most(models))
	formats := map[string]int{}
	for u, n := range uses {
		if u.model == model {
			formats[u.wire] = n
		}
	}
	return model, most(formats), nil
}

// wires are the formats of which a probe knows how to ask.
var wires = map[exchange.Dialect]string{exchange.Responses: Responses, exchange.Chat: Chat}

// most is the name with the highest count, the first of several in the order of
// names; "" of none.
func most(counts map[string]int) (name string) {
	for n, count := range counts {
		if name == "" || count > counts[name] || count == counts[name] && n < name {
			name = n
		}
	}
	return name
}

// Models are the ids that the upstream lists.
func (i *Instance) Models(ctx context.Context, upstream, key string) ([]string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, i.Base+route(upstream)+"/models", nil)
	if err != nil {
		return nil, err
	}
	authorize(r, key)
	res, err := i.Client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, answerMost))
	if err != nil {
		return nil, err
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the list of models: %s %s", res.Status, complaint(raw))
	}
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if json.Unmarshal(raw, &list) != nil || len(list.Data) == 0 {
		return nil, errors.New("the list of models has none")
	}
	var ids []string
	for _, m := range list.Data {
		ids = append(ids, m.ID)
	}
	return ids, nil
}

// route is the path under which an upstream is reached.
func route(upstream string) string {
	if upstream == Default {
		return ""
	}
	return "/to/" + upstream
}

// Default is the name of the upstream that has no other.
const Default = "default"

func authorize(r *http.Request, key string) {
	if key = strings.TrimSpace(key); key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
}
