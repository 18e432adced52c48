"""Figure 10, from made-up results."""

from .figures import check_figure


def test_it_is_drawn_from_files_alone(results, nothing):
    check_figure("figure10", results, nothing)
