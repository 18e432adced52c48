"""Files that were damaged, at random or on purpose, are refused by errors of boirl alone.

A short run of `python -m drills.fuzz`, which damages thousands of them.
"""

from collections import Counter
from contextlib import suppress

import pytest
from drills.fuzz.targets import RoadText, targets
from drills.fuzz.trial import GOOD, REFUSED, run_trial

import boirl
from boirl.errors import BoirlError

SEED = 3001
MUTATIONS = 40
SLOW = {"results of searches": 15, "policies of studies": 15, "settings": 20}
"""Fewer of those whose use takes longest. Study databases are left to the drill."""

KINDS = [name for name in targets() if name != "study databases"]

pytestmark = pytest.mark.filterwarnings("ignore")
"""What NumPy warns about in damaged files is of no interest."""


@pytest.mark.parametrize("name", KINDS)
def test_damaged_files_are_accepted_or_refused(name, tmp_path):
    known = targets()
    target, index = known[name], list(known).index(name)
    whole = tmp_path / "whole"
    whole.mkdir()
    target.make(whole)
    outcomes = [
        run_trial(target, index, SEED, number, whole, tmp_path / "copy")
        for number in range(SLOW.get(name, MUTATIONS))
    ]
    assert not [one for one in outcomes if one["outcome"] not in GOOD]
    # Had nothing been refused, nothing would be damaged. (A study reads around its policies.)
    assert Counter(one["outcome"] for one in outcomes)[REFUSED] or name == "policies of studies"


@pytest.mark.parametrize("link", ["9223372036854775807", "2000000000"])
@pytest.mark.parametrize(
    ("file", "column"),
    [
        ("linkIncidence.txt", 1),
        ("ATTRIBUTEestimatedtime.txt", 1),
        ("ATTRIBUTEturnangles.txt", 0),
        ("observationsForEstimBAI.txt", 2),
    ],
)
def test_link_numbers_that_would_take_all_memory(link, file, column, tmp_path):
    target = RoadText()
    target.make(tmp_path)
    lines = (tmp_path / file).read_text().splitlines()
    cells = lines[3].split()
    cells[column] = link
    (tmp_path / file).write_text("\n".join([*lines[:3], " ".join(cells), *lines[4:]]))
    # Of an angle that no turn has, any number is right.
    with suppress(BoirlError):
        target.use(tmp_path)


def test_demonstrations_with_huge_numbers_are_refused(gridworld, tmp_path):
    shown = gridworld.demonstrations.to_dict()
    for name in ("states", "actions", "lengths"):
        huge = {**shown, name: shown[name].copy()}
        huge[name][0] = 2**62
        with pytest.raises(BoirlError):
            gridworld.with_demonstrations(boirl.Demonstrations.from_dict(huge))
