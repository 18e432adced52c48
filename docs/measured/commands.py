"""The command that wrote each result file; `summary.json` of an experiment's folder is the file."""

from __future__ import annotations

EXPERIMENT = "boirl experiment {name} {options}--out FOLDER"

OPTIONS = {
    "baselines": "--problem gridworld --seeds 0-9",
    "batches": "--seeds 100-102",
    "birl-posterior": "--seeds 0-9",
    "borlange-search": "--seeds 100-104",
    "borlange-set": "--seeds 100-109 --method rho-matern --method random",
    "borlange-trips": "--evaluations 40 --seeds 0-4",
    "bus-engines": "--seeds 1000-1009",
    "federation": "--seeds 0",
    "fetch-search": "--seeds 100-101 --method rho-matern --method random --evaluations 15",
    "fetch-solvers": "",
    "gridworld-efficiency": "--seeds 100-149",
    "gridworld-set": "--seeds 100-109",
    "high-dimension": "--seeds 100 --method descents --method search "
    "--method 'subspaces, coordinates' --method 'subspaces, linear' --method tpe "
    "--method random",
    "labyrinth": "--seeds 1000-1004",
    "look-ahead": "--seeds 100-102",
    "many-parameters": "--method rho-matern --method random --method maxent --seeds 100-109",
    "constraints": "--seeds 100-119 --evaluations 20",
    "mixtures": "--seeds 100-119",
    "questions": "--seeds 100-119",
    "rescoring": "--problem roads --problem 'roads, logsumexp' --problem gridworld --problem maze "
    "--seeds 100-102",
    "worst-case": "--seeds 100-119",
    "maze-imitation": "--seeds 100",
    "maze-noise": "--trials 16",
    "maze-search": "--seeds 100-101 --method rho-matern --evaluations 20",
    "objectworld": "--seeds 100-102",
    "optima": "--seeds 112-121",
    "shaping": "--seeds 100-109",
    "taxi-learning": "--seeds 100-105",
    "suite": "--seeds 112-114 --method search --method search-few --method no-checks",
    "town-estimates": "--seeds 100-199",
}
"""Options of experiments, beside `--out` and `--data`."""

COMMANDS = {
    **{
        name: EXPERIMENT.format(name=name, options=f"{options} " if options else "")
        for name, options in OPTIONS.items()
    },
    "suite-pyvbmc": "boirl experiment suite --seeds 112 --method search-few --method pyvbmc "
    "--out FOLDER",
    "suite-ablation": "boirl experiment suite --seeds 112-114 --method search-few "
    "--method few-rho-rbf --method few-theta --method few-log-ei --method few-uncertain "
    "--method few-no-descents --method few-no-checks --method few-uniform --out FOLDER",
    "bus_engines_speed": "python benchmarks/bus_engines.py --data FOLDER --econirl FOLDER "
    "--out results/bench",
    "drill_cluster": "python -m drills.cluster",
    "drill_overhead": "python -m drills.overhead",
    "drill_postgres": "python -m drills.postgres",
    "drill_speedup": "python -m drills.speedup",
    "drill_table": "python -m drills.table",
    "first_look": "python benchmarks/first_look.py --out results/bench",
    "fuzz": "python -m drills.fuzz --mutations 2000 --seed 100 --out docs/results",
    "gridworld_speed": "python benchmarks/gridworld_speed.py --out results/bench",
    "growth": "python benchmarks/growth.py --out results/bench",
    "long_study": "python benchmarks/long_study.py --out results/bench",
    "maze_speed": "python benchmarks/maze_speed.py --out results/bench",
    "printed": "python docs/print_examples.py",
    "roads_speed": "python benchmarks/roads_speed.py --data FOLDER --out results/bench",
    "solver_speed": "python benchmarks/solver_speed.py --bus FILE --out results/bench",
}
