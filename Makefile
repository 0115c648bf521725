# Hearth. `make run` shows it, `make test` proves it.
SHELL    := /bin/bash
VERSION  ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS  := -s -w -X main.version=$(VERSION)
export GOFLAGS ?= -buildvcs=false

.PHONY: run build test quick lint bench docs fuzz cross setup realhome conformance

run: ## start everything with a simulated house
	go run ./cmd/hearth demo

build: ## the binary, in bin/
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/hearth ./cmd/hearth

quick: ## the inner loop: no race detector, no real home
	go test ./...

test: setup lint cross ## everything: set-up, lint, race, simulated and real house, MCP conformance
	CGO_ENABLED=1 HEARTH_REQUIRE_REALHOME=1 HEARTH_REQUIRE_CONFORMANCE=1 \
	  go test -race -shuffle=on -timeout 20m ./...

lint: ## formatting, vet, staticcheck, tidy module, generated files unchanged
	@files=$$(gofmt -l .); [ -z "$$files" ] || { echo "gofmt wants: $$files"; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	go mod tidy -diff
	go run ./cmd/hearth docs --check

docs: ## write docs/tools.md and docs/config.md anew
	go run ./cmd/hearth docs

cross: ## both platforms people run
	CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/hearth-linux-amd64 ./cmd/hearth
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/hearth-linux-arm64 ./cmd/hearth

bench: build ## every number of docs/performance.md, as a table
	go run ./test/bench

fuzz: ## half a minute for each fuzz target
	@for pkg in $$(go list ./...); do \
	  for target in $$(go test -list '^Fuzz' $$pkg 2>/dev/null | grep '^Fuzz'); do \
	    echo "$$pkg $$target"; go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $${FUZZTIME:-30s} $$pkg || exit 1; \
	  done; \
	done

setup: realhome conformance ## what the tests need beside Go
	@command -v gcc >/dev/null || { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q gcc libc6-dev; }

realhome: ## the real Home Assistant, in the cache (about 3 minutes, once)
	test/realhome/setup.sh "$$(go run ./test/realhome/where)"

conformance: ## the MCP conformance suite and the Inspector, in the cache
	test/conformance/setup.sh
