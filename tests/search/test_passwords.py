"""Passwords in addresses of databases are hidden, whatever the address looks like."""

import pytest

from boirl.search.passwords import hide_password, tells_password, without_password

ADDRESS = "postgresql://user:s3cr%40et@host:5432/db"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        (ADDRESS, "postgresql://user:***@host:5432/db"),
        ("mysql+pymysql://user:s3cret@host/db?charset=utf8", "mysql+pymysql://user:***@host/db?"),
        ("postgresql://user:s3cret@with@at@host/db", "postgresql://user:***@host/db"),
        ("postgresql://user:s3cret/with:more@host/db", "postgresql://user:***@host/db"),
        ("postgresql:///db?user=me&password=s3cret&x=1", "user=me&password=***&x=1"),
        ("postgresql://host/db?sslPassword=s3cret", "sslPassword=***"),
        ("postgresql://user@server:s3cret@host/db", "postgresql://user@server:***@host/db"),
        ("postgresql://us/er:s3cret@host/db", "postgresql://us/er:***@host/db"),
        ("user:s3cret@host/db", "user:***@host/db"),
        ("postgresql:/user:s3cret@host/db", "postgresql:***@host/db"),
        ("sqlite+pysqlcipher://:s3cret@/file.db", "sqlite+pysqlcipher://:***@/file.db"),
    ],
)
def test_passwords_are_hidden(address, expected):
    hidden = hide_password(address)
    assert expected in hidden
    assert "s3cr" not in hidden
    assert hide_password(hidden) == hidden


@pytest.mark.parametrize(
    "address",
    ["sqlite:///search.db", "sqlite:////tmp/a:b@c.db", "postgresql://user@host:5432/db", "memory"],
)
def test_addresses_without_one_stay(address):
    assert hide_password(address) == address
    assert without_password(f"{address} failed", address) == f"{address} failed"


@pytest.mark.parametrize(
    "text", [f"cannot open {ADDRESS}", "wrong password s3cr@et", "of s3cr%40et, 's3cr@et'"]
)
def test_texts_of_others_are_cleaned(text):
    assert "s3cr" not in without_password(text, ADDRESS)
    assert "***" in without_password(text, ADDRESS)
    assert without_password(text, None) == text


def test_errors_that_tell_are_found_in_a_chain():
    inner, outer = ValueError(f"no {ADDRESS}"), RuntimeError("failed")
    assert not tells_password(outer, ADDRESS)
    outer.__cause__ = inner
    assert tells_password(outer, ADDRESS)
    assert not tells_password(outer, None)
