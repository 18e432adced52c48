"""A site that is reached over HTTP; what it says is tested with the transport."""

import pytest

from boirl.errors import InvalidInputError
from boirl.federation import HttpSite


@pytest.mark.parametrize("address", ["", "127.0.0.1:80", "ftp://host", "http://user@host:80"])
def test_an_address_that_is_none_is_refused(address):
    with pytest.raises(InvalidInputError, match="expected one such as"):
        HttpSite(address, "token")


def test_the_token_is_not_shown():
    assert "secret" not in repr(HttpSite("http://127.0.0.1:1", "secret"))
