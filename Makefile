# Everything a fresh machine needs beyond git, make and Python 3.11+ is set up by the targets themselves.

VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
UV := $(shell command -v uv 2>/dev/null)
DEMO := demo
PYTEST_ARGS ?=
# One more than there are processors, since some tests wait for other processes.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)
DATA ?=

# A test run starts hundreds of processes, each of which would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo test check format lint type imports schemas docs bench clean lock

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 20

install: $(VENV)/.dev ## .venv with everything, ready for .venv/bin/graph-research

demo: $(VENV)/.run ## one research over examples/library: no key, no network, no server
	@rm -rf $(DEMO)
	@GRAPH_RESEARCH_HOME=$(DEMO)/home $(BIN)/graph-research run "$$(cat examples/question.txt)" \
		--llm extractive --search local --library examples/library --out $(DEMO) --run-id demo --now 2026-01-01T00:00:00Z
	@GRAPH_RESEARCH_HOME=$(DEMO)/home $(BIN)/graph-research verify demo
	@echo "Open $(DEMO)/report.html in a browser; $(DEMO)/report.md is the same as text."

test: $(VENV)/.dev ## the whole test suite
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(PYTEST_ARGS)

check: format lint type imports test ## format, lint, types, import contracts, tests

format: $(VENV)/.dev
	@$(BIN)/ruff format --check .

lint: $(VENV)/.dev ## ruff
	@$(BIN)/ruff check .

type: $(VENV)/.dev ## mypy, strict
	@$(BIN)/mypy

imports: $(VENV)/.dev
	@$(BIN)/lint-imports --no-cache

schemas: $(VENV)/.dev ## write the JSON Schemas that are generated from models
	@$(BIN)/python -m graph_research.research.json_schemas

requirements: $(VENV)/.dev ## write docs/reference/requirements.md from the tests' marks
	@$(BIN)/python -m tests.support.requirements

docs: $(VENV)/.dev ## check that every example and link of the docs holds
	@$(BIN)/python -m pytest -q tests/docs

bench: $(VENV)/.dev $(VENV)/bench/.done ## measure speed; with DATA=FOLDER of judged texts, quality too
	@$(BIN)/python benchmarks/everyday.py
	@PYTHONPATH=$(VENV)/bench $(BIN)/python benchmarks/engine.py
	@$(BIN)/python benchmarks/pipeline.py
	@$(BIN)/python benchmarks/kills.py
	@$(BIN)/python benchmarks/reports.py
	@$(BIN)/python benchmarks/reading.py
	@$(BIN)/python benchmarks/documents.py
	@$(BIN)/python benchmarks/features.py
	@PYTHONPATH=$(VENV)/bench $(BIN)/python benchmarks/service.py
	@$(BIN)/python benchmarks/support.py
	@if test -n "$(DATA)"; then $(BIN)/python benchmarks/evidence.py --data "$(DATA)"; \
	else echo "quality was not measured: that needs a folder of judged texts (make bench DATA=FOLDER)"; fi

clean: ## remove what the other targets made
	rm -rf $(VENV) $(DEMO) research dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

lock: ## renew requirements/*.txt (needs uv)
	uv pip compile -q pyproject.toml --group build --universal --generate-hashes --no-header --no-annotate --upgrade -o requirements/run.txt
	uv pip compile -q pyproject.toml --group dev --universal --generate-hashes --no-header --no-annotate --upgrade -c requirements/run.txt -o requirements/dev.txt
	uv pip compile -q pyproject.toml --group build --extra postgres --extra otel --universal --generate-hashes --no-header --no-annotate --upgrade -c requirements/dev.txt -o requirements/deploy.txt
	uv pip compile -q pyproject.toml --group bench --universal --generate-hashes --no-header --no-annotate --upgrade -c requirements/dev.txt -o requirements/bench.txt

$(VENV)/.run: requirements/run.txt pyproject.toml
	@$(call install_from,requirements/run.txt)
	@touch $@

$(VENV)/.dev: requirements/dev.txt pyproject.toml
	@$(call install_from,requirements/dev.txt)
	@touch $@ $(VENV)/.run

# What the engine and the queue are measured against, kept apart from what the tests see.
$(VENV)/bench/.done: requirements/bench.txt | $(VENV)/.dev
	@echo "installing requirements/bench.txt into $(VENV)/bench ..." >&2
	@if test -n "$(UV)"; then $(UV) pip install -q --python $(BIN)/python --target $(VENV)/bench --require-hashes -r $<; \
	else $(BIN)/python -m pip install -q --disable-pip-version-check --target $(VENV)/bench --upgrade --require-hashes -r $<; fi
	@touch $@

# $(1): the lock to install from. The package itself is installed in place, without looking for anything outside.
define install_from
	test -n "$(PYTHON)" || { echo "Python 3.11 or later is needed, none was found; on Debian or Ubuntu: apt-get install python3" >&2; exit 1; }; \
	test -x $(BIN)/python || $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		test "$$(id -u)" = 0 && command -v apt-get >/dev/null && apt-get update -qq && apt-get install -y -qq python3-venv >/dev/null; } || { \
		echo "this Python cannot make virtual environments; as root: apt-get install python3-venv" >&2; exit 1; }; \
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || exit 1; \
	echo "installing $(1) into $(VENV) ..." >&2; \
	if test -n "$(UV)"; then \
		$(UV) pip install -q --python $(BIN)/python --require-hashes -r $(1) && \
		$(UV) pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .; \
	else \
		$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r $(1) && \
		$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	fi
endef
