# make app    set up once, then open the app in the browser
# make test   set up once, then run all tests
# make quick  set up once, then run the folders of tests that start no process, in about a minute
# make test-rivals   also install the packages of other methods, then run the tests of the methods
# make env    only set up: a virtual environment in .venv with everything installed
# make lint   check the style and the types
# make audit  check the installed packages for known vulnerabilities (asks a server on the internet)

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed
PYTHON ?=
PYTEST_ARGS ?=

.PHONY: help env app test quick test-rivals lint audit browser clean

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

env: $(STAMP)
	@:

# Reinstalled whenever a requirement changes; an interrupted install leaves no stamp, so it starts again.
$(STAMP): requirements.txt requirements-test.txt pyproject.toml
	@if ! $(PY) -m pip --version >/dev/null 2>&1; then \
	  python="$(PYTHON)"; \
	  if [ -z "$$python" ]; then \
	    for name in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	      if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then python=$$name; break; fi; \
	    done; \
	  fi; \
	  if [ -z "$$python" ]; then \
	    echo "Python 3.11 or newer was not found: install it, or name it, as in 'make env PYTHON=/path/to/python3'." >&2; exit 1; \
	  fi; \
	  if ! "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    echo "$$python is missing or older than Python 3.11: name another, as in 'make env PYTHON=/path/to/python3'." >&2; exit 1; \
	  fi; \
	  if ! "$$python" -c 'import venv, ensurepip' 2>/dev/null; then \
	    echo "$$python cannot make virtual environments: install its venv module (Debian, Ubuntu: sudo apt install python3-venv)." >&2; exit 1; \
	  fi; \
	  echo "Making the virtual environment $(VENV) with $$("$$python" --version)."; \
	  "$$python" -m venv --clear $(VENV) || { echo "The virtual environment could not be made in $(VENV): see the lines above." >&2; exit 1; }; \
	fi
	@echo "Installing the requirements into $(VENV); the first time this takes some minutes."
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt -r requirements-test.txt \
	  || { echo "The requirements could not be installed: see the lines above. Is the network reachable, and is there 3 GB of disk?" >&2; exit 1; }
	@$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --editable . \
	  || { echo "The package itself could not be installed: see the lines above." >&2; exit 1; }
	@touch $(STAMP)

app: env
	@$(PY) -m disco app

# Two processes with one thread each, since fits in the tests run beside a server and a browser, often on two cores.
# Bytecode is kept, or every process that a test starts would compile the engine's sources anew.
test: env browser
	@PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=$${OMP_NUM_THREADS:-1} OMP_WAIT_POLICY=PASSIVE $(PY) -m pytest -n 2 --dist loadfile $(PYTEST_ARGS)

# In these folders a test that starts a process fails (`tests/conftest.py`).
QUICK := $(addprefix tests/,knowledge graph metrics simulate linear figures studies)
quick: env
	@QUICK=1 OMP_NUM_THREADS=1 $(PY) -m pytest -q -n 2 --dist loadfile $(QUICK) $(PYTEST_ARGS)

# They are large and old, so `make test` goes without and skips their tests.
test-rivals: env
	@$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-rivals.txt
	@OMP_NUM_THREADS=1 $(PY) -m pytest -n 2 --dist loadfile tests/methods tests/pages/test_pages_compare.py

# Without a browser, and without permission to install one, the browser tests are skipped and say so; in CI they fail.
browser:
	@for name in "$${CHROME:-}" chromium chromium-browser google-chrome google-chrome-stable; do \
	  if [ -n "$$name" ] && command -v "$$name" >/dev/null 2>&1; then exit 0; fi; \
	done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  echo "No browser found: installing Chromium for the browser tests."; \
	  if apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; then exit 0; fi; \
	fi; \
	echo "No Chromium or Chrome was found and none could be installed: the browser tests cannot run." \
	  "Install one, or name it in CHROME=/path/to/chromium."

lint: env
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check .
	@for system in linux darwin win32; do $(PY) -m mypy --platform $$system; done

audit: env
	@$(PY) -m pip install --quiet --disable-pip-version-check pip-audit
	@$(PY) -m pip_audit --strict -r requirements.txt -r requirements-cluster.txt -r requirements-openid.txt

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .ruff_cache .mypy_cache
