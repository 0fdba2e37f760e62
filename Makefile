# Needs only python3 (3.11 or later); everything is installed into .venv, and data is kept in var.
PYTHON ?= python3
VENV ?= .venv
PY := $(VENV)/bin/python
# Exactly what locks/ names, down to the hash of each file. Python compiles what is imported, when it is.
INSTALL = install --quiet --disable-pip-version-check --no-compile --require-hashes --requirement
# Plain http, for this machine only; deployments leave HTTPS on (docs/deployment.md).
export ALIGNMENTER_HTTPS ?= off

.PHONY: run test check alignmenter bench bench-pii chaos load setup format docs messages lock audit sbom clean

run: $(VENV)/.runs ## set up, then serve on PORT (8000); Ctrl-C ends it
	@$(PY) manage.py run

test: $(VENV)/.tests ## run every test, with its own PostgreSQL and Valkey
	@$(PY) -m tests.chromium
	$(PY) -m pytest --numprocesses 3 --dist loadgroup --no-loadscope-reorder $(ARGS)

check: $(VENV)/.tests ## format, lint of code and templates, types, migrations, deployment settings
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m djlint --lint --quiet templates
	$(PY) -m mypy
	$(PY) -m scripts.documents --check
	ALIGNMENTER_HTTPS=on $(PY) manage.py check --deploy --fail-level WARNING
	$(PY) -W ignore::RuntimeWarning manage.py makemigrations --check --dry-run

bench: $(VENV)/.tests ## run all benchmarks in 40 minutes, or ARGS="import export" at full size; QUICK=1 for small sizes
	$(PY) -m benchmarks $(if $(QUICK),--quick) $(ARGS)

bench-pii: $(VENV)/.tests ## measure missed and over-scrubbed values on the annotated files of DATA
	$(PY) -m benchmarks.bench_pii $(if $(DATA),--data $(DATA)) $(ARGS)

chaos: $(VENV)/.tests ## kill every process many times (KILLS, SEED) while people and jobs work; count losses
	$(PY) -m scripts.chaos $(if $(KILLS),--kills $(KILLS)) $(if $(SEED),--seed $(SEED)) $(ARGS)

load: $(VENV)/.tests ## 50 annotators and 10 readers for three minutes (MINUTES): the time of each page
	$(PY) -m scripts.load $(if $(MINUTES),--minutes $(MINUTES)) $(ARGS)

setup: $(VENV)/.tests ## install everything for development into .venv

alignmenter: $(VENV)/alignmenter/.installed ## install Alignmenter itself into .venv/alignmenter, to evaluate with it

format: $(VENV)/.tests ## format the files for `make check`
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

docs: $(VENV)/.tests ## write the parts of docs/ that say what the code says: packages, commands, routes
	@$(PY) -m scripts.documents

MESSAGES = manage.py makemessages --all --no-wrap --no-obsolete \
	--add-location file --ignore .venv --ignore tests --ignore var
messages: $(VENV)/.tests ## collect strings into locale/ and compile the translations; needs GNU gettext
	$(PY) $(MESSAGES)
	$(PY) $(MESSAGES) --domain djangojs
	$(PY) manage.py compilemessages --ignore .venv --ignore var

lock: $(VENV)/.tests ## write locks/ anew from requirements*.txt; UPGRADE=1 raises what they leave open
	$(LOCK) requirements-dev.txt --output-file locks/dev.txt
	$(LOCK) requirements.txt --constraint locks/dev.txt --output-file locks/run.txt
	$(LOCK) requirements-s3.txt --constraint locks/dev.txt --output-file locks/s3.txt
	$(LOCK) requirements-onnx.txt --constraint locks/dev.txt --output-file locks/onnx.txt
	$(LOCK) requirements-parquet.txt --constraint locks/dev.txt --output-file locks/parquet.txt
	$(LOCK) requirements-peers.txt --no-deps --output-file locks/peers.txt
	$(LOCK) requirements-alignmenter.txt --output-file locks/alignmenter.txt

audit: $(VENV)/.tests ## known vulnerabilities of what is installed, and insecure code
	$(PY) -m scripts.audit

sbom: $(VENV)/.tests ## write sbom.json (CycloneDX): what the application runs with, with licenses
	rm -rf $(VENV)/sbom && $(PY) -m venv --without-pip $(VENV)/sbom
	$(PY) -m pip --python $(VENV)/sbom/bin/python $(INSTALL) locks/run.txt
	$(PY) -W ignore -m cyclonedx_py environment --output-reproducible --pyproject pyproject.toml \
		--mc-type application --output-file sbom.json $(VENV)/sbom/bin/python
	rm -rf $(VENV)/sbom

# One resolution, of everything that can be installed together, for Linux and macOS and Python 3.11 or later.
LOCK = $(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--annotation-style line --custom-compile-command "make lock" $(if $(UPGRADE),--upgrade)

$(VENV)/.runs: locks/run.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or later is needed; name one: make PYTHON=python3.12 …"; exit 1; }
	@echo "Setting up $(VENV) …"
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@$(PY) -m pip $(INSTALL) locks/run.txt
	@touch $@

$(VENV)/.tests: locks/dev.txt locks/peers.txt $(VENV)/.runs $(VENV)/alignmenter/.installed
	@$(PY) -m pip $(INSTALL) locks/dev.txt
	@$(PY) -m pip $(INSTALL) locks/peers.txt --no-deps
	@touch $@

# Alignmenter itself, which tests run on our files: apart, because it needs an older openai.
$(VENV)/alignmenter/.installed: locks/alignmenter.txt $(VENV)/.runs
	@test -x $(@D)/bin/python || $(PY) -m venv $(@D)
	@$(@D)/bin/python -m pip $(INSTALL) locks/alignmenter.txt
	@touch $@

clean: ## remove .venv; the data in var stays
	rm -rf $(VENV)
