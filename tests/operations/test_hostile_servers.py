"""Servers that drip, stall, lie and redirect hold nobody up, and get nothing to read twice."""

import http.client
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from datasets_app.core.http_sender import AnswerTooLarge, Request, send

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
Behavior = Callable[[socket.socket], None]


def drip(connection: socket.socket, content: bytes) -> None:
    for byte in content * 100:
        connection.sendall(bytes([byte]))
        time.sleep(0.05)


def say(content: bytes) -> Behavior:
    return lambda connection: connection.sendall(content)


BEHAVIORS: dict[str, tuple[Behavior, type[Exception] | int]] = {
    "drips its headers": (lambda c: drip(c, HEAD), TimeoutError),
    "drips its body": (lambda c: (c.sendall(HEAD + b"\r\n"), drip(c, b"x"))[1], TimeoutError),
    "stalls before a word": (lambda c: time.sleep(3), TimeoutError),
    "stalls in its body": (
        lambda c: (say(HEAD + b"Content-Length: 9\r\n\r\nab")(c), time.sleep(3))[1],
        TimeoutError,
    ),
    "says less than it promised": (say(HEAD + b"Content-Length: 9\r\n\r\nab"), http.client.HTTPException),
    "says more than is wanted": (say(HEAD + b"\r\n" + b"x" * 5000), AnswerTooLarge),
    "promises endless chunks": (
        say(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + b"400\r\n" + b"x" * 1024),
        http.client.HTTPException,
    ),
    "sends broken chunks": (
        say(HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello"),
        http.client.HTTPException,
    ),
    "speaks no HTTP": (say(b"SSH-2.0-OpenSSH\r\n"), http.client.HTTPException),
    "sends endless headers": (say(b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 300), http.client.HTTPException),
    "redirects": (
        say(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\nContent-Length: 0\r\n\r\n"),
        302,
    ),
    "answers": (say(HEAD + b"Content-Length: 2\r\n\r\n{}"), 200),
}


@pytest.fixture
def server() -> Iterator[tuple[socket.socket, list[Behavior]]]:
    listener = socket.create_server(("127.0.0.1", 0))
    behaviors: list[Behavior] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    connection.recv(1 << 16)
                    behaviors[0](connection)

    threading.Thread(target=serve, daemon=True).start()
    yield listener, behaviors
    listener.close()


@pytest.mark.parametrize("name", BEHAVIORS)
def test_a_hostile_server_ends_within_the_deadline(
    server: tuple[socket.socket, list[Behavior]], name: str
) -> None:
    listener, behaviors = server
    behavior, expected = BEHAVIORS[name]
    behaviors.append(behavior)
    port = listener.getsockname()[1]
    # The name in the address is resolved by nobody: the connection goes to what was checked.
    request = Request("GET", f"http://checked.example:{port}/a?b=c", {})
    if isinstance(expected, int):
        assert send(request, ("127.0.0.1", port), seconds=10, max_bytes=1000).status == expected
        return
    with pytest.raises(expected):
        send(request, ("127.0.0.1", port), seconds=1.0, max_bytes=1000)


def test_who_waits_can_cancel(server: tuple[socket.socket, list[Behavior]]) -> None:
    class Canceled(Exception):
        pass

    def cancel() -> None:
        raise Canceled

    listener, behaviors = server
    behaviors.append(lambda c: drip(c, HEAD))
    port = listener.getsockname()[1]
    with pytest.raises(Canceled):
        send(Request("GET", f"http://a.example:{port}/", {}), ("127.0.0.1", port), seconds=60, tick=cancel)
    assert threading.active_count() < 20
