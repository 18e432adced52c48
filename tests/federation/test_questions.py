"""What is asked of a site."""

from boirl.federation.questions import Site


def test_a_site_has_to_answer_everything(federation):
    asked = {"facts", "check", "sums", "draw", "project", "behaviour"}
    assert asked <= Site.__abstractmethods__
    assert all(isinstance(site, Site) for site in federation.sites)
