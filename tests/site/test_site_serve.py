"""`xref serve`: the site and live questions, for this machine only."""

from __future__ import annotations

import http.client
import json
import shutil
import socket
import struct
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
import site_case

from xref.model import XrefError
from xref.site.publish import MARKER
from xref.site.serve import Server
from xref.site.state import FILE as STATE


@pytest.fixture(scope="module")
def server(site: site_case.Site) -> Iterator[Server]:
    with Server(site.db, site.folder, 0) as made:
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        yield made
        made.shutdown()


def get(server: Server, path: str, method: str = "GET", **headers: str) -> tuple[int, str, http.client.HTTPResponse]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text, response


def test_it_serves_the_site_with_a_way_to_ask(server: Server, site: site_case.Site) -> None:
    status, text, response = get(server, "/")
    assert status == 200
    assert text.replace("<a href=/ask>Ask</a> ", "") == site.read("index.html")
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]
    assert get(server, "/assets/xref.js")[0] == 200
    assert get(server, "/no/such.html")[0] == 404


def test_questions(server: Server) -> None:
    text = get(server, "/ask?q=who+calls+tvm.relax.transform.FuseTIR")[1]
    assert "tvm.relax.pipeline.zero" in text
    assert 'href="/source/python/tvm/relax/pipeline.py.html#L5"' in text, "places are links"
    status, text, _ = get(server, "/api/query?q=who+calls+tvm.relax.transform.FuseTIR")
    assert status == 200
    callers = json.loads(text)["matches"][0]["callers"]
    assert {caller["name"] for caller in callers} == {"tvm.relax.pipeline.zero", "tvm.relax.pipeline.one"}
    assert get(server, "/api/query?q=")[0] == 400
    assert get(server, "/ask?q=path+from")[0] in (200, 400)


def test_a_hostile_question_is_text(server: Server) -> None:
    text = get(server, "/ask?q=%3Cscript%3Ealert(1)%3C/script%3E%22onfocus=x")[1]
    assert "<script>alert" not in text
    assert '"onfocus' not in text


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "", "localhost.evil.example:1"])
def test_other_hosts_are_refused(server: Server, host: str) -> None:
    """DNS rebinding: a page elsewhere gives its own name this machine's address."""
    assert get(server, "/", Host=host)[0] == 403
    assert get(server, "/api/query?q=x", Host=host)[0] == 403
    assert get(server, "/", Host=f"localhost:{server.port}")[0] == 200


def raw(server: Server, request: str) -> str:
    """What the server answers to `request`, byte for byte: clients of libraries do not send such."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(request.encode())
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(partial(connection.recv, 65536), b"")).decode()


@pytest.mark.parametrize(
    "request_",
    [
        "GET / HTTP/1.1\r\nHost: OWN\r\nHost: evil.example\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: evil.example\r\nHost: OWN\r\n\r\n",
        "GET http://evil.example/ HTTP/1.1\r\nHost: OWN\r\n\r\n",
        "GET http://OWN@evil.example/ HTTP/1.1\r\nHost: OWN\r\n\r\n",
        "GET http://OWN/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET http://[/ HTTP/1.1\r\nHost: OWN\r\n\r\n",
        "GET index.html HTTP/1.1\r\nHost: OWN\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
    ],
)
def test_a_host_that_is_told_in_two_ways_is_refused(server: Server, request_: str) -> None:
    assert raw(server, request_.replace("OWN", f"localhost:{server.port}")).startswith("HTTP/1.1 403 ")


@pytest.mark.parametrize("target", ["/index.html", "http://OWN/index.html"])
def test_the_own_host_is_answered(server: Server, target: str) -> None:
    request = f"GET {target} HTTP/1.1\r\nHost: OWN\r\nConnection: close\r\n\r\n"
    answer = raw(server, request.replace("OWN", f"LocalHost:{server.port}"))
    assert answer.startswith("HTTP/1.1 200 ")
    assert "<h1" in answer


@pytest.mark.parametrize("path", [f"/{STATE}", f"/{MARKER}", "/%2exref-site-state", "/runs/../.xref-site.json"])
def test_how_the_site_was_made_is_not_served(server: Server, site: site_case.Site, path: str) -> None:
    assert (site.folder / STATE).is_file()
    assert get(server, path)[0] == 404


def test_a_client_that_goes_away_is_no_fault(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    """A browser that closes a page in the middle had printed a traceback."""
    ended = threading.Event()
    ending = server.shutdown_request

    def end(request: object) -> None:
        ending(request)  # type: ignore[arg-type]
        ended.set()

    server.shutdown_request = end  # type: ignore[method-assign]
    try:
        with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # a reset at the end
            connection.sendall(b"GET /index.html HTTP/1.1\r\n")
        assert ended.wait(10)
    finally:
        server.shutdown_request = ending  # type: ignore[method-assign]
    assert capfd.readouterr().err == ""


def test_the_head_of_a_question_has_all_parts_of_the_site(site: site_case.Site, tmp_path: Path) -> None:
    """That of an answer had no walks."""
    folder = tmp_path / "site"
    shutil.copytree(site.folder, folder)
    for has_walks in (True, False):
        shutil.rmtree(folder / "walks", ignore_errors=True)
        if has_walks:
            (folder / "walks").mkdir()
            (folder / "walks" / "index.html").write_text("<!doctype html>")
        with Server(site.db, folder, 0) as made:
            assert ("walks/index.html>Walks</a>" in made.answer("/ask").body.decode()) == has_walks


@pytest.mark.parametrize(
    "path", ["/../xref.db", "/%2e%2e/xref.db", "/..%2fxref.db", "//etc/passwd", "/link/xref.db", "/%00"]
)
def test_nothing_outside_the_site_is_served(server: Server, site: site_case.Site, path: str) -> None:
    link = site.folder / "link"
    if not link.is_symlink():
        link.symlink_to(site.folder.parent)
    try:
        assert get(server, path)[0] == 404
    finally:
        link.unlink()


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_it_changes_nothing(server: Server, method: str) -> None:
    assert get(server, "/index.html", method)[0] == 501
    assert get(server, "/index.html", "HEAD")[1] == ""


def test_what_is_missing_is_named(site: site_case.Site, tmp_path: Path) -> None:
    with pytest.raises(XrefError, match="xref site"):
        Server(site.db, tmp_path, 0)
    with pytest.raises(XrefError) as caught:
        Server(tmp_path / "none.db", site.folder, 0)
    assert caught.value.exit_code == 3
    with Server(site.db, site.folder, 0) as first, pytest.raises(XrefError, match="--port"):
        Server(site.db, site.folder, first.port)
