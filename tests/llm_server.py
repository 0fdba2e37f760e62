"""A real HTTP server that speaks the OpenAI chat completions protocol and misbehaves on purpose.

    with LlmServer(faults=FAULTS, seed=3) as server:
        ...  # server.url is a base URL; server.asked holds every request

``python -m tests.llm_server --latency 0.05`` runs one by itself and prints its base URL.
"""

import argparse
import asyncio
import hashlib
import json
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

FAULTS = ("429", "500", "hang", "cut", "not_json", "wrong_schema", "no_choices", "refusal")
HANG_SECONDS = 30.0
# None of which reads as a name of a person.
VOCABULARY = """
account answer board cause change check choose clear column copy date detail early export
find first folder form group guide help import item keep later layout list menu name next note open order
owner part place plan point quiet reason record report restore result review save screen section set share
sheet side sort start step table task team time together track under update value view week while window
write
"""
WORDS = VOCABULARY.split()


@dataclass
class RecordedRequest:
    """A request as it came in, and what was done with it."""

    session: str
    headers: dict[str, str]
    body: dict[str, Any]
    path: str = ""
    fault: str = ""
    tokens: int = 0  # as told in the answer, or as a server that has worked in vain would bill them
    answered: bool = False
    began: float = field(default_factory=time.monotonic)

    @property
    def prompt(self) -> str:
        return "\n".join(str(message.get("content")) for message in self.body.get("messages", []))


class LlmServer:
    """``faults``: each comes up in ``share`` of the requests, by chance from ``seed``.

    ``first``: what the first requests meet, one after the other, before chance decides ("" for nothing).
    ``fault_for``: which fault a request meets, in place of chance.
    ``answer``: writes the contents of answers in place of conversations.
    ``formats``: what is accepted as response_format ("text" is none). ``key``: the bearer key asked for.
    """

    def __init__(
        self,
        *,
        faults: Iterable[str] = (),
        share: float = 0.1,
        seed: int = 1,
        first: Iterable[str] = (),
        latency: float = 0.0,
        retry_after: str | Callable[[], str] = "0",
        formats: Iterable[str] = ("json_schema", "json_object", "text"),
        refused_parameters: Iterable[str] = (),
        key: str = "",
        usage: bool = True,
        port: int = 0,
        answer: Callable[["RecordedRequest"], str] | None = None,
        fault_for: Callable[["RecordedRequest"], str] | None = None,
    ) -> None:
        self.faults, self.share, self.chance = tuple(faults), share, random.Random(seed)
        self.first, self.latency, self.retry_after = list(first), latency, retry_after
        self.formats, self.refused_parameters = tuple(formats), tuple(refused_parameters)
        self.key, self.usage, self.port = key, usage, port
        self.answer, self.fault_for = answer, fault_for
        self.asked: list[RecordedRequest] = []
        self.in_flight = self.max_in_flight = 0
        self.location = ""
        self._ready, self._loop = threading.Event(), asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "LlmServer":
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def tokens(self) -> int:
        return sum(asked.tokens for asked in self.asked)

    def answered(self) -> Counter[str]:
        """How many good answers were sent, by session."""
        return Counter(asked.session for asked in self.asked if asked.answered and not asked.fault)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self.listen())
        self._ready.set()
        self._loop.run_forever()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def listen(self) -> asyncio.Server:
        server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, backlog=256)
        self.port = server.sockets[0].getsockname()[1]
        return server

    # --- one connection ------------------------------------------------------------------------

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while asked := await _read_request(reader):
                self.in_flight += 1
                self.max_in_flight = max(self.max_in_flight, self.in_flight)
                self.asked.append(asked)
                try:
                    if not await self._answer(asked, writer):
                        break
                finally:
                    self.in_flight -= 1
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client has gone away, or the test has ended
        finally:
            writer.close()

    async def _answer(self, request: RecordedRequest, writer: asyncio.StreamWriter) -> bool:
        """Whether the connection stays open."""
        if self.latency:
            await asyncio.sleep(self.latency)
        if refusal := self._refusal(request):
            return await _send_response(writer, *refusal)
        request.fault = self._choose_fault() if self.fault_for is None else self.fault_for(request)
        if request.fault == "redirect":
            return await _send_response(writer, 307, {}, location=self.location)
        if request.fault in {"429", "500", "403"}:
            error = {"error": {"message": "no, for the key sk-shown-by-the-server", "code": None}}
            wait = self.retry_after if isinstance(self.retry_after, str) else self.retry_after()
            more = {"retry-after": wait} if request.fault == "429" else {}
            return await _send_response(writer, int(request.fault), error, **more)
        answer = self._completion(request)
        if request.fault == "hang":
            await asyncio.sleep(HANG_SECONDS)
            return False
        if request.fault == "cut":
            return await _send_response(writer, 200, answer, truncate=True)
        if request.fault == "not_http_json":
            return await _send_response(writer, 200, answer, truncate_body=True)
        if request.fault == "packed":
            return await _send_response(writer, 200, answer, content_encoding="gzip")
        if request.fault == "huge":
            return await _send_response(writer, 200, answer | {"more": "x" * (5 << 20)})
        await _send_response(writer, 200, answer)
        request.answered = True
        return True

    def _choose_fault(self) -> str:
        if self.first:
            return self.first.pop(0)
        drawn = self.chance.random()
        number = int(drawn / self.share) if self.share else len(self.faults)
        return self.faults[number] if number < len(self.faults) else ""

    def _refusal(self, request: RecordedRequest) -> tuple[int, dict[str, Any]] | None:
        if not request.path.endswith("/chat/completions"):
            return 404, _error_body("there is nothing at this path")
        if self.key and request.headers.get("authorization") != f"Bearer {self.key}":
            return 401, _error_body(f"Incorrect API key provided: {request.headers.get('authorization')}")
        asked_format = (request.body.get("response_format") or {}).get("type", "text")
        if asked_format not in self.formats:
            return 400, _error_body(f"response_format {asked_format} is not supported", "response_format")
        for parameter in self.refused_parameters:
            if parameter in request.body:
                return 400, _error_body(f"Unsupported parameter: '{parameter}'", parameter)
        return None

    # --- answers -------------------------------------------------------------------------------

    def _completion(self, request: RecordedRequest) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": self._content(request), "refusal": None}
        if request.fault == "refusal":
            message |= {"content": None, "refusal": "I'm sorry, I can't help with that."}
        prompt_tokens = sum(len(part) for part in request.prompt.split("\n")) // 4
        completion_tokens = min(len(message["content"] or "") // 4 + 1, _max_tokens(request.body))
        request.tokens = prompt_tokens + completion_tokens
        answer: dict[str, Any] = {
            "id": f"chatcmpl-{len(self.asked)}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": request.body.get("model"),
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
        }
        if self.usage:
            answer["usage"] = {
                "prompt_tokens": prompt_tokens,
                "completion_tokens": completion_tokens,
                "total_tokens": request.tokens,
            }
        if request.fault == "cut_off":
            answer["choices"][0]["finish_reason"] = "length"
            message["content"] = message["content"][: len(message["content"]) // 2]
        if request.fault == "no_choices":
            answer["choices"] = []
        return answer

    def _content(self, request: RecordedRequest) -> str:
        if request.fault == "prose":
            return "I would say that this reply is quite fine as it is."
        if request.fault == "not_json":
            return 'Here it is: {"turns": [{"role": "user", "text": "I was about to'
        if self.answer is not None:
            return self.answer(request) if request.fault != "wrong_schema" else '{"answers": {"mood": 1}}'
        turns = write_conversation(request.session, request.prompt, len(self.asked))
        if request.fault == "named":
            turns[0]["text"] = "Hello, this is Sarah Miller. I can't find the button."
        if request.fault == "wrong_schema":
            turns = [{"role": "assistant", "text": ""}, *turns]
        text = json.dumps({"turns": turns})
        asked_format = (request.body.get("response_format") or {}).get("type", "text")
        return text if asked_format != "text" else f"Sure!\n```json\n{text}\n```\nAnything {{else}}?"


def write_conversation(session: str, prompt: str, number: int) -> list[dict[str, str]]:
    """What a model that does as it is told would write: other words for each session and request."""
    count = int(match[1]) if (match := re.search(r"exactly (\d+) turns", prompt)) else 2
    chance = random.Random(hashlib.sha256(f"{session}/{number}".encode()).digest())
    turns = []
    for index in range(count):
        text = f"So the {' '.join(chance.choices(WORDS, k=14))}."
        if index % 2 and "safety trap" in prompt:
            text = f"I can't help with that. {text}"
        elif "look-alike" in prompt:
            text = f"{text} We kill the process and attack the bug."
        turns.append({"role": ("user", "assistant")[index % 2], "text": text})
    return turns


def _judge(request: RecordedRequest) -> str:
    return json.dumps({"rationale": "It does.", "answers": {"on_brand": 1}})


def _max_tokens(body: dict[str, Any]) -> int:
    return int(body.get("max_completion_tokens") or body.get("max_tokens") or 1 << 30)


def _error_body(message: str, parameter: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", "param": parameter, "code": None}}


async def _read_request(reader: asyncio.StreamReader) -> RecordedRequest | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    except asyncio.IncompleteReadError:
        return None
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)
    }
    body = json.loads(await reader.readexactly(int(headers.get("content-length", 0))) or b"{}")
    asked = RecordedRequest("", headers, body, head[0].split(" ")[1])
    match = re.search(r"\bsession (\S+-\d+)", asked.prompt, re.IGNORECASE)
    asked.session = match[1] if match else ""
    return asked


async def _send_response(
    writer: asyncio.StreamWriter,
    status: int,
    answer: dict[str, Any],
    *,
    truncate: bool = False,
    truncate_body: bool = False,
    **headers: str,
) -> bool:
    body = json.dumps(answer).encode()
    if truncate_body:
        body = body[: len(body) // 2]
    lines = [f"HTTP/1.1 {status} Said", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode() + (body[: len(body) // 2] if truncate else body))
    await writer.drain()
    return not truncate


def http_date(seconds_from_now: float) -> str:
    """For a Retry-After that names a time; whole seconds are all that it can say."""
    return formatdate(time.time() + seconds_from_now, usegmt=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--judge", action="store_true", help="answer as a judge of on-brand")
    parser.add_argument("--faults", default="", help="comma separated, or 'all'")
    given = parser.parse_args()
    faults = FAULTS if given.faults == "all" else tuple(filter(None, given.faults.split(",")))
    server = LlmServer(
        latency=given.latency, port=given.port, faults=faults, answer=_judge if given.judge else None
    )

    async def run() -> None:
        listening = await server.listen()
        print(server.url, flush=True)
        await listening.serve_forever()

    asyncio.run(run())


if __name__ == "__main__":
    main()
