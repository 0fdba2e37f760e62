"""Has a model write sessions, many at a time; each succeeds or fails with a reason."""

import random
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from typing import Any

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation import prompts
from datasets_app.domain.generation.plan import PlannedSession
from datasets_app.domain.generation.session_calls import FORMAT_TOKENS, FORMATS, SessionCalls
from datasets_app.domain.generation.session_schema import NameFinder, find_no_names, fingerprint_reply
from datasets_app.domain.generation.writer import WrittenSession
from datasets_app.domain.model_calls.budget import TokenBudget, TokensUsed
from datasets_app.domain.model_calls.calls import ModelCalls
from datasets_app.domain.model_calls.endpoint import Endpoint
from datasets_app.domain.model_calls.openai_compatible import OpenAIClient
from datasets_app.domain.model_calls.retry_rules import RetryPolicy
from datasets_app.domain.model_calls.run import DEFAULT_CONCURRENCY, GRACE_SECONDS, RunStopped, run_calls
from datasets_app.domain.personas.persona import PersonaDocument

GENERATOR, VERSION = "openai-compatible", "1"
_SAMPLE_SIZE = 50


class ModelWriter:
    """A writer (see :mod:`writer`) that uses a model. ``key`` goes only to ``endpoint``.

    ``max_tokens`` limits the run, including ``used`` from an earlier part. ``on_tick`` is called about twice
    a second in the caller's thread; an exception from it ends the run: no more sessions are requested, and
    those that finish within ``grace_seconds``, which are paid for, are still yielded.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        *,
        persona: PersonaDocument | None = None,
        key: str = "",
        temperature: float | None = None,
        concurrency: int = DEFAULT_CONCURRENCY,
        max_tokens: int | None = None,
        used: TokensUsed | None = None,
        retry_policy: RetryPolicy = RetryPolicy(),  # noqa: B008
        on_tick: Callable[[], None] = lambda: None,
        grace_seconds: float = GRACE_SECONDS,
        find_names: NameFinder = find_no_names,
    ) -> None:
        self.endpoint, self.model, self.temperature = endpoint, model, temperature
        self.concurrency, self.max_tokens, self.retry_policy = concurrency, max_tokens, retry_policy
        self.used = used or TokensUsed()
        self.on_tick, self.grace_seconds = on_tick, grace_seconds
        self._find_names = find_names
        self.failed = 0
        self._key, self._system = key, prompts.build_system_message(persona)
        self._known_replies: set[int] = set()
        self._sessions = SessionCalls(self._system, self._known_replies, find_names)
        self._rng = random.Random()

    def __repr__(self) -> str:
        return f"<ModelWriter {self.model} at {self.endpoint.host}>"

    def describe(self) -> dict[str, Any]:
        description: dict[str, Any] = {
            "generator": GENERATOR,
            "generator_version": VERSION,
            "model": self.model,
            "endpoint": self.endpoint.host,
            "prompt_sha256": prompts.hash_prompt(self._system),
            "reproducible": False,
        }
        if self.temperature is not None:
            description["temperature"] = self.temperature
        if self.used.calls:
            description["calls"] = self.used.calls
            description["tokens"] = {"prompt": self.used.prompt, "completion": self.used.completion}
            if self.used.estimated:
                description["tokens"]["estimated"] = self.used.estimated
        return description

    def estimate_tokens(self, plan: Sequence[PlannedSession]) -> TokensUsed:
        """Estimate the tokens of a whole plan from a sample; each call reserves more than that."""
        step = max(1, len(plan) // _SAMPLE_SIZE)
        sample = [self._sessions.estimate_tokens(plan[number]) for number in range(0, len(plan), step)]
        prompt, completion = (sum(each) * len(plan) // len(sample) for each in zip(*sample, strict=True))
        return TokensUsed(prompt, completion, prompt + completion, len(plan))

    def remember_replies(self, turns: Iterable[TurnRecord]) -> None:
        """Add replies of existing sessions, which no new session may repeat verbatim."""
        marks = (fingerprint_reply(turn.text) for turn in turns if turn.role == "assistant")
        self._known_replies.update(mark for mark in marks if mark is not None)

    def write(self, planned: PlannedSession) -> list[TurnRecord]:
        for written in self.write_all([planned]):
            if written.failure is None:
                return written.turns
            raise RunStopped(f"The session could not be written: {written.failure}.")
        raise RunStopped("The session was not written.")

    def write_all(self, planned: Iterable[PlannedSession]) -> Generator[WrittenSession, None, None]:
        """Yield sessions as they finish; see :func:`run_calls`."""
        self._find_names([""])  # load dependencies before the first call
        results = run_calls(
            planned,
            start=self._start_calls,
            work=self._sessions.write,
            concurrency=self.concurrency,
            on_tick=lambda: self.on_tick(),
            grace_seconds=self.grace_seconds,
        )
        with closing(results):
            for written in results:
                if written.failure is None:
                    self.remember_replies(written.turns)
                else:
                    self.failed += 1
                yield written

    async def _start_calls(self) -> ModelCalls:
        client = OpenAIClient(
            self.endpoint,
            self.model,
            key=self._key,
            temperature=self.temperature,
            concurrency=self.concurrency,
        )
        return ModelCalls(
            client,
            formats=FORMATS,
            format_tokens=FORMAT_TOKENS,
            budget=TokenBudget(self.max_tokens, self.used),
            retry_policy=self.retry_policy,
            draw_jitter=self._rng.random,
            noun="sessions",
        )
