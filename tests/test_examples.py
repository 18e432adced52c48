"""The programs that the documentation shows do run, and are the ones it shows."""

import runpy
from pathlib import Path

import pytest

import boirl

REPOSITORY = Path(__file__).parents[1]
EXAMPLES = REPOSITORY / "examples"


def test_the_example_runs_and_finds_several_rewards(monkeypatch, capsys):
    explore = boirl.explore
    monkeypatch.setattr(
        boirl, "explore", lambda *given, **o: explore(*given, **{**o, "seed": 1000}), False
    )
    found = runpy.run_path(str(EXAMPLES / "own_problem.py"))["found"]
    assert found.best[2] > 1.0, "the walker goes to the bakery"
    assert len(found.within(found.likelihood_ratio_tolerance(), absolute=True)) > 1
    assert capsys.readouterr().out == f"{found}\n"


def test_the_example_in_an_environment_runs(monkeypatch):
    """With a small budget, so that only the way is tested and not what is found."""
    learn, explore = boirl.PPO, boirl.explore
    monkeypatch.setattr(boirl, "PPO", lambda steps, **hyper: learn(steps=1_000, **hyper), False)
    monkeypatch.setattr(
        boirl,
        "explore",
        lambda problem, evaluations, **o: explore(problem, evaluations=3, seed=1000),
        False,
    )
    names = runpy.run_path(str(EXAMPLES / "own_environment.py"))
    found = names["found"]
    assert len(found) == 3
    assert found.nll_se.shape == (3,)
    assert len(names["walks"]) == 40


@pytest.mark.long
def test_the_example_in_an_environment_finds_the_place():
    found = runpy.run_path(str(EXAMPLES / "own_environment.py"))["found"]
    assert found.best[0] == pytest.approx(-0.7, abs=0.1)


@pytest.mark.parametrize(
    ("page", "program"),
    [
        ("README.md", "own_problem.py"),
        ("docs/model_free.md", "own_environment.py"),
        ("docs/tables.md", "frozen_lake.py"),
        ("docs/tables.md", "cliff_walking.py"),
        ("docs/tables.md", "taxi.py"),
        ("docs/estimates.md", "compare_models.py"),
    ],
)
def test_the_documentation_shows_the_example(page, program):
    text = (REPOSITORY / page).read_text()
    shown = text.split(f"<!-- examples/{program} -->\n```python\n")[1].split("```")[0]
    code = (EXAMPLES / program).read_text().split('"""', 2)[2]
    assert [line for line in shown.splitlines() if line] == [
        line for line in code.splitlines() if line
    ]


@pytest.mark.parametrize("name", ["frozen_lake", "cliff_walking", "taxi"])
def test_toy_text_environments_take_twelve_lines(name, capsys):
    pytest.importorskip("gymnasium")
    path = EXAMPLES / f"{name}.py"
    code = path.read_text().split('"""', 2)[2]
    assert len([line for line in code.splitlines() if line.strip()]) <= 12
    names = runpy.run_path(str(path))
    assert capsys.readouterr().out == f"{names['found']}\n"
    problem = names["problem"]
    assert names["found"].best_nll <= problem.nll(names["truth"]) + 1.0


def test_models_are_compared_as_the_documentation_says(capsys):
    names = runpy.run_path(str(EXAMPLES / "compare_models.py"))
    compared, discounts = names["comparison"], names["discounts"]
    assert capsys.readouterr().out.endswith(f"{compared}\n{discounts}\n")
    shown = (REPOSITORY / "docs" / "estimates.md").read_text()
    assert str(compared) in shown
    assert str(discounts) in shown
    assert compared["no noise"].test.p_value < 1e-6
    better, worse = discounts["park, gamma 0.95"], discounts["park, gamma 0.8"]
    assert better.cross_validation.per_step > worse.cross_validation.per_step
    assert better.estimate.aic < worse.estimate.aic


def test_the_program_for_an_own_environment_is_short():
    code = (EXAMPLES / "own_environment.py").read_text().split('"""', 2)[2]
    assert len([line for line in code.splitlines() if line.strip()]) <= 25
