"""Serves a built site to this machine, with live questions: `/ask?q=...` as a page, `/api/query?q=...` as JSON.

Read-only, and only for browsers of this machine: it listens on 127.0.0.1, answers nothing whose Host is another name (a
page elsewhere could otherwise read it by rebinding its own name), follows no link out of the site's folder, and serves
nothing whose name begins with a dot: that is how the site was made, no page.
"""

from __future__ import annotations

import json
import mimetypes
import re
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from markupsafe import Markup, escape

from xref.model import ExitCode, XrefError
from xref.query import language
from xref.query.json import answer_object
from xref.query.text import answer_lines, trouble_lines
from xref.site import urls
from xref.site.assets import render
from xref.store import open_index, read_meta

NAMES = ("127.0.0.1", "localhost")
"""What this machine is called in the Host of a request that is answered."""
LONGEST_QUESTION = 500
"""Characters."""
_LIMIT = 500
"""Lines of each list in an answer's page; the JSON has all."""
_NAV = b"<nav aria-label=Site>"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; form-action 'self';"
    " base-uri 'self'"
)
_PLACE = re.compile(r"([^\s:()]+\.\w+):(\d+)\b")
_EXAMPLES = ("who calls FuseTIR", "what does FuseOps call", "path from relax.build to StorageRewrite",
             "who registers relax.transform.FuseTIR", "uses of ExprMutator")  # fmt: skip


class Reply(NamedTuple):
    """What is sent back."""

    status: HTTPStatus
    kind: str
    body: bytes


class Server(ThreadingHTTPServer):
    """The server of one site and its index. `port` 0 takes any free one."""

    daemon_threads = True

    def __init__(self, db: Path, site: Path, port: int) -> None:
        """Raises `XrefError`: exit code 3 without a usable index, 5 when there is no site or the port is taken."""
        if not (site / "index.html").is_file():
            raise XrefError(f"{site} holds no site: make one with `xref site --out {site}`", ExitCode.UNUSABLE_INPUT)
        with closing(open_index(db)) as index:
            meta = read_meta(index)
        self.db, self.site = db, site.resolve()
        self.title = " ".join(filter(None, (meta.get("project", ""), meta.get("tvm_version", ""))))
        self.has_walks = (self.site / "walks" / "index.html").is_file()
        try:
            super().__init__(("127.0.0.1", port), _Handler)
        except OSError as error:
            raise XrefError(
                f"port {port} cannot be used ({error.strerror}): name another --port, or 0 for any",
                ExitCode.UNUSABLE_INPUT,
            ) from error

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self.server_address[1])

    def handle_error(self, request: object, client_address: object) -> None:  # noqa: ARG002 - the base class's
        """Say in a line what failed; a client that went away is no fault of anybody."""
        error = sys.exception()
        if not isinstance(error, ConnectionError):
            sys.stderr.write(f"xref: a request could not be answered: {error!r}\n")

    def admits(self, hosts: Sequence[str], target: str) -> bool:
        """Whether a request is for this server by a name of this machine. `hosts` are its Host headers; a `target` that
        is a whole address names the host too, and for whoever reads that one first it would be the only one."""
        named = list(hosts)
        if not target.startswith("/"):
            try:
                named.append(urlsplit(target).netloc)
            except ValueError:
                return False
        own = {f"{name}:{self.port}" for name in NAMES}
        return len(hosts) == 1 and all(host.lower() in own for host in named)

    def answer(self, target: str) -> Reply:
        """The reply to a request for `target`, a path with its query."""
        parts = urlsplit(target)
        question = parse_qs(parts.query).get("q", [""])[0].strip()[:LONGEST_QUESTION]
        if parts.path == "/ask":
            return self._ask(question)
        if parts.path == "/api/query":
            return self._query(question)
        return self._file(unquote(parts.path))

    def _file(self, path: str) -> Reply:
        wanted = self.site / path.lstrip("/")
        hidden = any(part.startswith(".") for part in path.split("/"))
        try:
            full = (wanted / "index.html" if path.endswith("/") else wanted).resolve()
            data = full.read_bytes() if full.is_relative_to(self.site) and not hidden else None
        except (OSError, ValueError):
            data = None
        if data is None:
            page = self._page("Not here", "", Markup("<p class=none>The site has no such page.</p>"))
            return Reply(HTTPStatus.NOT_FOUND, "text/html; charset=utf-8", page)
        kind = mimetypes.guess_type(full.name)[0] or "application/octet-stream"
        if kind == "text/html":
            data = data.replace(_NAV, _NAV + b"<a href=/ask>Ask</a> ", 1)
        return Reply(HTTPStatus.OK, kind + ("; charset=utf-8" if kind.startswith("text/") else ""), data)

    def _ask(self, question: str) -> Reply:
        status, lines = HTTPStatus.OK, Markup()
        if question:
            try:
                with closing(open_index(self.db)) as db:
                    answer = language.ask(db, question)
                    text = [*trouble_lines(answer), *answer_lines(answer, _LIMIT, 160)]
                    known = {path for (path,) in db.execute("SELECT path FROM files")}
                lines = Markup("\n").join(_linked(line, known) for line in text)
            except (XrefError, sqlite3.Error) as error:
                status, lines = HTTPStatus.BAD_REQUEST, escape(str(error))
        return Reply(status, "text/html; charset=utf-8", self._page("Ask", question, lines))

    def _page(self, title: str, question: str, lines: Markup) -> bytes:
        html = render("ask.html.j2", title=title, site=self.title, root="/", question=question, lines=lines,
                      examples=_EXAMPLES, has_walks=self.has_walks)  # fmt: skip
        return html.encode("utf-8", "replace").replace(_NAV, _NAV + b"<a href=/ask>Ask</a> ", 1)

    def _query(self, question: str) -> Reply:
        status = HTTPStatus.OK
        try:
            with closing(open_index(self.db)) as db:
                found: dict[str, object] = answer_object(language.ask(db, question))
        except (XrefError, sqlite3.Error) as error:
            status, found = HTTPStatus.BAD_REQUEST, {"schema": 1, "error": str(error)}
        return Reply(status, "application/json", json.dumps(found).encode())


def _linked(line: str, known: set[str]) -> Markup:
    """A line of an answer whose places are links."""
    parts, end = [], 0
    for match in _PLACE.finditer(line):
        if match[1] in known:
            url = f"/{urls.source_url(match[1])}#L{match[2]}"
            parts += [escape(line[end : match.start()]), Markup('<a href="{}">{}</a>').format(url, match[0])]
            end = match.end()
    return Markup("").join([*parts, escape(line[end:])])


class _Handler(BaseHTTPRequestHandler):
    """One connection. GET and HEAD only."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "xref"
    sys_version = ""
    # Without these two each answer waits 40 ms for the client's delayed acknowledgement.
    wbufsize = 65536
    disable_nagle_algorithm = True
    timeout = 60

    def do_GET(self) -> None:
        """Answer a request."""
        self._send(body=True)

    def do_HEAD(self) -> None:
        """Answer without the body."""
        self._send(body=False)

    def _send(self, *, body: bool) -> None:
        if not self.server.admits(self.headers.get_all("Host", []), self.path):
            reply = Reply(HTTPStatus.FORBIDDEN, "text/plain; charset=utf-8", b"for this machine only\n")
        else:
            reply = self.server.answer(self.path)
        self.send_response(reply.status)
        for name, value in (
            ("Content-Type", reply.kind), ("Content-Length", str(len(reply.body))), ("Cache-Control", "no-cache"),
            ("Content-Security-Policy", _POLICY), ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Resource-Policy", "same-origin"), ("Referrer-Policy", "no-referrer"),
        ):  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(reply.body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Say nothing for each request; errors go to standard error."""

    def log_error(self, format: str, *args: object) -> None:  # noqa: A002
        """A connection that failed, but for those that clients leave open."""
        if "timed out" not in format:
            sys.stderr.write(f"xref: {format % args}\n")
