"""The programs that the documentation shows do run, and are the ones it shows."""

import runpy
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]


def test_the_example_runs_and_finds_several_rewards():
    names = runpy.run_path(str(REPOSITORY / "examples" / "own_problem.py"))
    assert names["found"].best[2] > 1.0, "the walker goes to the bakery"


def test_the_readme_shows_the_example():
    readme = (REPOSITORY / "README.md").read_text()
    program = (REPOSITORY / "examples" / "own_problem.py").read_text()
    shown = readme.split("<!-- examples/own_problem.py -->\n```python\n")[1].split("```")[0]
    code = program.split('"""')[2]
    assert [line for line in shown.splitlines() if line] == [
        line for line in code.splitlines() if line
    ]
