"""The server of a page: answers this machine alone, refuses in a sentence, and never shows where it stumbled."""

import http.client
import json
import socket
from collections.abc import Iterator
from threading import Thread
from typing import Any

import pytest

from gapless.core import GaplessError
from gapless.report import LocalServer, world_page


def doubled(asked: dict[str, Any]) -> dict[str, Any]:
    if "number" not in asked:
        raise GaplessError("there is no number to double.")
    return {"double": 2 * asked["number"]}


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with LocalServer("<p>hello</p>", {"/double": doubled}) as running:
        thread = Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def ask(
    server: LocalServer, method: str, path: str, body: bytes | None = None, headers: dict | None = None
) -> tuple[int, Any]:
    line = http.client.HTTPConnection(*server.server_address[:2], timeout=5)
    line.request(method, path, body, {"Content-Type": "application/json", **(headers or {})})
    answer = line.getresponse()
    content = answer.read()
    line.close()
    kind = answer.headers.get_content_type()
    return answer.status, json.loads(content) if kind == "application/json" and content else content.decode()


def test_page_and_answers_come_from_one_address(server: LocalServer):
    assert ask(server, "GET", "/") == (200, "<p>hello</p>")
    assert ask(server, "POST", "/double", b'{"number": 21}') == (200, {"double": 42})


def test_many_questions_use_one_connection(server: LocalServer):
    line = http.client.HTTPConnection(*server.server_address[:2], timeout=5)
    for body in (b'{"number": 1}', b"{}", b'{"number": 2}'):
        line.request("POST", "/double", body, {"Content-Type": "application/json"})
        line.getresponse().read()
        assert line.sock is not None
    line.close()


@pytest.mark.parametrize(
    ("body", "headers", "says"),
    [
        (b"{}", {}, "no number to double"),
        (b"[]", {}, "a JSON object belongs there"),
        (b"", {}, "not the JSON"),
        (b'{"number": NaN}', {}, "NaN is not a number"),
        (b"\xff\xfe\x00", {}, "not the JSON"),
        (b"[" * 100_000, {}, "nested too deeply"),
        (b'{"number": ' + b"9" * 5000 + b"}", {}, "not the JSON"),
        (b'{"number": 1}', {"Content-Type": "text/plain"}, "Send them as application/json"),
        (b"{}", {"Content-Length": "-3"}, "says how long it is"),
        (b"{}", {"Content-Length": "999999999999999"}, "at most 262144 bytes"),
    ],
)
def test_bad_question_gets_one_sentence(server: LocalServer, capfd, body: bytes, headers: dict, says: str):
    code, said = ask(server, "POST", "/double", body, headers)
    assert code == 400
    assert says in said["error"] and said["error"].isprintable()
    assert capfd.readouterr().err == ""
    assert ask(server, "POST", "/double", b'{"number": 1}')[0] == 200


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [("GET", "/../etc/passwd", 404), ("POST", "/state", 404), ("DELETE", "/", 501), ("HEAD", "/", 501)],
)
def test_what_is_not_there_is_refused_in_words(server: LocalServer, capfd, method: str, path: str, code: int):
    assert ask(server, method, path)[0] == code
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_other_names_for_this_machine_are_not_answered(server: LocalServer, host: str):
    assert ask(server, "GET", "/", headers={"Host": host})[0] == 403
    assert ask(server, "POST", "/double", b'{"number": 1}', {"Host": host})[0] == 403
    assert ask(server, "GET", "/", headers={"Host": "localhost:99"})[0] == 200


def test_noise_instead_of_http_is_survived(server: LocalServer, capfd):
    for noise in (b"\x16\x03\x01\x02\x00\n\n", b"GET\n\n", b"POST /double HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"):
        with socket.create_connection(server.server_address[:2], timeout=5) as line:
            line.sendall(noise)
    assert ask(server, "GET", "/")[0] == 200
    assert capfd.readouterr().err == ""


def test_only_this_machine_is_listened_to(server: LocalServer):
    assert server.server_address[0] == "127.0.0.1"


def test_port_that_is_taken_is_named(server: LocalServer):
    port = server.server_address[1]
    with pytest.raises(GaplessError, match=rf"port {port} cannot be used .* --port 0 takes any"):
        LocalServer("", {}, port)


def test_port_that_is_none_is_refused():
    with pytest.raises(GaplessError, match="from 0 to 65535; 70000 is not"):
        LocalServer("", {}, 70_000)


def test_page_of_the_world_names_nothing_elsewhere():
    page = world_page()
    assert page == world_page()
    assert "http://" not in page and "https://" not in page and "src=" not in page
