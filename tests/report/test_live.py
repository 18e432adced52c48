"""The report as it is served: to this machine alone, and again when there is more to see."""

import http.client
import json

import pytest

from boirl.errors import BoirlError
from boirl.report import live
from boirl.report.live import LiveReport
from boirl.report.sources import Source


class Growing(Source):
    name = "growing"

    def __init__(self):
        self.evaluations = []

    def version(self):
        return len(self.evaluations)

    def result(self):
        if not self.evaluations:
            raise BoirlError("nothing yet")
        return self.evaluations


@pytest.fixture
def source(monkeypatch):
    monkeypatch.setattr(live, "report_page", lambda results, live: f"report {live}: {results}")
    return Growing()


def ask(report, path, **headers):
    host, port = report.address.removeprefix("http://").rstrip("/").split(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=10)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.read().decode(), dict(answer.getheaders())


def test_it_is_served_to_this_machine_alone(source):
    with LiveReport([source], every=60.0) as report:
        assert report.address.startswith("http://127.0.0.1:")
        assert report._server.server_address[0] == "127.0.0.1"
        status, text, headers = ask(report, "/")
        assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert "being made" in text
        assert ask(report, "/", Host="evil.example")[0] == 403
        assert ask(report, "/etc/passwd")[0] == 404
        assert ask(report, "/favicon.ico")[0] == 200, "else browsers complain"


def test_it_is_made_again_when_there_is_more_to_see(source):
    with LiveReport([source], every=60.0) as report:
        assert not report.refresh()
        assert json.loads(ask(report, "/state")[1]) == {
            "version": 0,
            "message": "live: nothing yet",
        }
        source.evaluations = ["first"]
        assert report.refresh()
        assert not report.refresh()
        assert ask(report, "/")[1] == "report 1: [['first']]"
        source.evaluations = ["first", "second"]
        assert report.refresh()
        state = json.loads(ask(report, "/state")[1])
        assert state == {"version": 2, "message": "live: 2 evaluations"}


def test_a_source_that_fails_keeps_the_last_report(source):
    with LiveReport([source], every=60.0) as report:
        source.evaluations = ["first"]
        report.refresh()
        source.version = lambda: -1
        source.result = lambda: (_ for _ in ()).throw(BoirlError("the disk is full"))
        assert not report.refresh()
        assert ask(report, "/")[1] == "report 1: [['first']]"
        assert "the disk is full" in ask(report, "/state")[1]
