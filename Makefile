# Everything works with nothing but python3 (3.11 or later) on the machine; all goes into .venv and var.
PYTHON ?= python3
VENV ?= .venv
PY := $(VENV)/bin/python
# Plain http on this machine only; a deployment leaves it on (docs/deployment.md).
export ALIGNMENTER_HTTPS ?= off

.PHONY: run test check bench bench-pii setup format clean

run: $(VENV)/.runs ## set up, then serve on PORT (8000); Ctrl-C ends it
	@$(PY) manage.py run

test: $(VENV)/.tests ## every test, against PostgreSQL and Valkey of its own
	@$(PY) -m tests.chromium
	$(PY) -m pytest --numprocesses 3 --maxschedchunk 1 $(ARGS)

check: $(VENV)/.tests ## format, lint, types, migrations, deployment settings
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	ALIGNMENTER_HTTPS=on $(PY) manage.py check --deploy --fail-level WARNING
	$(PY) -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

bench: $(VENV)/.tests ## every benchmark; each prints its ratio to a baseline of the same run
	@for file in benchmarks/bench_*.py; do \
		echo "== $$file"; $(PY) -m benchmarks.$$(basename $$file .py) || exit 1; done

bench-pii: $(VENV)/.tests ## leak and over-scrubbing on the marked corpora of DATA (../shared/pii)
	$(PY) -m benchmarks.bench_pii $(if $(DATA),--data $(DATA)) $(ARGS)

setup: $(VENV)/.tests ## install all that development needs into .venv

format: $(VENV)/.tests ## rewrite the files as `make check` wants them
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

clean: ## remove .venv; var, with the data, stays
	rm -rf $(VENV)
