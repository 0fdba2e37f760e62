# Needs only python3 (3.11 or later); everything is installed into .venv, and data is kept in var.
PYTHON ?= python3
VENV ?= .venv
PY := $(VENV)/bin/python
# Plain http, for this machine only; deployments leave HTTPS on (docs/deployment.md).
export ALIGNMENTER_HTTPS ?= off

.PHONY: run test check bench bench-pii setup format clean

run: $(VENV)/.runs ## set up, then serve on PORT (8000); Ctrl-C ends it
	@$(PY) manage.py run

test: $(VENV)/.tests ## run every test, with its own PostgreSQL and Valkey
	@$(PY) -m tests.chromium
	$(PY) -m pytest --numprocesses 3 --maxschedchunk 1 $(ARGS)

check: $(VENV)/.tests ## format, lint of code and templates, types, migrations, deployment settings
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m djlint --lint --quiet templates
	$(PY) -m mypy
	ALIGNMENTER_HTTPS=on $(PY) manage.py check --deploy --fail-level WARNING
	$(PY) -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

bench: $(VENV)/.tests ## run every benchmark; each compares with a baseline of the same run
	@for file in benchmarks/bench_*.py; do \
		echo "== $$file"; $(PY) -m benchmarks.$$(basename $$file .py) || exit 1; done

bench-pii: $(VENV)/.tests ## measure missed and over-scrubbed values on the annotated files of DATA
	$(PY) -m benchmarks.bench_pii $(if $(DATA),--data $(DATA)) $(ARGS)

setup: $(VENV)/.tests ## install everything for development into .venv

format: $(VENV)/.tests ## format the files for `make check`
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

$(VENV)/.runs: requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed; name one: make PYTHON=python3.12 …"; exit 1; }
	@echo "Setting up $(VENV) …"
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@$(PY) -m pip install --quiet --disable-pip-version-check --requirement requirements.txt
	@touch $@

$(VENV)/.tests: requirements-dev.txt requirements-peers.txt $(VENV)/.runs
	@$(PY) -m pip install --quiet --disable-pip-version-check --requirement requirements-dev.txt
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --requirement requirements-peers.txt
	@touch $@

clean: ## remove .venv; the data in var stays
	rm -rf $(VENV)
