# One entry for everything. `make demo` and `make test` need nothing prepared but Python 3.11 or newer.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= auto

.PHONY: setup setup-dev demo up test test-long lint types imports check format lock clean

setup: $(VENV)/.runtime
setup-dev: $(VENV)/.dev

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; this is " + sys.version) if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runtime: $(BIN)/python requirements.lock pyproject.toml
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@

$(VENV)/.dev: $(BIN)/python requirements-dev.lock pyproject.toml
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-dev.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $@ $(VENV)/.runtime

demo: setup
	$(BIN)/sci-rag demo

up: setup
	$(BIN)/sci-rag up

test: setup-dev
	$(BIN)/python -m pytest -m "not long" -n $(WORKERS) --dist loadgroup

test-long: setup-dev
	$(BIN)/python -m pytest -m long

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

check: lint types imports
	$(BIN)/python manage.py makemigrations --check --dry-run

# Resolve again, with a week between a release and its use here.
lock:
	uv pip compile pyproject.toml -q --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --exclude-newer "$$(date -d '7 days ago' +%F)" -o requirements.lock
	uv pip compile pyproject.toml -q --universal --python-version 3.11 --extra dev --generate-hashes --no-annotate --no-header --exclude-newer "$$(date -d '7 days ago' +%F)" -c requirements.lock -o requirements-dev.lock

clean:
	rm -rf $(VENV) var
