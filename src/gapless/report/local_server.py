"""A page that asks back: served to this machine alone, its questions answered as JSON, a bad one with a sentence."""

import json
import sys
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from gapless.core import GaplessError
from gapless.core.errors import printable
from gapless.core.reading import plain_object

HERE = "127.0.0.1"
NAMES = (HERE, "localhost")
"""What this machine is called in requests; another name would be another site's that leads here."""
LARGEST = 2**18
"""Bytes of a question at most."""
PATIENCE_S = 20.0
"""After which a silent connection is closed."""
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}

Answer = Callable[[dict[str, Any]], dict[str, Any]]


class LocalServer(ThreadingHTTPServer):
    """Serves one page at `/`, and what answers say at their paths."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, page: str, answers: Mapping[str, Answer], port: int = 0) -> None:
        if not 0 <= port < 2**16:
            raise GaplessError(f"a port is a number from 0 to {2**16 - 1}; {port} is not. 0 takes any that is free.")
        self.page, self.answers = page.encode(), answers
        try:
            super().__init__((HERE, port), _Handler)
        except OSError as error:
            raise GaplessError(
                f"port {port} cannot be used ({error.strerror}). --port 0 takes any that is free."
            ) from None

    @property
    def url(self) -> str:
        return f"http://{HERE}:{self.server_address[1]}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A reader who left before the answer came is no error of ours."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: LocalServer  # pyright: ignore[reportIncompatibleVariableOverride]
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE_S
    unread = True
    """Whether bytes of the question may still wait: the connection is of no use then."""

    def do_GET(self) -> None:
        if not self._ours():
            return
        if self.path.partition("?")[0] != "/":
            self._refuse(HTTPStatus.NOT_FOUND, "there is nothing here. The page is at /.")
            return
        self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page)

    def do_POST(self) -> None:
        if not self._ours():
            return
        answer = self.server.answers.get(self.path)
        if answer is None:
            known = ", ".join(self.server.answers)
            self._refuse(HTTPStatus.NOT_FOUND, f"nobody answers at {self.path} (there is: {known}).")
            return
        try:
            said = answer(self._asked())
        except GaplessError as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
            return
        self._send(HTTPStatus.OK, "application/json", json.dumps(said, allow_nan=False).encode())

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the library itself refuses: requests that are no HTTP, or methods that nobody knows."""
        self._refuse(code, message or "this request cannot be understood.")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: a line for each frame would drown the terminal."""

    def _ours(self) -> bool:
        """Whether the request was meant for this machine; it is refused otherwise."""
        name = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
        if name in NAMES:
            return True
        self._refuse(HTTPStatus.FORBIDDEN, f"this page answers to {' and '.join(NAMES)} only.")
        return False

    def _asked(self) -> dict[str, Any]:
        # Other sites' pages can send forms without asking first, but not JSON.
        if self.headers.get_content_type() != "application/json":
            raise GaplessError("questions are JSON. Send them as application/json.")
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()) or len(length) > 9 or int(length) > LARGEST:
            raise GaplessError(f"a question says how long it is, and has at most {LARGEST} bytes.")
        content = self.rfile.read(int(length))
        self.unread = False
        try:
            return plain_object(content)
        except ValueError as error:
            raise GaplessError(f"the question is not the JSON that belongs here: {error}.") from None

    def _refuse(self, code: int, sentence: str) -> None:
        self.close_connection = self.close_connection or self.unread
        self._send(code, "application/json", json.dumps({"error": printable(sentence)}).encode())

    def _send(self, code: int, kind: str, content: bytes) -> None:
        self.send_response(code)
        for name, value in {**HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)
        self.unread = True
