"""The package as a whole: quick to import, nothing heavy, nothing missing."""

import subprocess
import sys

import boirl

IMPORT = """
import sys, torch
before = set(sys.modules)
import boirl
heavy = {"stable_baselines3", "sb3_contrib", "gymnasium", "mujoco", "botorch", "optuna"}
heavy |= {"matplotlib", "dask", "plotly"}
loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
print(sorted(heavy & loaded))
"""


def test_importing_boirl_pulls_in_nothing_heavy():
    result = subprocess.run([sys.executable, "-c", IMPORT], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr


def test_every_public_name_is_there():
    for name in boirl.__all__:
        assert getattr(boirl, name) is not None
    assert set(dir(boirl)) == set(boirl.__all__)
