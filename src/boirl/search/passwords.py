"""Passwords in addresses of databases, which no message, log or file may hold."""

from __future__ import annotations

import re
from urllib.parse import unquote

HIDDEN = "***"

_SCHEME = r"[\w.+-]*://"
_USER = re.compile(
    rf"^(?P<before>(?:{_SCHEME}|(?!{_SCHEME}))[^:]*:)(?P<secret>.*)(?P<after>@)", re.DOTALL
)
"""Up to the last `@`: a password that should have been quoted may hold one itself."""

_OPTION = re.compile(
    r"(?P<before>[?&;][^=&;]*(?:pass|pwd|secret|token)[^=&;]*=)(?P<secret>[^&;]*)(?P<after>)", re.I
)


def hide_password(address: str) -> str:
    """The address with `***` in place of its password; unchanged where it has none.

    It need not be well-formed, so that it can be named in the message that refuses it.
    """
    if address.startswith("sqlite:"):
        return address
    for pattern in (_USER, _OPTION):
        address = pattern.sub(rf"\g<before>{HIDDEN}\g<after>", address)
    return address


def without_password(text: str, address: str | None) -> str:
    """A text of somebody else, such as an error, without the password of an address."""
    if address is None or hide_password(address) == address:
        return text
    text = text.replace(address, hide_password(address))
    for secret in _secrets(address):
        text = text.replace(secret, HIDDEN)
    return text


def tells_password(error: BaseException | None, address: str | None) -> bool:
    """Whether an error, or one that it was raised from, says the password of an address."""
    while error is not None:
        if any(without_password(text, address) != text for text in (str(error), repr(error))):
            return True
        error = error.__cause__ or error.__context__
    return False


def _secrets(address: str) -> list[str]:
    """Spellings of the passwords of an address, the longest first."""
    found = {
        spelling
        for pattern in (_USER, _OPTION)
        for match in pattern.finditer(address)
        for secret in (match["secret"], match["secret"].partition("@")[0])
        for spelling in (secret, unquote(secret))
    }
    return sorted(found - {""}, key=len, reverse=True)
