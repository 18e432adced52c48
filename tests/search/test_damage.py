"""What is damaged is refused at once, in one line; what is being created is waited for."""

import sqlite3
import time
from contextlib import closing

import pytest

from boirl.errors import InvalidInputError, StorageError
from boirl.search.damage import holds_studies, refused_if_unreadable
from boirl.search.storage import open_study
from boirl.search.study import Study

QUICK = {"seed": 3, "kernel": "rbf", "acquisition": "random"}


def change(file, statement):
    with closing(sqlite3.connect(file)) as database:
        database.execute(statement)
        database.commit()


@pytest.fixture
def file(tmp_path, random_problem):
    problem = random_problem(1000)
    study = Study(problem, storage=f"sqlite:///{tmp_path}/a.db", **QUICK)
    study.tell(study.ask(), 3.0)
    return tmp_path / "a.db"


def test_a_file_holds_studies_once_it_has_one(file, tmp_path):
    assert holds_studies(str(file))
    assert not holds_studies(f"{tmp_path}/none.db")
    assert not (tmp_path / "none.db").exists()
    change(tmp_path / "tables.db", "CREATE TABLE studies (study_id INTEGER)")
    assert not holds_studies(f"{tmp_path}/tables.db")


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM studies",
        "UPDATE alembic_version SET version_num = 'v9.9.9'",
        "UPDATE trials SET datetime_start = 7",
        "UPDATE trial_params SET distribution_json = '[]'",
        "UPDATE trial_params SET param_value = 1e200",
        """UPDATE trial_params SET param_value = 0, distribution_json = '{"name": """
        """"CategoricalDistribution", "attributes": {"choices": ["x"]}}'""",
        "UPDATE study_user_attributes SET value_json = '1.5' WHERE key = 'boirl:initial'",
        "UPDATE trial_user_attributes SET value_json = '1e200' WHERE key = 'boirl:evaluation'",
        """UPDATE trial_user_attributes SET value_json = '{"gradient": {}, "facts": 1}' """
        "WHERE key = 'boirl:evaluation'",
        *(
            f"UPDATE trial_user_attributes SET value_json = '{value}' "
            "WHERE key = 'boirl:evaluation'"
            for value in (
                '{"gradient": [1]}',
                '{"nll_se": -1}',
                '{"evidence": [1]}',
                '{"artifact": 5}',
                f'{{"artifact": "{"x" * 300}"}}',
            )
        ),
        *(
            f"UPDATE study_user_attributes SET key = 'boirl:evidence', value_json = '{value}' "
            "WHERE key = 'boirl:versions'"
            for value in ("[1]", '{"version": "x"}', "[" * 10**5 + "]" * 10**5)
        ),
    ],
)
def test_what_is_damaged_is_refused_in_one_line_at_once(statement, file, random_problem):
    change(file, statement)
    began = time.monotonic()
    with pytest.raises((StorageError, InvalidInputError)) as caught:
        _ = Study(random_problem(1000), storage=f"sqlite:///{file}", **QUICK).evaluations
    assert "\n" not in str(caught.value)
    # Others who create the same study would have been waited for half a minute.
    assert time.monotonic() - began < 25.0


def test_passwords_and_errors_of_boirl():
    address = "postgresql://me:s3cret@host/name"
    with pytest.raises(StorageError) as caught, refused_if_unreadable(address):
        raise TypeError(f"no {address}\nat all")
    assert "s3cret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    with pytest.raises(InvalidInputError, match="as it was"), refused_if_unreadable(address):
        raise InvalidInputError("as it was")
    assert open_study(None, "one").user_attrs == {}
