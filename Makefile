# Everything that one does here, with its own set-up: Python 3.11 or newer and make are enough.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal
PLAIN := NUMBA_DISABLE_JIT=1 $(PYTEST)
# where tests are that run with the kernels as plain Python: see tests/conftest.py
PLAIN_TESTS := tests/engine

.PHONY: demo test rest test-all tests-of lint types docs fuzz bench coverage clean

ifeq (tests-of,$(firstword $(MAKECMDGOALS)))
FILES := $(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS))
.PHONY: $(FILES)
$(FILES): ;@:
endif

demo: .venv/package ## replay a generated workload under nine schedulers
	@echo "replaying 10,000 generated jobs under nine schedulers; the first time takes longer: kernels are compiled, once"
	@$(BIN)/schedlab demo
	@echo "the program is $(BIN)/schedlab; to call it schedlab: source $(BIN)/activate"

test: lint types ## lint, types, and the tests that find most faults; those that need real traces are skipped without them
	@$(PLAIN) -m "plain and not slow" $(PLAIN_TESTS)
	@$(PYTEST) -m "not plain and not slow"

rest: .venv/dev ## the slow tests: real traces at full size, or minutes of work
	@$(PYTEST) -m slow

test-all: test rest ## all tests

tests-of: .venv/dev ## the tests that belong to a change, by imports: make tests-of src/schedlab/engine/parts/submission_limits/kernels.py
	@tests=$$($(BIN)/python tests/belonging.py $(FILES)) && $(PLAIN) -m "plain and not slow" $$tests || [ $$? = 5 ]
	@$(PYTEST) -m "not plain and not slow" $$($(BIN)/python tests/belonging.py $(FILES)) || [ $$? = 5 ]

lint: .venv/dev
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --quiet --check

types: .venv/dev
	@$(BIN)/mypy --no-error-summary

docs: .venv/dev ## the documentation as HTML in docs/_build
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going docs docs/_build

fuzz: .venv/dev ## 20,000 harmed inputs, each with a result or one sentence; 50,000 simulations of engine and twin
	@$(BIN)/python tests/fuzz/fuzzer.py --cases 10000
	@NUMBA_DISABLE_JIT=1 $(BIN)/python tests/fuzz/fuzzer.py --cases 10000
	@NUMBA_DISABLE_JIT=1 $(BIN)/python tests/engine/engine_fuzzer.py --cases 50000

bench: .venv/package ## the benchmarks; each checks its answer as well as its time
	@$(BIN)/python benchmarks/run.py

coverage: .venv/dev ## which lines make test reaches, in htmlcov/; those of kernels only where they run as plain Python
	@$(PLAIN) -m "plain and not slow" --cov --cov-report= $(PLAIN_TESTS)
	@$(PYTEST) -m "not plain and not slow" --cov --cov-append --cov-report=term:skip-covered --cov-report=html

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
