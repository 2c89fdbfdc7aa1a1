# The front door. `make` alone lists what can be done; each target says so in the words after `##`.

CARGO  ?= cargo
PREFIX ?= $(HOME)/.local
BUILT  := $(or $(CARGO_TARGET_DIR),target)
BIN    := $(BUILT)/release/loadline
# As packages carry it.
DIST   := $(BUILT)/dist/loadline

DOCKER ?= docker
IMAGE  ?= loadline:$(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)

# Where Debian has servers: not on the path of every user.
export PATH := $(PATH):/usr/sbin:/sbin

.DEFAULT_GOAL := help
.PHONY: help dist web web-test api-test python-test packages packages-test counts screenshots demo demo-fleet build install uninstall completions man test fmt lint licences deny doc bench beside million validate proofs readme-chart pages fuzz clean image kubernetes kubernetes-test jmeter-test conformance targets-test case-studies target-nethttp target-gin target-flask-sum target-flask-fibonacci target-card-game target-access-control target-database

help: ## list these targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-22s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

demo: build ## measure the built-in demo API: a table, charts and a conclusion, in about a minute
	$(BIN) demo

demo-fleet: build ## send a sweep of the demo API from three agents that wait at a NATS server, all on this machine
	scripts/tools.sh nats-server
	scripts/demo-fleet.sh $(BIN)

# Without npm the binary is built all the same; its pages then say that they have no charts.
web: ## build the script and style of the pages, which the binary carries (needs Node 20.19 or later)
	scripts/web.sh build

build: web ## build the release binary, target/release/loadline
	$(CARGO) build --release --locked -p loadline

dist: web ## build the binary as packages carry it, target/dist/loadline: slower to build, quicker to run
	$(CARGO) build --profile dist --locked -p loadline

install: dist completions man ## install binary, completions and man pages under PREFIX (default ~/.local)
	install -D -m 755 $(DIST) $(DESTDIR)$(PREFIX)/bin/loadline
	install -D -m 644 $(BUILT)/completions/loadline.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/loadline
	install -D -m 644 $(BUILT)/completions/_loadline $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_loadline
	install -D -m 644 $(BUILT)/completions/loadline.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/loadline.fish
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 $(BUILT)/man/*.1 $(DESTDIR)$(PREFIX)/share/man/man1

image: dist ## make a container image of that binary: IMAGE=registry.test/loadline:0.1.0, DOCKER=podman
	install -D -m 755 $(DIST) $(BUILT)/image/loadline
	$(DOCKER) build -f deploy/Dockerfile -t $(IMAGE) $(if $(BASE),--build-arg BASE=$(BASE)) $(BUILT)/image

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/loadline $(DESTDIR)$(PREFIX)/share/bash-completion/completions/loadline \
	  $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_loadline $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/loadline.fish \
	  $(DESTDIR)$(PREFIX)/share/man/man1/loadline.1 $(DESTDIR)$(PREFIX)/share/man/man1/loadline-*.1

completions: dist ## write completions for bash, zsh and fish to target/completions
	mkdir -p $(BUILT)/completions
	$(DIST) completions bash > $(BUILT)/completions/loadline.bash
	$(DIST) completions zsh > $(BUILT)/completions/_loadline
	$(DIST) completions fish > $(BUILT)/completions/loadline.fish

man: dist ## write the man pages to target/man
	$(DIST) man $(BUILT)/man

# Cheap checks first, the tests last, so that the last thing on the screen is what they said.
test: fmt licences web ## everything that must hold: formatting, licences, lints, documentation, every test
	scripts/tools.sh nginx wrk ab openssl tmux gnuplot siege prometheus go ssh sshd nats-server ip tc
	scripts/peers.sh hey vegeta grpcd http3d
	$(MAKE) --no-print-directory lint counts beside
	LOADLINE_TEST_TOOLS=all RUSTDOC=$(CURDIR)/scripts/rustdoc.sh $(CARGO) test --workspace --locked
	$(MAKE) --no-print-directory web-test api-test python-test packages-test kubernetes-test
	$(MAKE) --no-print-directory targets-test TARGETS=nethttp
	$(MAKE) --no-print-directory proofs

web-test: ## open a page of every kind in a real Chromium and use it
	scripts/tools.sh chromium
	scripts/web.sh test

api-test: ## hold the API of loadline serve against its description (docs/api/openapi.json)
	scripts/tools.sh python3
	scripts/api.sh

kubernetes-test: ## hold the Helm chart and the plain manifests in deploy/ against Helm and Kubernetes' own descriptions
	$(CARGO) test --workspace --locked --no-run --quiet
	scripts/kubernetes.sh test $(BUILT)/debug/loadline

packages: dist ## make packages of that binary in target/packages: a wheel, two of npm, .deb, .rpm, an archive, checksums
	scripts/tools.sh python3 npm
	scripts/packages.sh make $(DIST) $(BUILT)/packages

packages-test: ## make packages of the binary of the tests, take each in somewhere of its own, and call what it put there
	scripts/tools.sh python3 npm rpm rpm2cpio cpio
	$(CARGO) test --workspace --locked --no-run --quiet
	scripts/packages.sh test $(BUILT)/debug/loadline

python-test: ## build the Python package around the binary of the tests, and test it where it is installed (PYTHONS="python3.9 python3.13" chooses)
	scripts/tools.sh python3
	$(CARGO) test --workspace --locked --no-run --quiet
	scripts/python.sh test $(BUILT)/debug/loadline $(PYTHONS)

jmeter-test: ## hold the reader of test plans against JMeter itself and docs/jmeter.md (about 3 minutes; PLANS="once switch" chooses, WRITE=1 writes the page anew)
	$(CARGO) test --workspace --locked --no-run --quiet
	scripts/jmeter.sh $(BUILT)/debug/loadline $(PLANS)

conformance: ## hold HTTP/2 against every case that h2spec has for clients (about 2 minutes; WRITE=1 writes docs/conformance.md anew)
	$(CARGO) build --locked -p loadline
	scripts/conformance.sh $(BUILT)/debug/loadline

screenshots: ## take pictures of every kind of page, for the guide
	scripts/tools.sh chromium
	scripts/web.sh pictures docs/guide/images

# With the binaries the tests use: counts are checked here, not speed.
beside: ## run the benchmark's parts for a moment against nginx: do counts agree with the server's?
	$(CARGO) test --workspace --locked --no-run --quiet
	$(BUILT)/debug/loadline-bench short $(BUILT)/debug/loadline

# Code as in the release binary, of a program with the engine and the kinds of work alone.
counts: ## count instructions per request and bytes per idle user; 2 % above the record fails (WRITE=1 makes a new record)
	scripts/tools.sh valgrind
	$(CARGO) run --quiet --profile counts --locked -p loadline-counts -- $(if $(WRITE),write,check) counts/record.json

fmt: ## check the formatting (cargo fmt puts it right)
	$(CARGO) fmt --all --check

lint: ## clippy, without warnings
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

doc: ## build the crates' documentation, without warnings (of libraries that is done by make test)
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --locked --document-private-items --quiet

licences: ## check the licence and origin of every dependency against deny.toml
	scripts/licences.sh

deny: ## check the same, and security advisories, with cargo-deny (cargo install cargo-deny)
	$(CARGO) deny --locked check

bench: dist ## measure beside wrk, ab, h2load and JMeter on this machine and write docs/benchmarks.md (about 37 minutes)
	scripts/tools.sh nginx wrk ab h2load nghttpd goaccess
	scripts/peers.sh jmeter oha ghz k6 grpcd http3d
	$(CARGO) run --quiet --locked -p loadline-bench -- full $(DIST) docs/benchmarks.md

bench-against: dist ## measure beside another build of loadline in turns: OTHER=path/to/loadline (about 15 minutes)
	scripts/tools.sh nginx
	$(CARGO) run --quiet --locked -p loadline-bench -- against $(DIST) $(OTHER)

million: dist ## open a million connections from this machine to itself (24 GB of memory; a few minutes; CONNECTIONS=200000)
	scripts/tools.sh nginx
	scripts/million.sh $(DIST) $(CONNECTIONS)

validate: dist ## put every claim to the test and write docs/validation.md (40 minutes; PARTS="searches hung", RESUME=1)
	scripts/tools.sh nft nginx go node python3 java initdb
	$(CARGO) run --quiet --locked -p loadline-validate -- full $(DIST) $(BUILT)/validate docs/validation.md $(if $(RESUME),resume) $(PARTS)

# The tests hold the statistics and the hard cases in short; this is the command itself, and the page.
proofs: ## run some parts of make validate for a moment: does everything still work together?
	$(CARGO) test --workspace --locked --no-run --quiet
	$(BUILT)/debug/loadline-validate short $(BUILT)/debug/loadline $(or $(PARTS),comparisons same-target hung bottlenecks gallery)

readme-chart: build ## draw the README's charts anew from a sweep of the demo API
	scripts/readme-chart.sh $(BIN) docs/images

kubernetes: ## write the plain manifests in deploy/kubernetes anew from the chart (make kubernetes-test fails while they are stale)
	scripts/kubernetes.sh write

pages: ## write the generated tables of docs/ anew from the code (a test fails while they are stale)
	LOADLINE_WRITE_PAGES=1 $(CARGO) test --quiet --locked -p loadline-docs -- --test-threads=1

# PORT (8080) is where each of them listens; what else can be chosen stands at the head of its start.sh.
target-nethttp: ## start a real server to load, on PORT (8080): Go's net/http, the baseline of the others
	examples/targets/nethttp/start.sh

target-gin: ## the same: an API in Gin behind middlewares that can be chosen, with a profiler
	examples/targets/gin/start.sh

target-flask-sum: ## the same: a sum in Flask with 20 processes
	examples/targets/flask-sum/start.sh

target-flask-fibonacci: ## the same: Fibonacci numbers in Flask with threads, and a cache or none
	examples/targets/flask-fibonacci/start.sh

target-card-game: ## the same: a card game in Node.js with two workers under PM2
	examples/targets/card-game/start.sh

target-access-control: ## the same: nginx with API keys and a rate limit before the card game
	examples/targets/access-control/start.sh

target-database: ## the same: notes in Go and PostgreSQL behind a small pool
	examples/targets/database/start.sh

targets-test: ## start each of these servers whose tools are here, ask it, load it and stop it (TARGETS="gin database" chooses)
	$(CARGO) test --workspace --locked --no-run --quiet
	scripts/targets.sh $(BUILT)/debug/loadline $(TARGETS)

case-studies: build ## measure these servers and write docs/guide/case-studies (about 12 minutes; TARGETS="gin database" chooses, BRIEF=yes only tries)
	scripts/case-studies.sh $(BIN) $(TARGETS)

fuzz: ## fuzz what reads foreign bytes, a minute each (SECONDS_EACH=60)
	scripts/fuzz.sh $(or $(SECONDS_EACH),60)

clean: ## remove everything that was built
	$(CARGO) clean
