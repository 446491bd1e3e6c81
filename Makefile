# Everything that one does here, with its own set-up: Python 3.11 or newer and make are enough.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PYTEST := $(BIN)/python -m pytest --numprocesses auto --dist worksteal
PLAIN := NUMBA_DISABLE_JIT=1 $(PYTEST)
FAILED := { echo "tests failed (above); the second stage, those with compiled kernels, was not run"; exit 1; }
# Where tests marked compiled or plain are: to collect these takes 5 CPU seconds of each worker, all of them 19.
ENGINE := tests/engine tests/kernels

# Without Python's own cache of what it has read, every worker makes ten CPU seconds of work again each time that tests
# are collected, and every program that a test starts one more: so it is kept, also where the host says otherwise.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test quick rest test-all tiers tests-of lint types types-of-tests docs fuzz bench coverage clean

ifeq (tests-of,$(firstword $(MAKECMDGOALS)))
FILES := $(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS))
.PHONY: $(FILES)
$(FILES): ;@:
endif

demo: .venv/package ## replay a generated workload under nine schedulers
	@echo "replaying 10,000 generated jobs under nine schedulers; the first time takes longer: kernels are compiled, once"
	@$(BIN)/schedlab demo
	@echo "the program is $(BIN)/schedlab; to call it schedlab: source $(BIN)/activate"

test: lint ## lint, types, and the quick tests; those that need real traces are skipped without them
	@$(MAKE) --no-print-directory --jobs 2 types quick

# With the kernels as plain Python nothing is compiled, which would take most of the time.
quick: .venv/dev ## the quick tests: each takes at most half a CPU second, but those of the whole tree
	@$(PLAIN) -m "not compiled and not slow" || $(FAILED)
	@$(PYTEST) -m "compiled and not slow" $(ENGINE)

# Half of it is compilation, which takes a fifth less where LLVM optimises less; running takes up to 18 % longer then.
# Tests keep all processors busy, so that no part of a kernel is optimised beside the rest (NUMBA_NUM_THREADS).
rest: .venv/dev ## the slow tests, and with compiled kernels the quick ones of packages that have some
	@$(PLAIN) -m "plain and slow" $(ENGINE) || $(FAILED)
	@NUMBA_OPT=1 NUMBA_NUM_THREADS=1 $(PYTEST) -m "(slow and not plain) or both"

test-all: test rest ## all tests

tiers: .venv/dev ## record which tests are slow, in tests/tiers/slow_tests.txt
	@SCHEDLAB_RECORD_SLOW=1 $(PLAIN) -m "not compiled and not slow"

tests-of: .venv/dev ## the tests that belong to a change, by imports: make tests-of src/schedlab/engine/loop.py; slow=yes: all
	@tests=$$($(BIN)/python tests/belonging.py $(FILES)) && \
	    $(PLAIN) -m "not compiled and $(if $(slow),(plain or not slow),not slow)" $$tests || [ $$? = 5 ]
	@$(PYTEST) -m "$(if $(slow),compiled or both or (slow and not plain),compiled and not slow)" $$($(BIN)/python tests/belonging.py $(FILES)) || [ $$? = 5 ]

lint: .venv/dev
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --quiet --check

types: .venv/dev
	@$(BIN)/mypy --no-error-summary

types-of-tests: .venv/dev ## also of the tests, slow ones included: names, attributes and arguments that are not there
	@$(BIN)/mypy --no-error-summary src tests

docs: .venv/dev ## the documentation as HTML in docs/_build
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going docs docs/_build

fuzz: .venv/dev ## 20,000 harmed inputs, each with a result or one sentence; 50,000 simulations of engine and reference
	@$(BIN)/python tests/fuzz/fuzzer.py --cases 10000
	@NUMBA_DISABLE_JIT=1 $(BIN)/python tests/fuzz/fuzzer.py --cases 10000
	@NUMBA_DISABLE_JIT=1 $(BIN)/python tests/engine/engine_fuzzer.py --cases 50000

bench: .venv/package ## the benchmarks; each checks its answer as well as its time
	@$(BIN)/python benchmarks/run.py

coverage: .venv/dev ## which lines the quick tests reach, in htmlcov/
	@$(PLAIN) -m "not compiled and not slow" --cov --cov-report=
	@$(PYTEST) -m "compiled and not slow" $(ENGINE) --cov --cov-append --cov-report=term:skip-covered --cov-report=html

clean: ## forget the environment and everything that can be made again
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis docs/_build demo htmlcov .coverage

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "schedlab needs Python 3.11 or newer, but $(PYTHON) is not: make PYTHON=python3.12"; exit 1; }
	@echo "setting up .venv, once: NumPy, SciPy, Numba and others are downloaded, which takes minutes"
	@$(PYTHON) -m venv .venv

# Python compiles a module when it is first imported; pip would compile all, of which a quarter is ever imported.
.venv/package: pyproject.toml | .venv/bin/python
	@$(PIP) install --no-compile --editable .
	@touch $@

.venv/dev: pyproject.toml | .venv/bin/python
	@$(PIP) install --no-compile --editable ".[dev]"
	@touch .venv/package $@
