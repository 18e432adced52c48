"""The scale of NLLs: good rewards differ, pictures of two searches agree."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from boirl.drawing.scales import NllScale, border_handles, draw_excess


@pytest.fixture
def scale():
    return NllScale.up_to(110.0, lowest=22.0, tolerance=0.08, compared=22.1)


def test_good_rewards_have_a_good_part_of_the_colours(scale):
    a_tenth, tolerance, one_percent = (scale.norm(part) for part in (0.008, 0.08, 0.221))
    assert a_tenth == pytest.approx(0.0)
    assert tolerance > 0.2
    assert one_percent > 0.3


@pytest.mark.parametrize("highest", [109.0, 104.0, 125.0])
def test_searches_that_saw_other_corners_share_the_scale(scale, highest):
    other = NllScale.up_to(highest, lowest=22.0, tolerance=0.08, compared=22.1)
    assert (other.norm.vmin, other.norm.vmax) == (scale.norm.vmin, scale.norm.vmax)


@pytest.mark.parametrize("highest", [22.0, 22.8, 22.0 + 0.08 * 20.0, 1e7])
def test_the_scale_holds_all_that_is_drawn(highest):
    scale = NllScale.up_to(highest, lowest=22.0, tolerance=0.08, compared=22.0)
    assert scale.norm.vmax >= (highest - 22.0) * (1.0 - 1e-12)
    assert scale.norm.vmax >= 10.0 * scale.tolerance
    assert scale.excess(np.array([21.0, 22.0])).tolist() == [scale.floor, scale.floor]


def test_borders_are_at_the_tolerance_and_at_parts_of_what_is_compared_with(scale):
    assert scale.levels == pytest.approx((0.08, 0.1 + 0.221, 0.1 + 2.21))
    axes = Figure().subplots()
    x = np.linspace(0.0, 1.0, 12)
    excess = scale.excess(22.0 + np.outer(x, x))
    draw_excess(axes, x, x, excess, scale)
    assert len(axes.collections) == 3, "colours, the tolerance and 1 %; nothing is as bad as 10 %"
    draw_excess(axes, x, x, excess, scale, borders=False)
    assert len(axes.collections) == 4


def test_a_border_below_the_scale_is_not_explained():
    close_to_zero = NllScale.up_to(3.0, lowest=0.01, tolerance=0.08, compared=0.01)
    assert [one.get_label() for one in border_handles(close_to_zero)] == [
        "border of what is not rejected at 95 %"
    ]
    assert len(border_handles()) == 3
