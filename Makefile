# Everything runs in .venv, which the first target that needs it creates.

PYTHON ?= python3
BIN := .venv/bin
# The Borlange data: a folder, or empty for the cache that `boirl data` fills.
DATA ?= $(wildcard ../shared/borlange)
# The records of bus engines, a CSV file, or empty.
BUS ?= $(wildcard ../shared/data/rust_bus/buses.csv)
# The recordings of mice, a folder, or empty for the cache.
LABYRINTH ?= $(wildcard ../shared/data/labyrinth)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# What a search needs, and what tests and reinforcement learning need beyond that.
INSTALLED := .venv/.installed
COMPLETE := .venv/.complete

.PHONY: help docs docs-test docs-pictures docs-numbers docs-printed browser release oldest newest demo test lint format bench bench-learning experiments roads cases learning set rivals reproduction clean

help:
	@echo "make demo         search on Gridworld; a table, and pictures in demo/"
	@echo "make test         lint and tests (a few minutes)"
	@echo "make lint         ruff, mypy and the import order"
	@echo "make format       rewrite the source as ruff formats it"
	@echo "make release      build, install in clean environments, run the demo there"
	@echo "make oldest       tests with the oldest versions of dependencies (make newest: the newest)"
	@echo "make docs         the documentation site, into docs/_build/html/"
	@echo "make docs-test    run the code of the documentation (a quarter of an hour)"
	@echo "make docs-numbers write the numbers of README and documentation from docs/results"
	@echo "make docs-printed run the examples whose output is shown, into docs/results (ten minutes)"
	@echo "make browser      install Chromium (Debian), in which the tests open the report"
	@echo "make bench        time and its split, into results/bench/"
	@echo "make experiments  the comparison on Gridworld, into results/ (fifteen minutes)"
	@echo "make bench-learning  policy optimisations against those of others (half an hour)"
	@echo "make learning     the searches in the maze and with the robot arm, into results/ (two hours)"
	@echo "make set          how much of the set of rewards searches know, into results/ (two hours)"
	@echo "make rivals       all other methods beside the search, into results/ (some hours)"
	@echo "make reproduction what docs/reproduction.md lacks of the paper (many hours; resumable)"
	@echo "make roads        the comparison and the real trips of Borlange, into results/ (half an hour)"
	@echo "make cases        bus engines and mice, into results/ (fifteen minutes)"
	@echo ""
	@echo "The Borlange data come from the cache (boirl data borlange --from ...), or from a folder:"
	@echo "make roads DATA=folder"

$(INSTALLED): pyproject.toml constraints.txt
	@echo "setting up .venv (a minute or two the first time)"
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed; name one with: make PYTHON=python3.11")'
	@$(PYTHON) -m venv .venv
	@$(PIP) torch==2.13.0
	@$(PIP) --editable .
	@touch $@

$(COMPLETE): $(INSTALLED)
	@echo "adding reinforcement learning and the tools of developers"
	@$(PIP) --editable ".[rl,cluster,postgres,dev]"
	@touch $@

demo: $(INSTALLED)
	$(BIN)/boirl run gridworld --evaluations 30 --initial hard --seed 0 --exact --out demo

test: lint
	$(BIN)/python -m pytest --numprocesses 2

lint: $(COMPLETE)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

release: $(COMPLETE)
	$(BIN)/python scripts/check_release.py --out dist $(if $(TORCH_INDEX),--torch-index $(TORCH_INDEX))

oldest newest: $(COMPLETE)
	$(BIN)/python scripts/check_versions.py $@ $(if $(TORCH_INDEX),--torch-index $(TORCH_INDEX)) $(if $(TORCH),--torch $(TORCH))

format: $(COMPLETE)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(COMPLETE)
	@rm -rf docs/_build  # pages with source code are only written where there are none
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html

docs-test: $(COMPLETE)
	$(if $(DATA),BOIRL_BORLANGE=$(DATA)) $(if $(BUS),BOIRL_BUS_ENGINES=$(dir $(BUS))) $(if $(LABYRINTH),BOIRL_LABYRINTH=$(LABYRINTH)) $(BIN)/python -m pytest -q docs

docs-numbers: $(COMPLETE)
	$(BIN)/python docs/make_numbers.py

docs-printed: $(COMPLETE)
	$(BIN)/python docs/print_examples.py $(if $(DATA),--borlange $(DATA)) $(if $(BUS),--buses $(dir $(BUS))) $(if $(LABYRINTH),--labyrinth $(LABYRINTH))

docs-pictures: $(COMPLETE)
	$(BIN)/python docs/make_pictures.py

# Tests that need it are skipped where it is missing.
browser:
	command -v chromium || { apt-get update && apt-get install --yes --no-install-recommends chromium; }

bench: $(COMPLETE)
	$(BIN)/python benchmarks/gridworld_speed.py --out results/bench
	$(BIN)/python benchmarks/roads_speed.py --out results/bench $(if $(DATA),--data $(DATA))
	$(BIN)/python benchmarks/growth.py --out results/bench
	$(BIN)/python benchmarks/first_look.py --out results/bench
	$(BIN)/python benchmarks/solver_speed.py --out results/bench $(if $(BUS),--bus $(BUS))
	$(BIN)/python benchmarks/bus_engines.py --out results/bench $(if $(BUS),--data $(dir $(BUS)))

experiments: $(INSTALLED)
	$(BIN)/boirl experiment gridworld-efficiency --trials 50 --out results/gridworld-efficiency

roads: $(INSTALLED)
	$(BIN)/boirl experiment borlange-search --out results/borlange-search $(if $(DATA),--data $(DATA))
	$(BIN)/boirl experiment borlange-trips --out results/borlange-trips $(if $(DATA),--data $(DATA))

cases: $(INSTALLED)
	$(BIN)/boirl experiment bus-engines --out results/bus-engines $(if $(BUS),--data $(dir $(BUS)))
	$(BIN)/boirl experiment labyrinth --out results/labyrinth $(if $(LABYRINTH),--data $(LABYRINTH))

learning: $(COMPLETE)
	$(BIN)/boirl experiment maze-search --out results/maze-search
	$(BIN)/boirl experiment maze-noise --trials 16 --out results/maze-noise
	$(BIN)/boirl experiment fetch-search --out results/fetch-search
	$(BIN)/boirl experiment fetch-solvers --out results/fetch-solvers

set: $(INSTALLED)
	$(BIN)/boirl experiment gridworld-set --out results/gridworld-set
	$(BIN)/boirl experiment borlange-set --out results/borlange-set $(if $(DATA),--data $(DATA))
	$(BIN)/boirl experiment shaping --out results/shaping
	$(BIN)/boirl experiment many-parameters --out results/many-parameters

rivals: $(COMPLETE)
	$(BIN)/boirl experiment baselines --out results/baselines $(if $(DATA),--data $(DATA))
	$(BIN)/boirl experiment birl-posterior --out results/birl-posterior

reproduction: $(COMPLETE)
	$(BIN)/boirl reproduce all --workers 2 --out docs/results/reproduction $(if $(DATA),--data $(DATA))
	$(BIN)/boirl reproduce page --out docs/results/reproduction

bench-learning: $(COMPLETE)
	$(BIN)/python benchmarks/maze_speed.py --out results/bench

clean:
	rm -rf .venv demo results .pytest_cache .mypy_cache .ruff_cache .hypothesis
