# make demo, make test: the two commands of README.md. Everything else is for work on xref itself.
SHELL := /bin/bash
.DEFAULT_GOAL := help

# Where the Python environment goes; DB and TREE choose another index or tree for demo and bench.
VENV ?= .venv
DB ?= data/xref.db
TREE ?=
JOBS ?= auto

PYTHON := $(VENV)/bin/python
INPUTS := pyproject.toml scripts/bootstrap xref/system_packages.txt

.PHONY: help demo test check format bench clean FORCE

help: ## what the targets do
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1	\2/p' $(MAKEFILE_LIST) | expand -t 16

demo: $(VENV)/.run ## get a real TVM, index it, record a run, ask, build the site (the second time: seconds)
	@$(PYTHON) -m xref.demo --db $(DB)

test: $(VENV)/.dev ## run the tests
	@$(PYTHON) -m pytest -n $(JOBS)

check: $(VENV)/.dev ## formatter, linter, types and tests: all that a change must pass
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m mypy
	@$(PYTHON) -m pytest -n $(JOBS)

format: $(VENV)/.dev ## rewrite the code as the formatter wants it
	@$(PYTHON) -m ruff check --fix .
	@$(PYTHON) -m ruff format .

bench: $(VENV)/.dev ## time and memory against clangd on the same files; TREE=path for another tree
	@$(PYTHON) bench/run.py $(TREE)
	@[ ! -f site/index.html ] || $(PYTHON) bench/site.py site

clean: ## remove the environment, indexes, the site and build output (downloads stay in the cache)
	@rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis bench/results
	@find data site -mindepth 1 ! -name README.md -delete
	@find . -name __pycache__ -not -path './.git/*' -prune -exec rm -rf {} +

# Stamps inside the environment: they go when it goes, and are older than what they were made from after a change. One
# whose Python no longer runs (an upgraded system) is made anew.
ifneq ($(shell $(PYTHON) -c 'import xref' >/dev/null 2>&1 || echo gone),)
$(VENV)/.run $(VENV)/.dev: FORCE
endif
FORCE:

$(VENV)/.run: $(INPUTS)
	@scripts/bootstrap $(VENV)
	@touch $@

$(VENV)/.dev: $(INPUTS)
	@scripts/bootstrap $(VENV) dev
	@touch $(VENV)/.run $@
