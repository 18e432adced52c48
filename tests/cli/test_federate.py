"""A search over sites on the command line."""

import json

import pytest

from boirl.cli import federate
from boirl.federation import LocalSite, SiteServer

TOKEN = "a token that is long enough"


@pytest.fixture
def sites(gridworld, monkeypatch):
    """Addresses of two running sites."""
    monkeypatch.setenv(federate.TOKEN_VARIABLE, TOKEN)
    shown = gridworld.demonstrations
    halves = (
        gridworld.with_demonstrations(shown.subset(rows)) for rows in (range(20), range(20, 50))
    )
    servers = [
        SiteServer(LocalSite(one, name), TOKEN) for one, name in zip(halves, "ab", strict=True)
    ]
    with servers[0], servers[1]:
        yield [option for one in servers for option in ("--site", one.address)]


def test_sites_are_searched_together(sites, command, gridworld, tmp_path):
    out = tmp_path / "found.json"
    # Two evaluations are the initial ones, whose table needs no surrogate worth waiting for.
    options = ("--kernel", "rbf", "--evaluations", 2, "--out", out)
    code, said, errors = command("federate", "gridworld", *sites, *options)
    assert code == 0, errors
    assert "2 evaluations" in said
    kept = json.loads(out.read_text())
    assert kept["sites"] == {"a": 20, "b": 30}
    for theta, nll in zip(kept["thetas"], kept["nll"], strict=True):
        assert nll == pytest.approx(gridworld.nll(theta), abs=1e-9)


def test_a_token_for_each_site_or_one_for_all(sites, command, monkeypatch):
    monkeypatch.setenv(federate.TOKEN_VARIABLE, "one,two,three")
    code, _, said = command("federate", "gridworld", *sites)
    assert code == 2
    assert "3 tokens for 2 sites" in said
    monkeypatch.setenv(federate.TOKEN_VARIABLE, f"{TOKEN},wrong-and-long-enough")
    code, _, said = command("federate", "gridworld", *sites)
    assert code == 2
    assert "token is missing or wrong" in said
    assert TOKEN not in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--epsilon", 1], "needs --clip"),
        (["--epsilon", 1, "--clip", 9], "needs --ledger"),
        (["--clip", 9], "belong to --epsilon"),
        (["--port", 99999999], "another port"),
    ],
)
def test_what_a_site_cannot_promise_is_refused(options, message, command):
    code, _, said = command("site", "serve", "gridworld", *options)
    assert code == 2
    assert message in said
