"""What a report is of: results and studies, which are read and never changed."""

import optuna
import pytest

import boirl
from boirl.errors import BoirlError, InvalidInputError, StorageError
from boirl.problem import load_source
from boirl.report.sources import FileSource, StudySource, open_source


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A study and its result, as `boirl run --storage --out` leaves them."""
    where = tmp_path_factory.mktemp("searched")
    study = boirl.Study(
        boirl.load_problem("gridworld2d"), kernel="rbf", storage=f"sqlite:///{where}/search.db"
    )
    study.run(3).save(where / "rewards.npz")
    return where


def test_a_study_is_the_result_that_it_gave_and_stays_as_it_was(folder):
    before = (folder / "search.db").read_bytes()
    source = open_source(f"sqlite:///{folder}/search.db")
    found, saved = source.result(), boirl.RewardSet.load(folder / "rewards.npz")
    assert isinstance(source, StudySource)
    assert isinstance(saved, boirl.RewardSet)
    assert isinstance(found, boirl.RewardSet)
    assert found.nll == pytest.approx(saved.nll)
    assert isinstance(found, boirl.RewardSet)
    assert found.settings == saved.settings
    assert found.evaluations[0].policies
    assert source.version() == 3
    assert (folder / "search.db").read_bytes() == before


@pytest.mark.parametrize("name", ["rewards.npz", "", "search.db"])
def test_files_folders_and_databases_are_told_apart(folder, name):
    source = open_source(str(folder / name))
    assert isinstance(source, StudySource if name == "search.db" else FileSource)
    assert len(source.result()) == 3
    assert source.version() > 0


def test_the_problem_may_be_given(folder):
    given = open_source(str(folder / "search.db"), build=lambda: boirl.load_problem("gridworld2d"))
    assert len(given.result()) == 3
    with pytest.raises(InvalidInputError, match="of another problem"):
        open_source(str(folder / "search.db"), build=lambda: boirl.load_problem("gridworld"))


def test_a_study_of_a_file_names_it_and_does_not_run_it(tmp_path):
    path = tmp_path / "own_study.py"
    path.write_text('import boirl\nproblem = boirl.load_problem("gridworld2d").with_gamma(0.8)\n')
    address = f"sqlite:///{tmp_path}/search.db"
    boirl.Study(load_source(str(path)), kernel="rbf", storage=address).run(2)
    with pytest.raises(InvalidInputError, match=r"such as --problem .*own_study\.py"):
        open_source(address)
    assert len(open_source(address, build=lambda: load_source(str(path))).result()) == 2


def test_what_is_not_there_is_not_made(tmp_path):
    for name in ("nothing.npz", "nothing.db", "sqlite:///" + str(tmp_path / "other.db")):
        with pytest.raises(StorageError, match="there is no"):
            open_source(str(tmp_path / name) if "://" not in name else name)
    assert list(tmp_path.iterdir()) == []


def test_the_study_is_named_where_there_are_several(tmp_path):
    address = f"sqlite:///{tmp_path}/two.db"
    for name in ("one", "two"):
        optuna.create_study(storage=address, study_name=name)
    with pytest.raises(InvalidInputError, match=r"holds 2 studies \(one, two\); name one"):
        open_source(address)
    with pytest.raises(InvalidInputError, match="there is no study 'three'"):
        open_source(address, study="three")
    with pytest.raises(InvalidInputError, match="not made by boirl"):
        open_source(address, study="one")


def test_a_study_without_a_name_for_its_problem_says_so(tmp_path, street):
    address = f"sqlite:///{tmp_path}/own.db"
    boirl.Study(street, kernel="rbf", storage=address)
    with pytest.raises(InvalidInputError, match="name it with --problem"):
        open_source(address)
    empty = open_source(address, build=lambda: street)
    assert empty.version() == 0
    with pytest.raises(BoirlError, match="none of 0 evaluations"):
        empty.result()
