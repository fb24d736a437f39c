# Every target works on a fresh clone: python3 (3.11 or newer) and make are all it needs.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: demo test check format bench slow interop browser
.DEFAULT_GOAL := test

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Gapless needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Set PYTHON=/path/to/python3.11.") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,film]'
	@touch $@

demo: $(READY)  ## three cranks on the built-in cart-pole, a table and a report page
	$(BIN)/gapless demo

test: $(READY)  ## the tests that need nothing but this machine
	$(BIN)/python -m pytest -n auto --dist loadfile

check: $(READY)  ## format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY)  ## a first look at the main benchmarks
	$(BIN)/python -m pip install --quiet torch==2.13.0 && $(BIN)/python -m pip install --quiet --editable '.[bench]'
	for b in identify throughput compiled transfer kill safety first_crank preflight attribution excite real; do $(BIN)/python benchmarks/$$b.py --quick || exit 1; done

interop: $(READY)  ## other tools read what we write and train in our worlds; see docs/logs.md and docs/envs.md for what it wants
	$(BIN)/python -m pytest -m interop

slow: $(READY)  ## tests that take longer
	$(BIN)/python -m pytest -m slow

browser: $(READY)  ## the pages in headless Chromium, which it installs where there is none
	scripts/install-chromium
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[browser,film]'
	$(BIN)/python -m pytest -n 0 -m browser tests/browser
