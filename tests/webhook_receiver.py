"""A real HTTP server that receives webhooks, and misbehaves on purpose."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from standardwebhooks import Webhook


class Message(NamedTuple):
    """As it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    def verify(self, secret: str) -> Any:
        """Its content; raises WebhookVerificationError."""
        return Webhook(secret).verify(self.body, self.headers)


class Receiver:
    """``answers`` are the next statuses; "stall" sends nothing, "drip" a byte now and then, "cut" hangs up.
    Without any, it answers 204."""

    def __init__(self, host: str = "127.0.0.1", port: int = 0) -> None:
        self.messages: list[Message] = []
        self.answers: list[int | str] = []
        self.location = ""
        self._stopping = threading.Event()
        self._server = ThreadingHTTPServer((host, port), self._handler())
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"http://{host}:{self.port}/hook"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {key.lower(): value for key, value in self.headers.items()}
                receiver.messages.append(Message(self.path, headers, body))
                answer = receiver.answers.pop(0) if receiver.answers else 204
                if isinstance(answer, str):
                    self.close_connection = True
                    receiver.misbehave(answer, self)
                    return
                self.send_response(answer)
                if receiver.location:
                    self.send_header("Location", receiver.location)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        return Handler

    def misbehave(self, how: str, handler: Any) -> None:
        if how == "stall":
            self._stopping.wait(60)
        while how == "drip" and not self._stopping.wait(0.05):
            try:
                handler.wfile.write(b"H")
            except OSError:
                return
        if how == "slow":
            time.sleep(0.2)
