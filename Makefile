# One entry for everything. `make demo` and `make test` need nothing prepared but Python 3.11 or newer.
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input install --quiet --no-deps
# Tests start hundreds of processes, none of which should compile everything anew.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest

.PHONY: help setup setup-dev demo up test test-long lint types imports migrations deployable tree benchmarks screenshots check format lock clean

help:
	@echo "make demo      set everything up, load the demo corpus, answer a question, serve the site"
	@echo "make up        the site and its worker, without the demo"
	@echo "make test      the tests; make test-long those that take long"
	@echo "make check     style, types, imports, migrations, production settings, tracked files"
	@echo "make format    put the style right"
	@echo "make clean     remove the environment and everything kept in var/"

setup: $(VENV)/.runtime
setup-dev: $(VENV)/.dev

# A half-made environment is removed, so that the next try begins anew.
$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed and was not found: install it, or name it with 'make PYTHON=/path/to/python ...'." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; this is " + sys.version.split()[0] + ". Name another with: make PYTHON=/path/to/python ..." if sys.version_info < (3, 11) else 0)'
	@echo "Making the environment in $(VENV) ..."
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.runtime: $(BIN)/python requirements.lock pyproject.toml
	@echo "Installing the packages of requirements.lock (about 200 MB to download the first time) ..."
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-build-isolation -e .
	@touch $@

$(VENV)/.dev: $(BIN)/python requirements-dev.lock pyproject.toml
	@echo "Installing the packages of requirements-dev.lock ..."
	@$(PIP) --require-hashes -r requirements-dev.lock
	@$(PIP) --no-build-isolation -e .
	@touch $@ $(VENV)/.runtime

demo: setup
	$(BIN)/sci-rag demo

up: setup
	$(BIN)/sci-rag up

test: setup-dev
	$(PYTEST) -m "not long" -n $(WORKERS) --dist loadgroup

test-long: setup-dev
	$(PYTEST) -m long --timeout 0

lint: setup-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: setup-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: setup-dev
	$(BIN)/mypy sci_rag_site corpus retrieval answers evaluation

imports: setup-dev
	$(BIN)/lint-imports

migrations: setup-dev
	$(BIN)/python manage.py makemigrations --check --dry-run

# The settings of a public site, with nothing left that Django would warn of.
deployable: setup-dev
	env DATABASE_URL=postgres://site@db.example.org/site ALLOWED_HOSTS=papers.example.org \
		SECRET_KEY="$$($(BIN)/python -c 'import secrets; print(secrets.token_urlsafe(64))')" \
		$(BIN)/python manage.py check --deploy --fail-level WARNING

tree: setup-dev
	$(BIN)/python .ci/tree.py

benchmarks: setup-dev
	$(BIN)/python -m benchmarks --fast

# The pictures of docs/tutorials, from a site of their own. Needs chromium.
screenshots: setup-dev
	$(BIN)/python -m docs.screenshots

check: lint types imports migrations deployable tree

# Resolve again, with a week between a release and its use here.
lock:
	uv pip compile pyproject.toml -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --exclude-newer "$$(date -d '7 days ago' +%F)" -o requirements.lock
	uv pip compile pyproject.toml -q --universal --python-version 3.11 --extra dev --extra docling --generate-hashes --no-annotate --no-header --exclude-newer "$$(date -d '7 days ago' +%F)" -c requirements.lock -o requirements-dev.lock

clean:
	rm -rf $(VENV) var
