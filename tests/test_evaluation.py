"""One evaluation: what it guarantees, and how it is taken apart and put together."""

import dataclasses
import json
import math

import numpy as np
import pytest
import torch

from boirl.errors import InvalidInputError
from boirl.evaluation import Evaluation

THETA = (0.5, -1.25)
FULL = Evaluation(
    THETA,
    3.5,
    nll_se=0.25,
    log_likelihoods=np.array([-3.0, -4.0]),
    gradient=np.array([0.1, -1.0 / 3.0]),
    policies=tuple(
        {"values": np.arange(3.0) + number, "more/values": np.array(number)} for number in range(12)
    ),
    n_policies=14,
    environment_steps=700,
    facts={"sweeps": 12, "returns": [1.0, 2.5], "why": "asked for"},
    seconds=1.5,
    seed=7,
)


def through_json(evaluation, arrays=None):
    numbers = json.loads(json.dumps(evaluation.numbers()))
    return Evaluation.from_parts(numbers, evaluation.arrays() if arrays is None else arrays)


def assert_same(found, expected):
    for field in dataclasses.fields(Evaluation):
        first, second = getattr(found, field.name), getattr(expected, field.name)
        if field.name == "policies":
            assert len(first) == len(second)
            for one, other in zip(first, second, strict=True):
                assert one.keys() == other.keys()
                for name, array in other.items():
                    np.testing.assert_array_equal(one[name], array)
        elif isinstance(second, np.ndarray):
            np.testing.assert_array_equal(first, second)
        else:
            assert first == second or (math.isnan(first) and math.isnan(second))


def test_an_evaluation_with_an_nll_succeeded():
    evaluation = Evaluation(THETA, 3.5)
    assert evaluation.ok
    assert evaluation.failure is None
    assert (evaluation.nll_se, evaluation.n_policies, evaluation.environment_steps) == (0.0, 1, 0)
    assert evaluation.log_likelihoods is evaluation.gradient is evaluation.seed is None  # type: ignore[comparison-overlap]
    assert evaluation.policies == ()


def test_an_absurd_nll_is_a_failure():
    assert Evaluation(THETA, 1e99).ok
    assert Evaluation(THETA, 1e200).failure == "the NLL is 1e+200; expected one up to 1e+100"


def test_faults_are_told_from_failures():
    assert Evaluation(THETA, 3.0).fault is None
    assert Evaluation(THETA, 3.0, failure="it did not converge").fault is None
    assert Evaluation(THETA, math.nan).fault == "the NLL is nan; expected a finite number"
    killed = Evaluation(THETA, math.nan, failure="killed", facts={"fault": True})
    assert killed.fault == "killed"


@pytest.mark.parametrize("nll", [math.nan, math.inf, -math.inf])
def test_an_nll_that_is_not_finite_is_a_failure(nll):
    evaluation = Evaluation(THETA, nll)
    assert not evaluation.ok
    assert f"the NLL is {nll}; expected a finite number" == evaluation.failure
    assert math.isnan(evaluation.nll)


def test_a_failure_has_no_nll():
    evaluation = Evaluation(THETA, 3.5, failure="lost")
    assert not evaluation.ok
    assert math.isnan(evaluation.nll)
    assert evaluation.failure == "lost"


def test_it_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        FULL.nll = 1.0  # type: ignore[misc]


def test_evaluations_are_equal_only_to_themselves():
    """They hold arrays, whose comparison has no single answer."""
    assert FULL == FULL
    assert through_json(FULL) != FULL
    assert len({FULL, through_json(FULL)}) == 2


def test_the_repr_is_short():
    assert repr(FULL) == "Evaluation(theta=(0.5, -1.25), nll=3.5)"
    failed = Evaluation(THETA, 0.0, failure="lost")
    assert repr(failed) == "Evaluation(theta=(0.5, -1.25), failure='lost')"


@pytest.mark.parametrize(
    "evaluation",
    [
        FULL,
        Evaluation(THETA, 3.5),
        Evaluation(THETA, 0.0, failure="lost"),
        Evaluation(THETA, math.inf),
        Evaluation((1.0 / 3.0,), 1e-300, gradient=np.array([1e300])),
    ],
    ids=["full", "bare", "failed", "infinite", "extreme"],
)
def test_parts_give_the_evaluation_back(evaluation):
    assert_same(through_json(evaluation), evaluation)


def test_numbers_hold_no_large_arrays():
    numbers = FULL.numbers()
    assert "log_likelihoods" not in numbers
    assert "policies" not in numbers
    assert numbers["gradient"] == FULL.gradient.tolist()
    assert Evaluation(THETA, 0.0, failure="lost").numbers()["nll"] is None


def test_the_order_of_many_policies_is_kept():
    shuffled = dict(sorted(FULL.arrays().items()))
    assert list(shuffled) != list(FULL.arrays())
    again = through_json(FULL, shuffled)
    assert [int(policy["more/values"]) for policy in again.policies] == list(range(12))


def test_arrays_may_be_missing():
    bare = through_json(FULL, {})
    assert bare.log_likelihoods is None
    assert bare.policies == ()
    assert bare.nll == FULL.nll
    np.testing.assert_array_equal(bare.gradient, FULL.gradient)


def test_numbers_of_an_older_file_may_be_few():
    evaluation = Evaluation.from_parts({"theta": [1.0], "nll": 2.0}, {})
    assert_same(evaluation, Evaluation((1.0,), 2.0))


def test_what_else_is_stored_with_the_numbers_does_no_harm():
    numbers = {**FULL.numbers(), "artifact": "some-id"}
    assert_same(Evaluation.from_parts(numbers, FULL.arrays()), FULL)


def test_the_family_is_not_part_of_the_parts():
    family = object()
    again = Evaluation.from_parts(FULL.numbers(), FULL.arrays(), family)
    assert again.reward is family


class Number:
    """As a scalar of another library."""

    def __init__(self, value):
        self.value = value

    def __float__(self):
        return self.value


def test_numbers_and_arrays_of_other_libraries_become_those_of_python_and_numpy():
    found = Evaluation(
        np.array(THETA),
        np.float32(3.5),
        nll_se=Number(0.25),
        gradient=[0.1, 0.2],
        log_likelihoods=torch.tensor([-3.0, -4.0]),
        n_policies=np.int64(3),
        policies=iter([{"values": np.zeros(2)}]),
    )
    assert found.theta == THETA
    assert (type(found.nll), found.nll, found.nll_se) == (float, 3.5, 0.25)
    assert found.gradient.tolist() == [0.1, 0.2]
    assert found.log_likelihoods.tolist() == [-3.0, -4.0]
    assert (type(found.n_policies), len(found.policies)) == (int, 1)
    found.check_storable(2)
    assert through_json(found).nll == 3.5


@pytest.mark.parametrize(
    "changes",
    [
        {"theta": None},
        {"theta": ((1.0,),)},
        {"nll": "3.5"},
        {"nll": None},
        {"nll": 1 + 2j},
        {"nll": np.array([3.5])},
        {"nll": 10**400},
        {"nll_se": None},
        {"seconds": "long"},
        {"n_policies": "x"},
        {"n_policies": 1.5},
        {"environment_steps": None},
        {"seed": 2**100},
        {"gradient": np.array(["a", "b"])},
        {"log_likelihoods": np.array([object()])},
        {"policies": 3},
        {"failure": ValueError("x")},
        {"facts": [1]},
    ],
)
def test_what_is_no_number_and_no_array_is_named(changes):
    (name,) = changes
    with pytest.raises(InvalidInputError, match=f"{name} of the evaluation is .*; expected"):
        Evaluation(**{"theta": THETA, "nll": 3.5, **changes})


@pytest.mark.parametrize("wrong", [math.nan, math.inf, 1e300])
def test_a_gradient_that_is_not_finite_or_absurd_is_none(wrong):
    assert Evaluation(THETA, 3.5, gradient=np.array([1.0, wrong])).gradient is None


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"nll_se": math.nan}, "nll_se of the evaluation is nan"),
        ({"nll_se": 1e300}, "nll_se of the evaluation is 1e\\+300"),
        ({"seconds": math.nan}, "seconds of the evaluation is nan"),
        ({"seconds": -1.0}, "seconds of the evaluation is -1.0"),
        ({"gradient": np.ones(3)}, r"gradient of the evaluation has shape \(3,\); expected 2"),
        ({"gradient": np.ones((2, 2))}, r"gradient of the evaluation has shape \(2, 2\)"),
        ({"log_likelihoods": np.ones(5)}, r"has shape \(5,\); expected 2 numbers"),
        ({"policies": (None,)}, "policy 0 of the evaluation is None"),
        ({"policies": ({"values": [1, 2]},)}, r"array 'values' of policy 0 .* is \[1, 2\]"),
        ({"policies": ({"values": np.array([{}])},)}, "dtype=object.*; expected a NumPy array"),
        ({"policies": ({"../x": np.ones(1)},)}, "name of an array of policy 0 .* is '../x'"),
        ({"policies": ({3: np.ones(1)},)}, "name of an array of policy 0 .* is 3"),
        ({"facts": {"who": object()}}, "facts hold a object"),
    ],
)
def test_what_a_study_cannot_keep_is_named(changes, reason):
    FULL.check_storable(2)
    with pytest.raises(InvalidInputError, match=reason):
        dataclasses.replace(FULL, **changes).check_storable(2)


def test_facts_that_hold_themselves_are_named():
    facts: dict[str, object] = {}
    facts["again"] = facts
    with pytest.raises(InvalidInputError, match="cannot be stored"):
        Evaluation(THETA, 3.5, facts=facts).check_storable(2)


def test_a_failed_evaluation_needs_no_standard_error():
    Evaluation(THETA, math.nan, math.nan, failure="the motor caught fire").check_storable(2)
