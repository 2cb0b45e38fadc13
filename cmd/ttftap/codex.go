package main

import (
	"fmt"
	"strings"

	"github.com/ttftap/ttftap/proxy"
)

// codexBlock is what goes into Codex' config.toml. Its base URL is the bare
// address: the proxy joins it with the upstream's own path.
func codexBlock(base string, upstream proxy.Upstream) string {
	auth := `env_key = "OPENAI_API_KEY"`
	if strings.HasSuffix(upstream.URL.Path, "/backend-api/codex") {
		auth = "requires_openai_auth = true" // a ChatGPT login has no key
	}
	return fmt.Sprintf(`model_provider = "ttftap"

[model_providers.ttftap]
name = "%s through ttftap"
base_url = "%s"
%s
wire_api = "responses"
`, upstream.URL.Host, base, auth)
}
