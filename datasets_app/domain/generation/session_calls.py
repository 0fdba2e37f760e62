"""The calls that have a model write one session: what is asked, and whether the answer can be used."""

from collections.abc import Set

from datasets_app.domain.generation import prompts
from datasets_app.domain.generation.model_turns import build_turns
from datasets_app.domain.generation.plan import PlannedSession
from datasets_app.domain.generation.session_schema import JSON_SCHEMA, NameFinder, UnusableAnswer, parse_texts
from datasets_app.domain.generation.writer import WrittenSession
from datasets_app.domain.model_calls.budget import estimate_tokens
from datasets_app.domain.model_calls.calls import ModelCalls
from datasets_app.domain.model_calls.openai_compatible import Answer, list_formats
from datasets_app.domain.model_calls.retry_rules import CallFailed

# Tokens of an answer for the JSON around it, and for each turn.
_OVERHEAD_TOKENS, _TOKENS_PER_TURN, _TOKENS_PER_WORD = 200, 150, 2.5
FORMATS = list_formats("conversation", JSON_SCHEMA)
FORMAT_TOKENS = estimate_tokens(str(JSON_SCHEMA))


class SessionCalls:
    """``known_replies`` are those that no session may repeat."""

    def __init__(self, system: str, known_replies: Set[int], find_names: NameFinder) -> None:
        self._system, self._known_replies, self._find_names = system, known_replies, find_names

    async def write(self, calls: ModelCalls, planned: PlannedSession) -> WrittenSession:
        """Request a session, and retry once if the answer is unusable. Raises :class:`CallDropped`."""
        messages = prompts.build_messages(self._system, planned)
        tokens, problems = 0, ""
        for _ in range(2):
            try:
                answer, cost = await calls.ask(messages, _estimate_answer_tokens(planned))
            except CallFailed as failure:
                return WrittenSession(planned, [], failure.message, tokens)
            tokens += cost
            try:
                return WrittenSession(
                    planned, build_turns(planned, self._parse_answer(answer, planned)), None, tokens
                )
            except UnusableAnswer as unusable:
                problems = _summarize_problems(unusable)
                messages += prompts.build_repair_messages(answer.content, unusable.repair_hint, planned)
        return WrittenSession(planned, [], f"not usable after a second try: {problems}", tokens)

    def _parse_answer(self, answer: Answer, planned: PlannedSession) -> list[str]:
        if not answer.content and not answer.is_truncated:
            raise UnusableAnswer(prompts.EMPTY_ANSWER)
        try:
            return parse_texts(answer.content, planned, self._known_replies, self._find_names)
        except UnusableAnswer:
            if answer.is_truncated:
                raise UnusableAnswer(prompts.TRUNCATED_ANSWER) from None
            raise

    def estimate_tokens(self, planned: PlannedSession) -> tuple[int, int]:
        """Estimate the prompt and answer tokens of a session; most stay below their limit."""
        said = prompts.build_messages(self._system, planned)
        prompt = estimate_tokens(*(message["content"] for message in said)) + FORMAT_TOKENS
        return prompt, _estimate_answer_tokens(planned) // 2


def _estimate_answer_tokens(planned: PlannedSession) -> int:
    each = _TOKENS_PER_TURN
    if planned.reply_words:
        each = max(each, int(planned.reply_words * _TOKENS_PER_WORD))
    return _OVERHEAD_TOKENS + each * planned.turns


def _summarize_problems(unusable: UnusableAnswer) -> str:
    first, *others = unusable.problems
    return f"{first} (and {len(others)} more)" if others else first
