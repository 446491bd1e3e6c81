# Everything that one does here, with its own set-up: Python 3.11 or newer and make are enough.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal

.PHONY: demo test quick lint types docs fuzz bench coverage clean

demo: .venv/package ## replay a generated workload under nine schedulers
	@echo "replaying 10,000 generated jobs under nine schedulers; the first time takes longer: kernels are compiled, once"
	@$(BIN)/schedlab demo
	@echo "the program is $(BIN)/schedlab; to call it schedlab: source $(BIN)/activate"

test: lint types ## lint, types, and all tests; those that need the real traces are skipped without them
	@$(PYTEST) -m "slow or not slow"

quick: lint types ## the same without the slow tests
	@$(PYTEST)

lint: .venv/dev
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --quiet --check

types: .venv/dev
	@$(BIN)/mypy --no-error-summary

docs: .venv/dev ## the documentation as HTML in docs/_build
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going docs docs/_build

fuzz: .venv/dev ## 20,000 harmed inputs; each must end with a result or with one sentence (twenty minutes of one core)
	@$(BIN)/python tests/fuzz/fuzzer.py --cases 10000
	@NUMBA_DISABLE_JIT=1 $(BIN)/python tests/fuzz/fuzzer.py --cases 10000

bench: .venv/package ## the benchmarks; each checks its answer as well as its time
	@$(BIN)/python benchmarks/run.py

coverage: .venv/dev ## which lines the quick tests reach, in htmlcov/; lines within compiled kernels are not seen
	@$(PYTEST) --cov --cov-report=term:skip-covered --cov-report=html

clean: ## forget the environment and everything that can be made again
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis docs/_build demo htmlcov .coverage

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "schedlab needs Python 3.11 or newer, but $(PYTHON) is not: make PYTHON=python3.12"; exit 1; }
	@echo "setting up .venv, once: NumPy, SciPy, Numba and others are downloaded, which takes minutes"
	@$(PYTHON) -m venv .venv

.venv/package: pyproject.toml | .venv/bin/python
	@$(PIP) install --editable .
	@touch $@

.venv/dev: pyproject.toml | .venv/bin/python
	@$(PIP) install --editable ".[dev]"
	@touch .venv/package $@
