"""Sites behind HTTP say what sites here say, to the last bit, and to those who know the token."""

import http.client
import json
import pickle

import numpy as np
import pytest

import boirl
from boirl.errors import BoirlError, InvalidInputError, SiteError
from boirl.federation import FederatedProblem, HttpSite, LocalSite, SiteServer, client
from boirl.federation.messages import decode

TOKEN = "a token that is long enough"
THETAS = np.array([[0.3, -1.2], [-2.0, 2.0]])


@pytest.fixture
def server(parts):
    with SiteServer(LocalSite(parts[0], "far"), TOKEN) as running:
        yield running


@pytest.fixture
def far(server):
    with HttpSite(server.address, TOKEN) as site:
        yield site


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(client, "FIRST_WAIT", 0.001)


def post(server, path="/facts", content=b"{}", token=TOKEN, **headers):
    """Status and answer to a request of any kind."""
    connection = http.client.HTTPConnection(server.address.removeprefix("http://"), timeout=10)
    headers = {"Authorization": f"Bearer {token}", **headers}
    connection.request("POST", path, content, headers)
    response = connection.getresponse()
    said = response.status, json.loads(response.read())
    connection.close()
    return said


def test_a_search_over_http_is_that_of_sites_here(known, parts, far):
    near = LocalSite(parts[1], "near")
    found = [
        boirl.explore(FederatedProblem(known, [first, near]), 4, seed=5301)
        for first in (far, LocalSite(parts[0], "far"))
    ]
    assert (found[0].thetas == found[1].thetas).all()
    assert (found[0].nll == found[1].nll).all()
    distances = [one.problem.behaviour_distances(one.policies([0, 1])) for one in found]
    assert (distances[0] == distances[1]).all()


def test_a_site_that_forgot_a_part_is_told_again(known, server, far):
    shared = FederatedProblem(known, [far])
    projection = boirl.SearchSettings(seed=1).build_surrogate(shared).projection
    first, _ = projection.values(THETAS, False)
    server.parts.clear()
    server.site._parts.clear()
    server.site._draws.clear()
    assert (projection.values(THETAS, False)[0] == first).all()


def test_it_listens_to_this_machine_alone(server):
    assert server.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize("token", ["", "wrong", TOKEN + " "])
def test_others_get_nothing(server, token):
    status, said = post(server, token=token)
    assert status == 401
    assert "token" in said["error"]["message"]
    with HttpSite(server.address, token) as site, pytest.raises(InvalidInputError, match="token"):
        site.facts()


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("/nothing", b"{}"),
        ("/sums", b"{}"),
        ("/sums", b"[1, 2]"),
        ("/sums", b"{"),
        ("/sums", b'{"theta": [NaN, 1]}'),
        ("/sums", b'{"theta": [1e400, 1]}'),
        ("/sums", b'{"theta": [99, 1]}'),
        ("/sums", b'{"theta": "x"}'),
        ("/sums", pickle.dumps({"theta": [0, 0]})),
        ("/check", b'{"reference": {"states": [[1]]}}'),
        ("/draw", b'{"indices": [99], "n": 1, "theta": null, "state": {}}'),
        ("/draw", b'{"indices": [0], "n": 1, "theta": null, "state": {}}'),
        ("/draw", b'{"indices": [0], "n": 100000000, "theta": null, "state": {}}'),
        ("/project", b'{"key": [], "thetas": [[0, 0]], "slopes": true}'),
        ("/project", b'{"thetas": [], "part": {"indices": [0], "draws": [], "drop": []}}'),
        ("/behaviour", b'{"thetas": [[0]]}'),
    ],
)
def test_what_cannot_be_read_is_refused(server, path, content):
    status, said = post(server, path, content)
    assert status == 400
    assert "\n" not in said["error"]["message"]
    assert post(server)[0] == 200


def test_questions_that_are_too_large_are_not_read(server):
    for length in ("99999999999", "x", "-1"):
        connection = http.client.HTTPConnection(server.address.removeprefix("http://"), timeout=10)
        connection.putrequest("POST", "/facts")
        connection.putheader("Authorization", f"Bearer {TOKEN}")
        connection.putheader("Content-Length", length)
        connection.endheaders()
        assert connection.getresponse().status == 413
        connection.close()


def test_a_site_that_is_gone_is_named(parts, impatient):
    with SiteServer(LocalSite(parts[0], "far"), TOKEN) as server:
        site = HttpSite(server.address, TOKEN)
        assert site.facts().n_demonstrations == 3
        site.close()
    with pytest.raises(SiteError, match=r"does not answer .*boirl site serve"):
        site.sums(tuple(THETAS[0]))


@pytest.mark.parametrize(
    "address", ["127.0.0.1:80", "ftp://x", "http://", "http://x:y", "http://u:p@x"]
)
def test_addresses_that_are_none(address):
    with pytest.raises(InvalidInputError, match="address of a site"):
        HttpSite(address, TOKEN)


def test_errors_of_a_site_keep_their_kind(far):
    with pytest.raises(InvalidInputError, match="expected a number in"):
        far.sums((99.0, 0.0))
    assert isinstance(far._error({"kind": "SystemExit", "message": "a\nb"}), SiteError)
    assert "\n" not in str(far._error({"kind": "Path", "message": "a\nb"}))


@pytest.mark.parametrize("said", [b"no json", b"[]", b'{"nll": "x"}', b"{}", b'{"nll": 1e999}'])
def test_answers_that_cannot_be_read_are_refused(far, monkeypatch, said):
    monkeypatch.setattr(far, "_exchange", lambda question, content: (200, said))
    with pytest.raises(SiteError, match="cannot be read"):
        far.sums(tuple(THETAS[0]))


def test_messages_are_objects_without_constants():
    for content in (b"[" * 10**5, b'{"a": Infinity}', b"1"):
        with pytest.raises(BoirlError):
            decode(content)


def test_tokens_that_can_be_guessed_and_ports_in_use_are_refused(parts, server):
    with pytest.raises(InvalidInputError, match="at least 16"):
        SiteServer(LocalSite(parts[0]), "short")
    with pytest.raises(SiteError, match="another port"):
        SiteServer(LocalSite(parts[0]), TOKEN, server.server_address[1])
