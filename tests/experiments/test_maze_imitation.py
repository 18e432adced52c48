"""Imitation in the maze: what a line of the table says."""

import pytest

from boirl.experiments import maze_imitation


def test_lines_say_when_the_expert_was_reached():
    names = dict(zip(maze_imitation.KEY, (4, 60, 1), strict=True))
    row = {
        **names,
        "expert": -10.0,
        "chance": -50.0,
        "noted": [20, 40, 60],
        "performance": [0.2, 0.97, 0.9],
        "nll": [9.0, 5.0, 6.0],
        "steps": 96_000,
        "seconds": 2.0,
    }
    line = maze_imitation.summarise([row, {**row, "performance": [0.1, 0.2, 0.3]}])
    assert (line["reached"], line["after_mean"]) == (0.5, 40)
    assert line["last"] == pytest.approx(0.6)
    assert line["best"] == pytest.approx((0.97 + 0.3) / 2.0)
    shown = {name: show(line) for name, show in maze_imitation.EXPERIMENT.columns.items()}
    assert shown["steps"] == "96,000"
    assert shown["after"] == "40.0 ± 0.0"
