"""A site behind HTTP: JSON in, JSON out, a token, and this machine alone unless told otherwise."""

from __future__ import annotations

import hmac
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from boirl.errors import BoirlError, InvalidInputError, SiteError
from boirl.federation.messages import Message, Parts, answer, decode, encode
from boirl.federation.site import LocalSite

LOCALHOST = "127.0.0.1"
MAX_QUESTION = 2**25
"""Bytes of a question at most."""

IDLE_SECONDS = 600.0
"""A connection on which nothing happens for so long is closed."""

LEAST_TOKEN = 16
"""Characters of a token that cannot be guessed."""


class SiteServer(ThreadingHTTPServer):
    """Answers for a site until it is stopped: `with SiteServer(site, token) as server: ...`.

    Args:
        site: What to answer for.
        token: Whoever asks has to know it.
        port: 0 for any that is free; `server.address` says which.
        host: Address to listen on; by default this machine alone. Nothing is encrypted: let others
            reach it through an SSH tunnel or a proxy with TLS.
    """

    daemon_threads = True

    def __init__(self, site: LocalSite, token: str, port: int = 0, host: str = LOCALHOST) -> None:
        if len(token) < LEAST_TOKEN or not token.isascii() or not token.isprintable():
            raise InvalidInputError(
                f"the token has {len(token)} characters; expected at least {LEAST_TOKEN} printable "
                "ones, such as secrets.token_urlsafe(24)"
            )
        self.site = site
        self.token = token
        self.parts: Parts = {}
        try:
            super().__init__((host, port), _Handler)
        except (OSError, OverflowError) as error:
            raise SiteError(
                f"a server cannot listen on {host}, port {port} ({error}); choose another port"
            ) from None
        self._thread: threading.Thread | None = None

    @property
    def address(self) -> str:
        """What a coordinator connects to."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    def __enter__(self) -> SiteServer:
        self._thread = threading.Thread(target=self.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *raised: Any) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks is no event."""


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: SiteServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = IDLE_SECONDS
    server_version = "boirl"
    sys_version = ""

    def do_POST(self) -> None:
        given = self.headers.get("Authorization", "").encode("latin-1", "replace")
        if not hmac.compare_digest(given, f"Bearer {self.server.token}".encode()):
            self._refuse(401, "InvalidInputError", "the token is missing or wrong")
            return
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > MAX_QUESTION:
            self._refuse(413, "InvalidInputError", f"expected at most {MAX_QUESTION} bytes")
            return
        content = self.rfile.read(int(length))
        site = self.server.site
        try:
            said = answer(
                site,
                self.server.parts,
                self.path.lstrip("/"),
                decode(content),
                site.problem.box.dimension,
            )
            self._reply(200, said)
        except BoirlError as error:
            self._refuse(400, type(error).__name__, str(error), close=False)
        except Exception:
            # What went wrong may quote a demonstration.
            self._refuse(500, "SiteError", f"site {site.name!r} failed to answer")
            raise

    def _refuse(self, status: int, kind: str, message: str, close: bool = True) -> None:
        # What is left of a question that was not read would be taken for the next one.
        self.close_connection = close
        self._reply(status, {"error": {"kind": kind, "message": message}})

    def _reply(self, status: int, message: Message) -> None:
        content = encode(message)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a log of thetas is for whoever starts the server to keep."""
