"""What every baseline must do, and what all of them share."""

import os
import signal
import threading

import numpy as np
import pytest

import boirl
from boirl import baselines
from boirl.errors import BoirlError, InvalidInputError, SolverError, StorageError

METHODS = tuple(baselines.BASELINES)


@pytest.fixture(params=METHODS)
def method(request):
    return baselines.get(request.param)


@pytest.fixture
def problem(gridworld):
    return gridworld


def same(one, other):
    np.testing.assert_array_equal(one.nll, other.nll)
    assert [a.theta for a in one] == [a.theta for a in other]
    assert [a.policies for a in one] == [a.policies for a in other]


def test_every_iteration_tells_reward_nll_and_cost(method, problem):
    told = []
    run = method.run(problem, iterations=6, seed=1, callback=told.append)
    assert len(run) == len(told) == 6
    for number, (kept, seen) in enumerate(zip(run, told, strict=True), start=1):
        assert kept.iteration == seen.iteration == number
        assert kept.policy is None
        family = problem.reward if kept.reward is None else kept.reward
        policy = problem.solve(family, kept.theta)
        nll = boirl.likelihood.negative_log_likelihood(policy, problem.demonstrations)
        assert kept.nll == pytest.approx(nll, abs=1e-9)
    costs = np.array([(one.policies, one.environment_steps, one.seconds) for one in run])
    assert (np.diff(costs, axis=0) >= 0).all()
    assert costs[0, 0] >= 1
    assert run.best.nll == np.nanmin(run.nll)
    assert "best NLL" in str(run)


def test_the_same_seed_gives_the_same_run_and_another_another(method, problem):
    first = method.run(problem, iterations=4, seed=3)
    same(first, method.run(problem, iterations=4, seed=3))
    assert not np.array_equal(first.nll, method.run(problem, iterations=4, seed=4).nll)


def test_a_run_that_was_broken_off_goes_on_as_if_not(method, problem, tmp_path):
    whole = method.run(problem, iterations=7, seed=2)
    part = method.run(problem, iterations=3, seed=2, checkpoint=tmp_path / "kept.run")
    told = []
    resumed = method.run(problem, 7, 2, told.append, tmp_path / "kept.run")
    same(resumed, whole)
    np.testing.assert_array_equal(part.nll, whole.nll[:3])
    assert [one.iteration for one in told] == list(range(1, 8))
    if whole.samples is not None:
        np.testing.assert_array_equal(resumed.samples, whole.samples)


def test_results_are_written(method, problem, tmp_path):
    run = method.run(problem, iterations=5, seed=0)
    table, archive = run.save(tmp_path)
    lines = table.read_text().splitlines()
    assert lines[0].startswith("iteration,nll,policies,environment_steps,seconds")
    assert len(lines) == 6
    with np.load(archive) as arrays:
        assert arrays["nll"] == run.best.nll
    figure = boirl.plots.iterations(run)
    assert figure.axes[0].get_ylabel() == "NLL"


def test_callback_may_end_a_run(problem):
    run = baselines.get("random").run(problem, 50, 0, callback=lambda one: one.iteration == 3)
    assert len(run) == 3


def test_ctrl_c_waits_for_the_iteration_and_keeps_it(problem, tmp_path):
    path = tmp_path / "kept.run"

    def press(one):
        if one.iteration == 3:
            os.kill(os.getpid(), signal.SIGINT)

    assert threading.current_thread() is threading.main_thread()
    with pytest.raises(KeyboardInterrupt):
        baselines.get("random").run(problem, 50, 0, press, path)
    told = []
    baselines.get("random").run(problem, 4, 0, told.append, path)
    assert [one.iteration for one in told] == [1, 2, 3, 4]


def test_an_error_in_an_iteration_keeps_what_was_saved(problem, tmp_path, monkeypatch):
    monkeypatch.setattr("boirl.baselines.base.SECONDS_BETWEEN_CHECKPOINTS", 0.0)
    path = tmp_path / "kept.run"

    def full(one):
        if one.iteration == 3:
            raise OSError("something broke")

    with pytest.raises(OSError, match="something broke"):
        baselines.get("random").run(problem, 50, 0, full, path)
    told = []
    baselines.get("random").run(problem, 3, 0, told.append, path)
    assert len(told) == 3


def test_a_full_disk_is_told_and_the_older_checkpoint_stays(problem, tmp_path, monkeypatch):
    path = tmp_path / "kept.run"
    baselines.get("random").run(problem, 2, 0, checkpoint=path)
    before = path.read_bytes()

    def no_space(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", no_space)
    with pytest.raises(StorageError, match="No space left"):
        baselines.get("random").run(problem, 4, 0, checkpoint=path)
    assert path.read_bytes() == before


def test_checkpoints_of_others_and_damaged_ones_are_refused(problem, tmp_path):
    path = tmp_path / "kept.run"
    baselines.get("random").run(problem, 2, seed=0, checkpoint=path)
    with pytest.raises(InvalidInputError, match=r"keeps another run .*seed 0.*expected .*seed 1"):
        baselines.get("random").run(problem, 2, seed=1, checkpoint=path)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(StorageError, match="damaged"):
        baselines.get("random").run(problem, 2, seed=0, checkpoint=path)


def test_wrong_names_and_settings_are_named():
    with pytest.raises(InvalidInputError, match="no baseline 'brl'; expected one of random"):
        baselines.get("brl")
    with pytest.raises(InvalidInputError, match="maxent has no setting depth; expected some of"):
        baselines.get("maxent", depth=3)
    with pytest.raises(InvalidInputError, match="iterations is 0"):
        baselines.get("random").run(None, 0)


def test_failed_policies_are_no_bests(problem, monkeypatch):
    def fail(*arguments, **options):
        raise SolverError("no values")

    monkeypatch.setattr(type(problem), "policy", fail)
    for name in ("random", "tpe"):
        run = baselines.get(name).run(problem, 3)
        assert np.isnan(run.nll).all()
        with pytest.raises(BoirlError, match="no iteration of"):
            run.best  # noqa: B018
