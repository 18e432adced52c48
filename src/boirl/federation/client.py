"""A site that is reached over HTTP."""

from __future__ import annotations

import http.client
import socket
import threading
import time
from typing import Any
from urllib.parse import urlsplit

from boirl import errors
from boirl.demonstrations import Demonstrations
from boirl.errors import BoirlError, InvalidInputError, SiteError
from boirl.federation import messages
from boirl.federation.questions import Draw, Part, Site, SiteFacts, SiteSums
from boirl.types import FloatArray

MAX_ANSWER = 2**28
"""Bytes of an answer at most."""

TRIES, FIRST_WAIT = 4, 0.5
"""How often a site that cannot be reached is tried, and seconds before the second time; they double
each time. Every question may be asked twice: the answer is the same."""


class HttpSite(Site):
    """A site behind a `SiteServer`.

    Args:
        address: Such as `http://127.0.0.1:8765`, or `https://...` where a proxy encrypts.
        token: What the site was started with.
        timeout: Seconds to wait for an answer.
    """

    is_remote = True

    def __init__(self, address: str, token: str, timeout: float = 600.0) -> None:
        try:
            parts = urlsplit(address)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise InvalidInputError(
                f"the address of a site is {address.rpartition('@')[2]!r}; expected one such as "
                "'http://127.0.0.1:8765'"
            )
        self.address = f"{parts.scheme}://{parts.netloc}"
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else (http.client.HTTPConnection)
        )
        self._connection = kind(parts.hostname, port, timeout=timeout)
        self._token = token
        self._lock = threading.Lock()
        self._facts: SiteFacts | None = None
        self._dimension = 0

    def __repr__(self) -> str:
        return f"HttpSite({self.address!r})"

    def __enter__(self) -> HttpSite:
        return self

    def __exit__(self, *raised: Any) -> None:
        self.close()

    def close(self) -> None:
        """End the connection; the next question opens another one."""
        with self._lock:
            self._connection.close()

    def facts(self) -> SiteFacts:
        if self._facts is None:
            self._facts = self._read("facts", messages.read_facts, self._ask("facts", {}))
        return self._facts

    def check(self, reference: Demonstrations) -> str:
        asked = {"reference": messages.demonstrations_message(reference)}
        return str(self._ask("check", asked).get("fingerprint"))

    def sums(self, theta: tuple[float, ...]) -> SiteSums:
        said = self._ask("sums", {"theta": list(theta)})
        return self._read("sums", lambda message: messages.read_sums(message, len(theta)), said)

    def draw(self, draw: Draw) -> dict[str, Any]:
        state = self._ask("draw", messages.draw_message(draw)).get("state")
        if not isinstance(state, dict):
            raise self._unreadable("draw", "there is no state of random numbers")
        return state

    def project(
        self, part: Part, thetas: FloatArray, slopes: bool
    ) -> tuple[FloatArray, FloatArray | None]:
        asked = {"key": part.key, "thetas": thetas.tolist(), "slopes": slopes}
        said = self._ask("project", asked)
        if messages.UNKNOWN_PART in said:
            said = self._ask("project", {**asked, "part": messages.part_message(part)})
        shape = (len(thetas), len(part.indices))

        def read(message: messages.Message) -> tuple[FloatArray, FloatArray | None]:
            values = messages.read_numbers(message["values"], "values", shape)
            if message["slopes"] is None:
                return values, None
            expected = (*shape, thetas.shape[1])
            return values, messages.read_numbers(message["slopes"], "slopes", expected)

        return self._read("project", read, said)

    def behaviour(self, thetas: FloatArray) -> tuple[int, FloatArray]:
        said = self._ask("behaviour", {"thetas": thetas.tolist()})
        shape = (len(thetas), len(thetas))
        return self._read(
            "behaviour",
            lambda message: (
                int(message["steps"]),
                messages.read_numbers(message["sums"], "sums", shape),
            ),
            said,
        )

    def _ask(self, question: str, message: messages.Message) -> dict[str, Any]:
        """What the site answers, read as JSON; tried again where the connection breaks."""
        content, wait = messages.encode(message), FIRST_WAIT
        for attempt in range(TRIES):
            try:
                status, said = self._exchange(question, content)
                break
            except (OSError, http.client.HTTPException) as error:
                self.close()
                if attempt == TRIES - 1:
                    raise SiteError(
                        f"the site at {self.address} does not answer ({_reason(error)}); check "
                        "that it is running (boirl site serve) and that the address is right, then "
                        "run again to resume"
                    ) from None
                time.sleep(wait)
                wait *= 2.0
        try:
            found = messages.decode(said)
        except InvalidInputError as error:
            raise self._unreadable(question, str(error)) from None
        if status != http.client.OK:
            raise self._error(found.get("error"))
        return found

    def _exchange(self, question: str, content: bytes) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        with self._lock:
            self._connection.request("POST", f"/{question}", content, headers)
            response = self._connection.getresponse()
            said = response.read(MAX_ANSWER + 1)
        if len(said) > MAX_ANSWER:
            self.close()
            raise self._unreadable(question, f"it has more than {MAX_ANSWER} bytes")
        return response.status, said

    def _error(self, said: Any) -> BoirlError:
        """The error that a site reports, of the same kind where that is one of ours."""
        if not isinstance(said, dict):
            return SiteError(f"the site at {self.address} refused, without a reason")
        kind = getattr(errors, str(said.get("kind")), SiteError)
        if not (isinstance(kind, type) and issubclass(kind, BoirlError)):
            kind = SiteError
        text = " ".join(str(said.get("message")).split())
        return kind(f"the site at {self.address}: {text}")

    def _read(self, question: str, read: Any, message: messages.Message) -> Any:
        try:
            return read(message)
        except (KeyError, TypeError, ValueError) as error:
            raise self._unreadable(question, str(error)) from None

    def _unreadable(self, question: str, reason: str) -> SiteError:
        return SiteError(
            f"the answer of {self.address} to {question!r} cannot be read ({reason}); check that "
            "it runs the same version of boirl"
        )


def _reason(error: Exception) -> str:
    if isinstance(error, socket.timeout):
        return "no answer in time"
    return str(error) or type(error).__name__
