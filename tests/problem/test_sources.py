"""Problems of one's own, from files and modules."""

import sys

import pytest

from boirl.errors import DemonstrationError, InvalidInputError, MissingExtraError
from boirl.problem.sources import is_source, load_source

CODE = """
import numpy as np
import boirl

def build(gamma=0.9, count=2):
    mdp = boirl.TabularMDP.from_next_states(np.array([[0, 1], [0, 1]]), gamma=gamma)
    reward = boirl.LinearReward(np.eye(2), {"a": (0, 1), "b": (0, 1)})
    walks = boirl.Demonstrations.from_arrays([[0, 1]] * count, [[1, 1]] * count)
    return boirl.TabularProblem(mdp, reward, walks)
"""


@pytest.fixture(autouse=True)
def forget(monkeypatch):
    """What a test imports is not there for the next."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    known = set(sys.modules)
    yield
    for name in set(sys.modules) - known:
        if name.startswith("own_"):
            del sys.modules[name]


def write(folder, code, name="own_street.py"):
    path = folder / name
    path.write_text(code)
    return path


def test_sources_are_told_from_names():
    assert is_source("problem.py")
    assert is_source("problem.py:street")
    assert is_source("package.module:street")
    assert not is_source("gridworld")


def test_a_file_holds_a_problem(tmp_path):
    path = write(tmp_path, f"{CODE}\nproblem = build()\nother = build(0.5)")
    assert load_source(str(path)).gamma == 0.9
    assert load_source(f"{path}:other").gamma == 0.5
    assert load_source(f"{path}:build", gamma=0.7).gamma == 0.7


def test_the_only_problem_needs_no_name_and_takes_that_of_the_file(tmp_path):
    problem = load_source(str(write(tmp_path, f"{CODE}\nstreet = build()")))
    assert problem.name == "own_street"


def test_a_file_called_problem_gives_the_name_of_its_folder(tmp_path, monkeypatch):
    (tmp_path / "pond").mkdir()
    path = write(tmp_path, f"{CODE}\nown = build()", "pond/problem.py")
    assert load_source(str(path)).name == "pond"
    monkeypatch.chdir(path.parent)
    assert load_source("problem.py").name == "pond"
    sys.modules.pop("problem")


def test_demonstrations_of_a_file_may_come_later(tmp_path):
    code = f"{CODE}\nfrom dataclasses import replace\nown = replace(build(), demonstrations=None)"
    problem = load_source(str(write(tmp_path, code)))
    assert problem.name == "own_street"
    with pytest.raises(InvalidInputError, match=r"'own_street' has no demonstrations yet"):
        problem.evaluate([0.5, 0.5])


def test_what_boirl_refuses_in_a_file_has_its_line(tmp_path):
    path = write(tmp_path, f"{CODE}\nother = 1\nown = build(1.5)")
    with pytest.raises(InvalidInputError, match=r"gamma is 1\.5; .* \(.*own_street\.py, line 6\)"):
        load_source(str(path))


def test_a_module_of_this_folder_is_found(tmp_path, monkeypatch):
    write(tmp_path, f"{CODE}\nproblem = build()", "own_module.py")
    monkeypatch.chdir(tmp_path)
    assert load_source("own_module:problem").name == "own_module"
    assert load_source("own_module:").gamma == 0.9


def test_a_file_is_read_again_after_a_change(tmp_path):
    path = write(tmp_path, f"{CODE}\nproblem = build(0.5)")
    assert load_source(str(path)).gamma == 0.5
    path.write_text(f"{CODE}\nproblem = build(0.75)  # changed")
    assert load_source(str(path)).gamma == 0.75


@pytest.mark.parametrize(
    ("code", "name", "message"),
    [
        ("one = build()\ntwo = build()", "", r"has no 'problem'.*own_street\.py:one, .*:two"),
        ("problem = 3", "", "is a int; expected a problem"),
        ("problem = lambda: 3", "", "returns a int"),
        ("def problem(size): pass", "", "needs size; expected a function that can be called"),
        ("problem = build(1 / 0)", "", r"own_street\.py, line 11: ZeroDivisionError: division"),
        ("def problem(): return {}['a']", "", r"own_street\.py, line 11: KeyError"),
        ("problem = (", "", r"own_street\.py, line 11: SyntaxError"),
        ("problem = build()", ":gone", "has no 'gone'"),
    ],
)
def test_what_is_wrong_is_one_line_that_says_where(tmp_path, code, name, message):
    path = write(tmp_path, f"{CODE}\n{code}")
    with pytest.raises(InvalidInputError, match=message) as raised:
        load_source(f"{path}{name}")
    assert "\n" not in str(raised.value)


def test_what_boirl_says_passes(tmp_path):
    with pytest.raises(DemonstrationError, match="no trajectories"):
        load_source(str(write(tmp_path, f"{CODE}\nboirl.Demonstrations.from_trajectories([])")))


def test_a_library_that_is_missing_is_named(tmp_path):
    with pytest.raises(MissingExtraError, match=r"needs no_such_library.*pip install no_such_lib"):
        load_source(str(write(tmp_path, "import no_such_library")))


def test_options_are_for_functions(tmp_path):
    path = write(tmp_path, f"{CODE}\nproblem = build()")
    with pytest.raises(InvalidInputError, match="takes no option bellman; set it there"):
        load_source(str(path), bellman="max")
    with pytest.raises(InvalidInputError, match="takes no option box; expected some of gamma"):
        load_source(f"{path}:build", box="wide")


def test_files_and_modules_that_are_not_there(tmp_path):
    with pytest.raises(InvalidInputError, match=r"there is no file .*boirl init"):
        load_source(str(tmp_path / "gone.py"))
    with pytest.raises(InvalidInputError, match=r"there is no module 'own_nothing.at_all'"):
        load_source("own_nothing.at_all:problem")


def test_files_of_one_name_in_two_folders_are_two_problems(tmp_path):
    for gamma in (0.5, 0.75):
        (tmp_path / str(gamma)).mkdir()
        path = write(tmp_path / str(gamma), f"{CODE}\nproblem = build({gamma})")
        assert load_source(str(path)).gamma == gamma


def test_a_file_does_not_replace_a_module_in_use(tmp_path):
    with pytest.raises(
        InvalidInputError, match=r"has the name of the module json.*rename the file"
    ):
        load_source(str(write(tmp_path, CODE, "json.py")))
