"""The command that wrote each result file; `summary.json` of an experiment's folder is the file."""

from __future__ import annotations

EXPERIMENT = "boirl experiment {name} {options}--out FOLDER"

OPTIONS = {
    "baselines": "--problem gridworld --seeds 0-9",
    "birl-posterior": "--seeds 0-9",
    "borlange-search": "--seeds 0-4",
    "borlange-set": "--seeds 0-9",
    "borlange-trips": "--evaluations 40 --seeds 0-4",
    "bus-engines": "--seeds 0-4,1000-1004",
    "federation": "--seeds 0",
    "fetch-search": "--seeds 0-2",
    "fetch-solvers": "",
    "gridworld-efficiency": "--seeds 0-9",
    "gridworld-set": "--seeds 0-9",
    "labyrinth": "--seeds 1000-1004",
    "many-parameters": "--method rho-matern --method random --method maxent --seeds 0-9",
    "maze-noise": "--trials 16",
    "maze-search": "--seeds 0-4",
    "shaping": "--seeds 100-109",
    "suite": "--seeds 106-108 --method search --method search-few --method pyvbmc",
    "town-estimates": "--seeds 100-199",
}
"""Options of experiments, beside `--out` and `--data`."""

COMMANDS = {
    **{
        name: EXPERIMENT.format(name=name, options=f"{options} " if options else "")
        for name, options in OPTIONS.items()
    },
    "bus_engines_speed": "python benchmarks/bus_engines.py --data FOLDER --econirl FOLDER "
    "--out results/bench",
    "drill_cluster": "python drills/cluster.py",
    "drill_overhead": "python drills/overhead.py",
    "drill_postgres": "python drills/postgres.py",
    "drill_speedup": "python drills/speedup.py",
    "drill_table": "python drills/table.py",
    "gridworld_speed": "python benchmarks/gridworld_speed.py --out results/bench",
    "growth": "python benchmarks/growth.py --out results/bench",
    "maze_speed": "python benchmarks/maze_speed.py --out results/bench",
    "printed": "python docs/print_examples.py",
    "roads_speed": "python benchmarks/roads_speed.py --data FOLDER --out results/bench",
    "solver_speed": "python benchmarks/solver_speed.py --bus FILE --out results/bench",
}
