# Two commands: `make demo` and `make test`. Each sets up what it needs by itself, and is quick when that is there: the demo a
# small environment of its own (.venv-demo), unless there is the one with the development tools (.venv).
PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
READY := .venv/.ready
# What is imported is compiled once and kept, wherever the environment says otherwise: hundreds of processes import it.
export PYTHONDONTWRITEBYTECODE =
DEMO := $(if $(wildcard $(READY)),.venv,.venv-demo)

.PHONY: demo test lint types unit slow attack benchmark clean

demo: $(DEMO)/.ready
	@mkdir -p demo
	$(DEMO)/bin/dtg demo --out demo
	$(DEMO)/bin/dtg inspect "There is a difference" --heads "2 0 4 2" --family dtg --draw demo/mask.svg --draw demo/mask.png

# The first two side by side, with what each prints in one piece.
test: $(READY)
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint types
	@$(MAKE) --no-print-directory unit
	@$(MAKE) --no-print-directory slow

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

types: $(READY)
	$(BIN)/mypy

# Two test processes of one thread each: threads that wait for each other's cores are slower than none.
unit slow: export OMP_NUM_THREADS = 1
unit: $(READY)
	$(BIN)/pytest -m "not slow" -n 2 --dist worksteal --durations=5

# Only the files that have slow ones are imported.
slow: $(READY)
	$(BIN)/pytest -m slow -n 2 --dist worksteal --durations=5 $$(grep -rl --include="test_*.py" "mark\.slow" tests)

# Inputs that nobody means, kills, full disks, two writers; docs/robustness.md has the table of the last run.
MINUTES ?= 30
SEED ?= 1
attack: export OMP_NUM_THREADS = 1
attack: $(READY)
	$(BIN)/python -m tools.attack --minutes $(MINUTES) --seed $(SEED)

benchmark: $(READY)
	$(BIN)/python -m benchmarks.rows
	$(BIN)/python -m benchmarks.attention
	$(BIN)/python -m benchmarks.training

# PIP_CONSTRAINT reaches the build environment too, so that nothing is picked freely there. Of what is installed only a part is
# ever imported, and compiled then.
$(READY): pyproject.toml constraints.txt
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dtg needs Python 3.11 or newer; this is " + sys.version.split()[0])'
	"$(PYTHON)" -m venv --clear .venv
	PIP_CONSTRAINT="$(CURDIR)/constraints.txt" $(BIN)/pip install --quiet --no-compile --disable-pip-version-check --editable ".[dev]"
	@touch $(READY)

.venv-demo/.ready: pyproject.toml constraints.txt
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dtg needs Python 3.11 or newer; this is " + sys.version.split()[0])'
	"$(PYTHON)" -m venv --clear .venv-demo
	PIP_CONSTRAINT="$(CURDIR)/constraints.txt" .venv-demo/bin/pip install --quiet --no-compile --disable-pip-version-check --editable ".[draw]"
	@touch $@

clean:
	rm -rf .venv .venv-demo demo
