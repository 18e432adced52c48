"""The server of a site; what it answers is tested with the transport."""

import pytest

from boirl.errors import BoirlError
from boirl.federation import LocalSite, SiteServer


def test_it_listens_on_this_machine_alone_unless_told_otherwise(parts):
    with SiteServer(LocalSite(parts[0], "near"), "a token that is long enough") as server:
        assert server.address.startswith("http://127.0.0.1:")


def test_a_port_that_is_taken_is_refused(parts):
    site = LocalSite(parts[0], "near")
    with (
        SiteServer(site, "a token that is long enough") as server,
        pytest.raises((BoirlError, OSError)),
    ):
        SiteServer(site, "a token that is long enough", port=server.server_port)
