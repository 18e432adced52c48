# Everything runs in .venv, which the first target that needs it creates.

PYTHON ?= python3
BIN := .venv/bin
# The Borlange data: a folder, or empty for the cache that `boirl data` fills.
DATA ?= $(wildcard ../shared/borlange)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
INSTALLED := .venv/.installed

.PHONY: help demo test lint format bench experiments roads clean

help:
	@echo "make demo         search on Gridworld; a table, and pictures in demo/"
	@echo "make test         lint and tests (a few minutes)"
	@echo "make lint         ruff and mypy"
	@echo "make format       rewrite the source as ruff formats it"
	@echo "make bench        time and its split, into results/bench/"
	@echo "make experiments  the comparison on Gridworld, into results/ (fifteen minutes)"
	@echo "make roads        the comparison and the real trips of Borlange, into results/ (half an hour)"
	@echo ""
	@echo "The Borlange data come from the cache (boirl data borlange --from ...), or from a folder:"
	@echo "make roads DATA=folder"

$(INSTALLED): pyproject.toml constraints.txt
	@echo "setting up .venv (a minute or two the first time)"
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; name one with: make PYTHON=python3.11")'
	@$(PYTHON) -m venv .venv
	@$(PIP) torch==2.13.0
	@$(PIP) --editable ".[rl,dev]"
	@touch $@

demo: $(INSTALLED)
	$(BIN)/boirl run gridworld --evaluations 30 --initial hard --seed 0 --out demo

test: lint
	$(BIN)/python -m pytest --numprocesses 2

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(INSTALLED)
	$(BIN)/python benchmarks/gridworld_speed.py --out results/bench
	$(BIN)/python benchmarks/roads_speed.py --out results/bench $(if $(DATA),--data $(DATA))
	$(BIN)/python benchmarks/roads_growth.py --out results/bench

experiments: $(INSTALLED)
	$(BIN)/boirl experiment gridworld-efficiency --trials 50 --out results/gridworld-efficiency

roads: $(INSTALLED)
	$(BIN)/boirl experiment borlange-search --out results/borlange-search $(if $(DATA),--data $(DATA))
	$(BIN)/boirl experiment borlange-trips --out results/borlange-trips $(if $(DATA),--data $(DATA))

clean:
	rm -rf .venv demo results .pytest_cache .mypy_cache .ruff_cache .hypothesis
