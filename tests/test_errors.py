"""Everything that boirl raises on purpose can be caught as one."""

import inspect

import pytest

from boirl import errors

RAISED = [
    one
    for _, one in inspect.getmembers(errors, inspect.isclass)
    if issubclass(one, Exception) and not issubclass(one, Warning)
]


@pytest.mark.parametrize("error", RAISED, ids=lambda error: error.__name__)
def test_every_error_is_a_boirl_error(error):
    assert issubclass(error, errors.BoirlError)
    assert error.__doc__


def test_errors_are_also_what_a_python_programmer_expects():
    for error in (errors.InvalidInputError, errors.DemonstrationError, errors.CodeNeededError):
        assert issubclass(error, ValueError)
    for error in (errors.SolverError, errors.StorageError):  # type: ignore[assignment]
        assert issubclass(error, RuntimeError)


def test_warnings_are_of_one_kind_and_no_errors():
    assert issubclass(errors.SaturationWarning, errors.BoirlWarning)
    assert issubclass(errors.BoirlWarning, UserWarning)
    assert not issubclass(errors.BoirlWarning, errors.BoirlError)
