"""Has a model write sessions, many at a time; each succeeds or fails with a reason."""

from collections.abc import Callable, Generator, Iterable
from contextlib import closing
from functools import partial
from typing import Any

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation import prompts
from datasets_app.domain.generation.model_turns import build_turns
from datasets_app.domain.generation.plan import Plan, PlannedSession
from datasets_app.domain.generation.session_schema import (
    JSON_SCHEMA,
    NameFinder,
    find_no_names,
    fingerprint_reply,
    parse_texts,
)
from datasets_app.domain.generation.writer import WrittenSession
from datasets_app.domain.model_calls.budget import TokenBudget, TokensUsed, estimate_tokens
from datasets_app.domain.model_calls.calls import ModelCalls
from datasets_app.domain.model_calls.endpoint import Model
from datasets_app.domain.model_calls.json_answers import UnusableAnswer
from datasets_app.domain.model_calls.openai_compatible import AnswerFormat
from datasets_app.domain.model_calls.retry_rules import CallFailed
from datasets_app.domain.model_calls.run import run_calls
from datasets_app.domain.personas.persona import PersonaDocument

GENERATOR, VERSION = "openai-compatible", "1"
FORMAT = AnswerFormat("conversation", JSON_SCHEMA)
_SAMPLE_SIZE = 50
# Tokens of an answer for the JSON around it, and for each turn.
_OVERHEAD_TOKENS, _TOKENS_PER_TURN, _TOKENS_PER_WORD = 200, 150, 2.5


class ModelWriter:
    """A writer that uses a model. ``max_tokens`` limits the run, including ``used`` from an earlier part."""

    def __init__(
        self,
        model: Model,
        *,
        persona: PersonaDocument | None = None,
        max_tokens: int | None = None,
        find_names: NameFinder = find_no_names,
    ) -> None:
        self.model, self.max_tokens, self.used = model, max_tokens, TokensUsed()
        self._find_names = find_names
        self.failed = 0
        self._system = prompts.build_system_message(persona)
        self._known_replies: set[int] = set()

    def describe(self) -> dict[str, Any]:
        description: dict[str, Any] = {
            "generator": GENERATOR,
            "generator_version": VERSION,
            "model": self.model.name,
            "endpoint": self.model.endpoint.host,
            "prompt_sha256": prompts.hash_prompt(self._system),
            "reproducible": False,
        }
        if self.model.temperature is not None:
            description["temperature"] = self.model.temperature
        if self.used.calls:
            description["calls"] = self.used.calls
            description["tokens"] = {"prompt": self.used.prompt, "completion": self.used.completion}
            if self.used.estimated:
                description["tokens"]["estimated"] = self.used.estimated
        return description

    def estimate_tokens(self, plan: Plan) -> TokensUsed:
        """Estimate the tokens of a whole plan from a sample; each call reserves more than that."""
        step = max(1, len(plan) // _SAMPLE_SIZE)
        sample = [self._estimate_session(plan[number]) for number in range(0, len(plan), step)]
        prompt, completion = (sum(each) * len(plan) // len(sample) for each in zip(*sample, strict=True))
        return TokensUsed(prompt, completion, prompt + completion, len(plan))

    def remember_replies(self, turns: Iterable[TurnRecord]) -> None:
        """Add replies of existing sessions, which no new session may repeat verbatim."""
        marks = (fingerprint_reply(turn.text) for turn in turns if turn.role == "assistant")
        self._known_replies.update(mark for mark in marks if mark is not None)

    def write_all(
        self, planned: Iterable[PlannedSession], on_tick: Callable[[], None] = lambda: None
    ) -> Generator[WrittenSession, None, None]:
        """Yield sessions as they finish, in any order; see :func:`run_calls`."""
        self._find_names([""])  # load dependencies before the first call
        results = run_calls(
            planned,
            self._write_session,
            model=self.model,
            format=FORMAT,
            budget=TokenBudget(self.max_tokens, self.used),
            noun="sessions",
            on_tick=on_tick,
        )
        with closing(results):
            for written in results:
                if written.failure is None:
                    self.remember_replies(written.turns)
                else:
                    self.failed += 1
                yield written

    async def _write_session(self, calls: ModelCalls, planned: PlannedSession) -> WrittenSession:
        try:
            texts = await calls.ask_for(
                prompts.build_messages(self._system, planned),
                _estimate_answer_tokens(planned),
                lambda content: parse_texts(content, planned, self._known_replies, self._find_names),
                partial(prompts.REPAIR_PROMPT.format, turns=planned.turns),
            )
        except (CallFailed, UnusableAnswer) as failure:
            return WrittenSession(planned, [], str(failure))
        return WrittenSession(planned, build_turns(planned, texts))

    def _estimate_session(self, planned: PlannedSession) -> tuple[int, int]:
        """The tokens of its prompt and its answer; most answers stay below their limit."""
        said = prompts.build_messages(self._system, planned)
        prompt = estimate_tokens(*(message["content"] for message in said)) + FORMAT.tokens
        return prompt, _estimate_answer_tokens(planned) // 2


def _estimate_answer_tokens(planned: PlannedSession) -> int:
    each = _TOKENS_PER_TURN
    if planned.reply_words:
        each = max(each, int(planned.reply_words * _TOKENS_PER_WORD))
    return _OVERHEAD_TOKENS + each * planned.turns
