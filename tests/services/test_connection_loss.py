"""A machine that is cut off is noticed by both ends of its database connection."""

import socket
import threading
from collections.abc import Iterator

import pytest
from django.db import connection

from alignmenter_site.postgresql import base


@pytest.fixture
def port() -> Iterator[int]:
    """Of a server on this machine that passes everything on to the socket of the tests' PostgreSQL."""
    host = connection.settings_dict["HOST"]
    if not host.startswith("/"):
        pytest.skip("this server is reached over a network")
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            client, _ = listener.accept()
            server = socket.socket(socket.AF_UNIX)
            server.connect(f"{host}/.s.PGSQL.5432")
            for one, other in ((client, server), (server, client)):
                threading.Thread(target=pass_on, args=(one, other), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        yield int(listener.getsockname()[1])


def pass_on(one: socket.socket, other: socket.socket) -> None:
    while data := one.recv(1 << 16):
        other.sendall(data)
    other.close()


@pytest.mark.django_db
def test_a_connection_over_a_network_has_keepalives(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "tcp_keepalives_idle = 30" in base.SERVER_KEEPALIVES
    # Of a Unix socket, the server shows no keepalives, whatever it was told; this it shows.
    monkeypatch.setattr(base, "SERVER_KEEPALIVES", f"{base.SERVER_KEEPALIVES}; SET application_name = 'told'")
    shown = {}
    for host, at in (("127.0.0.1", str(port)), (connection.settings_dict["HOST"], "")):
        other = connection.copy()
        other.settings_dict = connection.settings_dict | {"HOST": host, "PORT": at}
        try:
            with other.cursor() as cursor:
                cursor.execute("SHOW application_name")
                parameters = other.connection.info.get_parameters()
                shown[host[:1]] = (cursor.fetchone()[0], parameters.get("tcp_user_timeout"))
            assert other.get_autocommit()
        finally:
            other.close()
    assert shown == {"1": ("told", "60000"), "/": ("", None)}
