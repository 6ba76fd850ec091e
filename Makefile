# On a fresh machine only make, Node (20 or newer, for npm) and Go are needed: the rest is installed into node_modules, Node 24 included.
SHELL := /bin/sh
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.PHONY: help install gen devnet check test bench bench-page stress chaos
.PHONY: churn faults fuzz model mutants writes outage soak requirements replicas
.PHONY: byzantine delegation matrix manifests reliability statesync supply-chain sbom docs up down test-containers clean

# npm runs on the system's Node, everything else on the one that it installs.
SYSTEM_PATH := $(PATH)
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
NODE := node_modules/.bin/node
# A folder copied from another kind of machine holds programs that do not run here.
INSTALLED := node_modules/.installed-$(shell uname -sm | tr ' ' '-')

help:
	@echo 'make devnet   one validator, a gateway and funded accounts on this machine (ARGS="--help" lists the flags)'
	@echo 'make check    lint, types and the tests that start no node'
	@echo 'make test     every test, with a real CometBFT node (ARGS="test/store -t undo" runs some of them)'
	@echo "make bench    compares svcd with cosmos-sdk and CometBFT's own kvstore (ARGS=\"--quick\" takes three minutes)"
	@echo 'make reliability   every campaign, which is a long test, one after the other (ARGS="--list" lists them)'
	@echo 'make docs     builds the documentation site (ARGS="--serve" shows it in a browser and follows changes)'
	@echo 'make sbom     writes bills of materials in CycloneDX into .cache/sbom'
	@echo 'make up       starts the devnet in containers, in the background (docs/containers.md)'
	@echo 'make down     stops those containers and keeps their chain'
	@echo 'make clean    removes what was installed and generated, but no chain'
	@echo 'CONTRIBUTING.md describes the other targets.'

$(INSTALLED): package.json package-lock.json
	@PATH="$$SYSTEM_PATH"; export PATH; \
	command -v node >/dev/null 2>&1 || \
	  { echo 'make: Node is missing. Install Node 20 or newer (https://nodejs.org) and try again.' >&2; exit 1; }; \
	command -v npm >/dev/null 2>&1 || { echo 'make: npm is missing. It comes with Node (https://nodejs.org).' >&2; exit 1; }; \
	node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' || \
	  { echo "make: Node 20 or newer is needed, $$(node --version) is installed." >&2; exit 1; }; \
	node tools/install.js
	@touch $@
$(INSTALLED): export SYSTEM_PATH := $(SYSTEM_PATH)

install: $(INSTALLED)

gen: $(INSTALLED)
	@$(NODE) tools/fresh.ts

# Each last line becomes the program itself: nothing stands between make and it, so that a signal arrives.
devnet: gen
	@$(NODE) tools/page.ts
	@exec $(NODE) src/cli/svcd.js devnet $(ARGS)

check: $(INSTALLED)
	@exec $(NODE) tools/test.ts check quick

test: $(INSTALLED)
	@exec $(NODE) tools/test.ts $(ARGS)

chaos: gen
	@exec $(NODE) test/e2e/chaos.ts $(ARGS)

churn: gen
	@exec $(NODE) test/e2e/churn.ts $(ARGS)

manifests: gen
	@exec $(NODE) test/manifests/main.ts $(ARGS)

byzantine: gen
	@exec $(NODE) test/byzantine/main.ts $(ARGS)

faults: gen
	@exec $(NODE) test/faults/main.ts $(ARGS)

fuzz: gen
	@exec $(NODE) test/fuzz/main.ts $(ARGS)

mutants: gen
	@exec $(NODE) test/mutation/main.ts $(ARGS)

outage: gen
	@exec $(NODE) test/outage/main.ts $(ARGS)

soak: gen
	@exec $(NODE) test/soak/main.ts $(ARGS)

writes: gen
	@exec $(NODE) test/stress/writes.ts $(ARGS)

model: gen
	@exec $(NODE) test/model/main.ts $(ARGS)

delegation: gen
	@exec $(NODE) test/modules/delegation/main.ts $(ARGS)

requirements: gen
	@exec $(NODE) test/chain/requirements.ts $(ARGS)

replicas: gen
	@exec $(NODE) test/replicas/main.ts $(ARGS)
replicas: export SYSTEM_PATH := $(SYSTEM_PATH)

statesync: gen
	@exec $(NODE) test/e2e/statesync.ts $(ARGS)

supply-chain: $(INSTALLED)
	@exec $(NODE) test/tidy/supplyChain.ts $(ARGS)

sbom: $(INSTALLED)
	@exec $(NODE) tools/sbom.ts $(ARGS)
sbom: export PATH := $(SYSTEM_PATH)

bench-page: gen
	@exec $(NODE) bench/page.ts $(ARGS)

bench: gen
	@exec $(NODE) bench/main.ts $(ARGS)

stress: gen
	@exec $(NODE) test/stress/main.ts $(ARGS)

reliability: gen
	@exec $(NODE) test/reliability/main.ts $(ARGS)

matrix: gen
	@exec $(NODE) tools/matrix.ts $(ARGS)

docs: $(INSTALLED)
	@exec $(NODE) tools/docs.ts $(ARGS)
docs: export SYSTEM_PATH := $(SYSTEM_PATH)

# docker-compose 1.29 or the plugin of today's docker, whichever is there.
COMPOSE = $$(command -v docker-compose || echo docker compose)

up:
	@docker image inspect svcd >/dev/null 2>&1 || echo 'The first build compiles CometBFT, which takes some minutes.'
	@$(COMPOSE) up -d --build

down:
	@$(COMPOSE) down

test-containers: gen
	@exec $(NODE) test/containers/run.ts

clean:
	@rm -rf node_modules src/*/gen src/*/*/gen dist coverage
