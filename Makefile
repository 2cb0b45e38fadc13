VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
GO      := CGO_ENABLED=0 go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

.PHONY: demo run build test test-clients fuzz chaos soak lint bench bench-process bench-streams bench-all bench-diagnosis bench-probe bench-page bench-log screenshots

demo: build ## the proxy in front of a simulated model, no key needed
	bin/ttftap demo

run: build ## the proxy in front of https://api.openai.com/v1
	bin/ttftap serve

build: ## bin/ttftap
	$(GO) build -trimpath -ldflags "-s -w -X main.version=$(VERSION)" -o bin/ttftap ./cmd/ttftap

test: lint ## all tests; sets up Chromium and the Codex CLI where it may
	.ci/setup
	.ci/gotest

test-clients: ## each client of docs/clients.md for real, which is written anew; downloads gigabytes. CLIENTS="0.171 curl" runs some alone
	TTFTAP_CLIENTS="$(or $(CLIENTS),all)" $(GO) test -count=1 -v -timeout 120m -run '^TestClients$$|WithTheBlock|BelowRun$$|^TestProgramsFindTheProxyByTheirEnvironment$$' ./cmd/ttftap -update

fuzz: ## all that reads what others have written, each for 2 minutes. FUZZTIME=10s for less, FUZZ='Scrub|Filter' for some
	.ci/fuzz

lint: ## gofmt, vet, tidy, staticcheck and, where its database can be reached, govulncheck
	@test -z "$$(gofmt -l cmd proxy store web migrations)" || { gofmt -l cmd proxy store web migrations; echo "run gofmt -w on these"; exit 1; }
	go vet ./...
	go mod tidy -diff
	go run $(STATICCHECK) ./...
	.ci/vulncheck $(GOVULNCHECK)

bench: ## what the proxy costs beside Go's own reverse proxy: a table of the medians. ROUNDS=5
	$(GO) test -run '^$$' -bench '^BenchmarkCost$$' -benchtime $(or $(ROUNDS),5)x -timeout 60m ./cmd/ttftap

bench-process: ## the same within one process, without the log, for benchstat
	$(GO) test -run '^$$' -bench 'Chunk$$|Request|BigPrompt' -benchtime 5x -count $(or $(ROUNDS),5) ./proxy

bench-streams: ## 10,000 slow streams at once, and the memory of each
	$(GO) test -run '^$$' -bench '^BenchmarkManyStreams$$' -benchtime 1x -timeout 10m ./cmd/ttftap

bench-all: ## the benchmarks of every package
	$(GO) test -run '^$$' -bench . -benchmem -timeout 60m ./...

bench-diagnosis: ## verdicts on 20,000 random exchanges beside the truth, as a matrix
	cd proxy && TTFTAP_SCENARIOS=$${TTFTAP_SCENARIOS:-20000} $(GO) test -count=1 -timeout 30m -run '^TestVerdictsAgreeWithTheTruth$$'

bench-probe: ## every experiment against 200 random models and networks, beside the truth
	TTFTAP_PLACES=$${TTFTAP_PLACES:-200} $(GO) test -count=1 -v -timeout 60m -run '^TestExperimentsConcludeWhatIsTrue$$' ./proxy/probe

chaos: build ## every fault of docs/reliability.md, many times: how often the program survived; takes a quarter of an hour
	cd cmd/ttftap && TTFTAP_CHAOS=1 TTFTAP_PROGRAM=$(CURDIR)/bin/ttftap $(GO) test -count=1 -timeout 60m -run '^TestFaults$$'

soak: build ## half an hour under load of every kind, and whether memory, goroutines and descriptors stay as they are; SOAK=2h takes longer
	cd cmd/ttftap && TTFTAP_SOAK=$(or $(SOAK),30m) TTFTAP_PROGRAM=$(CURDIR)/bin/ttftap $(GO) test -count=1 -timeout 0 -run '^TestSoak$$'

bench-page: ## the page over a log of a million requests, and streams beside it
	$(GO) test -run '^$$' -bench 'LargeLog' -benchtime 20x ./web
	$(GO) test -run '^$$' -bench 'BesideThePage' -benchtime 5x ./cmd/ttftap

bench-log: ## page, export and upkeep on a log of ROWS requests, a million without; TTFTAP_LARGE=FOLDER keeps it
	$(GO) test -timeout 60m -run '^$$' -bench 'LargeLog' -benchtime 20x ./web
	$(GO) test -timeout 60m -run '^$$' -bench 'LargeCSV|LargeStart|BesideUpkeep' -benchtime 1x ./store

screenshots: ## the pictures of the documentation, from the demo
	TTFTAP_SCREENSHOTS=$(CURDIR)/docs $(GO) test -count=1 -run '^TestScreenshots$$' ./cmd/ttftap
