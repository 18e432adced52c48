"""Who evaluates, and what is said when it is interrupted."""

import sys

import pytest

from boirl.cli.parallel import resume_command
from boirl.errors import BoirlError, StorageError
from boirl.interrupts import Terminated
from boirl.results import RewardSet
from boirl.search.database import StudyDatabase
from boirl.search.study import Study


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--workers", "0"), "workers is 0; expected at least 1"),
        (("--retries", "-1"), "retries is -1; expected 0 or more"),
        (("--timeout", "0"), "timeout is 0.0; expected a number of seconds above 0"),
        (("--workers", "2", "--cluster", "tcp://127.0.0.1:1"), "leave one of them out"),
        (("--method", "tpe", "--workers", "2"), "--workers belongs to boirl's search"),
    ],
)
def test_wrong_input_is_one_clear_line(command, arguments, message):
    code, out, errors = command("run", "gridworld2d", "--evaluations", "3", *arguments)
    assert (code, out) == (2, "")
    assert message in errors
    assert len(errors.strip().splitlines()) == 1


def test_a_cluster_that_is_not_there_is_one_clear_line(command, monkeypatch):
    cluster = pytest.importorskip("boirl.execution.cluster")
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.2)
    code, _, errors = command("run", "gridworld2d", "--cluster", "tcp://127.0.0.1:1")
    assert code == 2
    assert "there is no Dask scheduler at 'tcp://127.0.0.1:1'" in errors
    assert len(errors.strip().splitlines()) == 1


def test_without_dask_one_line_says_how_to_get_it(command, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "boirl.execution.cluster", raising=False)
    code, _, errors = command("run", "gridworld2d", "--cluster", "tcp://127.0.0.1:1")
    assert code == 2
    assert "pip install 'boirl[cluster]'" in errors


def test_options_reach_the_search(command, monkeypatch):
    given = {}

    def run(self, evaluations, **options):
        given.update(options)
        raise KeyboardInterrupt

    monkeypatch.setattr(Study, "run", run)
    options = ("--workers", 3, "--timeout", 5, "--retries", 2)
    code, _, errors = command("run", "gridworld2d", *options)
    assert code == 130
    assert "interrupted after 0 evaluations" in errors
    expected = {"workers": 3, "timeout": 5.0, "retries": 2, "executor": None, "progress": True}
    assert given == expected


def test_a_search_on_workers_from_the_command_line(command, tmp_path):
    storage = f"sqlite:///{tmp_path}/search.db"
    arguments = ("run", "gridworld2d", "--acquisition", "random", "--storage", storage)
    code, out, errors = command(*arguments, "--evaluations", 4, "--workers", 2)
    assert code == 0, errors
    assert "4 evaluations" in out


def test_the_command_that_resumes_holds_no_password(monkeypatch):
    address = "postgresql://user:s3cret@host/db"
    monkeypatch.setattr(sys, "argv", ["boirl", "run", "my problem", "--storage", address])
    assert resume_command() == "boirl run 'my problem' --storage 'postgresql://user:***@host/db'"
    assert resume_command("--out", "here").endswith(" --out here")


def test_what_a_search_in_memory_has_found_is_kept_if_an_error_ends_it(
    command, monkeypatch, tmp_path
):
    def run(self, evaluations, **options):
        self.tell(self.ask(), 3.0)
        raise BoirlError("the scheduler has gone")

    monkeypatch.setattr(Study, "run", run)
    code, _, errors = command("run", "gridworld2d", "--out", tmp_path)
    assert code == 2
    assert "the scheduler has gone" in errors
    (kept,) = tmp_path.glob("*.db")
    said = " ".join(errors.split())
    assert "ended by an error after 1 evaluations" in said
    assert f"--storagesqlite:///{kept}" in "".join(errors.split())


def test_a_search_in_memory_is_kept_if_its_answer_is_interrupted(command, monkeypatch, tmp_path):
    def interrupted(found):
        raise KeyboardInterrupt

    monkeypatch.setattr(RewardSet, "__str__", interrupted)
    monkeypatch.setattr("boirl.search.copies.interrupted_path", lambda name: tmp_path / name)
    arguments = ("run", "gridworld2d", "--acquisition", "random", "--evaluations", 3)
    code, _, errors = command(*arguments)
    assert code == 130
    assert "interrupted after 3 evaluations" in " ".join(errors.split())
    (kept,) = tmp_path.glob("*.db")
    monkeypatch.undo()
    code, out, errors = command(*arguments, "--storage", f"sqlite:///{kept}")
    assert "nothing to do: 3 evaluations" in " ".join(errors.split())
    assert "3 evaluations" in out


def test_an_interrupt_while_the_database_is_away_ends_at_once(command, monkeypatch, tmp_path):
    patience = []

    def run(self, evaluations, **options):
        def away(*given):
            patience.append(self.database._patience)
            raise StorageError("the server has gone")

        monkeypatch.setattr(StudyDatabase, "trials", away)
        raise Terminated

    monkeypatch.setattr(Study, "run", run)
    storage = f"sqlite:///{tmp_path}/search.db"
    given = ("run", "gridworld2d", "--storage", storage, "--out", str(tmp_path / "out"))
    monkeypatch.setattr(sys, "argv", ["boirl", *given])
    code, _, errors = command(*given)
    assert (code, patience) == (143, [0.0])
    assert "interrupted; resume with: boirl run gridworld2d" in errors
    assert "the server has gone" in errors
