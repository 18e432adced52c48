"""A report that is served on this machine while a search runs."""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from boirl.errors import BoirlError
from boirl.report.page import report_page
from boirl.report.sources import Source

HOST = "127.0.0.1"
"""Nobody on the network sees it."""

WAITING = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="refresh" content="2"><title>boirl report</title></head>
<body style="font-family: system-ui, sans-serif; margin: 3rem"><h1>boirl report</h1>
<p>The report is being made; this page shows it as soon as it is there.</p></body></html>"""


class LiveReport:
    """Builds the report again whenever there is more to see, and serves the latest one.

    Args:
        sources: One or two results that may grow.
        port: To listen on; 0 for any that is free.
        every: Seconds between looks at the sources.
    """

    def __init__(self, sources: Sequence[Source], port: int = 0, every: float = 2.0) -> None:
        self.sources = sources
        self.every = every
        self._page = WAITING
        self._shown: tuple[int, ...] | None = None
        self._number = 0
        self._message = "waiting for the first evaluation"
        self._ended = threading.Event()
        self._server = ThreadingHTTPServer((HOST, port), self._handler())
        self._server.daemon_threads = True

    @property
    def address(self) -> str:
        """What to open in a browser."""
        return f"http://{HOST}:{self._server.server_port}/"

    def __enter__(self) -> LiveReport:
        for target in (self._server.serve_forever, self._follow):
            threading.Thread(target=target, daemon=True).start()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()

    def wait(self) -> None:
        """Serve until the process is interrupted."""
        self._ended.wait()

    def _follow(self) -> None:
        while not self._ended.is_set():
            self.refresh()
            self._ended.wait(self.every)

    def refresh(self) -> bool:
        """Build the report again if there is more to see; whether there was."""
        try:
            versions = tuple(source.version() for source in self.sources)
            if versions == self._shown:
                return False
            results = [source.result() for source in self.sources]
            count = " and ".join(str(len(result)) for result in results)
            self._message = f"live: {count} evaluations, a new report is being made"
            self._page = report_page(results, live=self._number + 1)
        except BoirlError as error:
            self._message = f"live: {error}"
            return False
        self._number += 1
        self._shown = versions
        self._message = f"live: {count} evaluations"
        return True

    def _answer(self, path: str) -> tuple[str, str] | None:
        """Content and type of what there is."""
        if path == "/":
            return self._page, "text/html; charset=utf-8"
        if path == "/favicon.ico":  # browsers ask for one, and complain where there is none
            return "", "image/x-icon"
        if path == "/state":
            state = {"version": self._number, "message": self._message}
            return json.dumps(state), "application/json"
        return None

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        report = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                # Another site may have its name point here; it must not read the report.
                port = self.server.server_port  # type: ignore[attr-defined]
                if self.headers.get("Host") not in {f"{HOST}:{port}", f"localhost:{port}"}:
                    self.send_error(403)
                    return
                found = report._answer(self.path.partition("?")[0])
                if found is None:
                    self.send_error(404)
                    return
                content = found[0].encode()
                self.send_response(200)
                self.send_header("Content-Type", found[1])
                self.send_header("Content-Length", str(len(content)))
                self.send_header("Cache-Control", "no-store")
                self.send_header("X-Content-Type-Options", "nosniff")
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *given: Any) -> None:
                """Requests are nobody's business."""

        return Handler
