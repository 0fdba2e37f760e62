"""A network that breaks: a proxy that closes its connections after some bytes, so many times."""

import socket
import threading
from contextlib import suppress
from urllib.parse import urlsplit


class CuttingProxy:
    """``cuts`` are how many bytes go to (upward) or come from the server before each of the next connections
    breaks; after that it lets everything through."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._server = (parts.hostname, parts.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.cuts: list[tuple[str, int]] = []
        self.made = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(self._server)
                for way, source, target in (("up", client, server), ("down", server, client)):
                    threading.Thread(target=self._pump, args=(way, source, target), daemon=True).start()

    def _pump(self, way: str, source: socket.socket, target: socket.socket) -> None:
        passed = 0
        with suppress(OSError):
            while block := source.recv(1 << 14):
                passed += len(block)
                if self.cuts and self.cuts[0][0] == way and passed > self.cuts[0][1]:
                    self.cuts.pop(0)
                    self.made += 1
                    break
                target.sendall(block)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
