"""What a model is asked, and how its answer is read. Nothing is guessed: an answer that leaves anything out
counts as not judged."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from annotations_app.domain.judging.judge_document import DEFAULT_INSTRUCTIONS
from datasets_app.domain.labels.criterion import Criterion, Kind
from datasets_app.domain.labels.preference import OTHER_SIDE
from datasets_app.domain.labels.schema import Answers, Question, Schema, is_asked
from datasets_app.domain.labels.values import InvalidValue, decode_value, encode_value
from datasets_app.domain.model_calls.json_answers import UNSTORABLE, UnusableAnswer, find_objects
from datasets_app.domain.personas.persona import PersonaDocument

MAX_RATIONALE_CHARACTERS = 1000
# A conversation is sent from its end, as far as this goes; the reply itself is always whole.
MAX_CONTEXT_CHARACTERS, MAX_CONTEXT_TURNS = 12_000, 30
DEFAULT_PAIR_INSTRUCTIONS = """\
You compare replies of two assistants for a team that checks how well they keep to its rules. You see a \
conversation and two replies to it, A and B."""
_SIDES = (
    "Judge what A and B say. Which of them is called A means nothing, and a longer reply is no better for "
    "being longer."
)
RATIONALE, ANSWERS = "rationale", "answers"
REPAIR_PROMPT = (
    "That can't be read. Answer with one JSON object and nothing else, with an answer to every criterion "
    "that applies, in the values that were given."
)


class JudgedReply(NamedTuple):
    """A reply with the turns before it: (role, text), the reply last. Or a ``pair`` of replies, A and B, with
    the turns before both."""

    turns: Sequence[tuple[str, str]]
    pair: tuple[str, str] | None = None

    @property
    def text(self) -> str:
        return self.turns[-1][1]

    def swap(self) -> "JudgedReply":
        assert self.pair is not None  # one reply has no sides  # nosec B101
        return self._replace(pair=(self.pair[1], self.pair[0]))


class Example(NamedTuple):
    reply: JudgedReply
    answers: dict[str, Any]


class Judgment(NamedTuple):
    codes: dict[str, int | float]
    rationale: str


def select_questions(schema: Schema, criteria: Sequence[str]) -> Schema:
    """The questions that a judge answers: those named, or all; no texts, which can't be compared. One that is
    asked only after an answer to another, which isn't among them, is optional."""
    chosen = [
        question
        for question in schema.questions
        if question.criterion.kind != Kind.TEXT and (not criteria or question.criterion.key in criteria)
    ]
    keys = {question.criterion.key for question in chosen}
    questions = tuple(
        one._replace(condition=None, optional=True)
        if one.condition and one.condition.key not in keys
        else one
        for one in chosen
    )
    return schema._replace(questions=questions)


def build_system_prompt(
    instructions: str, schema: Schema, persona: PersonaDocument, guidelines: str, examples: Sequence[Example]
) -> str:
    """Everything but the reply: the same for each, so that an endpoint can keep it."""
    if schema.compares_replies:
        default = DEFAULT_PAIR_INSTRUCTIONS if instructions == DEFAULT_INSTRUCTIONS else instructions
        parts = [f"{default}\n\n{_SIDES}"]
    else:
        parts = [instructions]
    parts.append("The criteria:\n" + "\n".join(map(_describe_question, schema.questions)))
    parts.append("The assistant's persona, as JSON:\n" + _dump(_describe_persona(persona)))
    if guidelines:
        parts.append("What people who judge the same replies were told:\n" + guidelines)
    if examples:
        shown = [f"{format_reply(one.reply)}\nJudgment: {_dump({ANSWERS: one.answers})}" for one in examples]
        parts.append("Replies that people have judged:\n\n" + "\n\n".join(shown))
    parts.append(
        'Answer with JSON and nothing else: {"rationale": "one or two sentences", "answers": {…}}, with the '
        "key of each criterion in answers. Leave out a criterion that doesn't apply."
    )
    return "\n\n".join(parts)


def hash_prompt(system: str) -> str:
    return hashlib.sha256(system.encode("utf-8", "replace")).hexdigest()


def format_reply(reply: JudgedReply) -> str:
    """As JSON, so that nothing in a text can pass for another turn."""
    turns: list[dict[str, str]] = []
    room = MAX_CONTEXT_CHARACTERS
    for place, (role, text) in enumerate(reversed(reply.turns)):
        room -= len(text)
        if (place or reply.pair) and (room < 0 or place > MAX_CONTEXT_TURNS):
            break
        turns.insert(0, {"role": role, "text": text})
    if reply.pair is not None:
        a, b = reply.pair
        return f"Conversation: {_dump(turns)}\nReplies to compare: {_dump({'A': a, 'B': b})}"
    return "Conversation, with the reply to judge last: " + _dump(turns)


def swap_codes(schema: Schema, codes: dict[str, int | float]) -> dict[str, int | float]:
    """What is said of a pair the other way round, as it is of the pair."""
    preferences = {one.key for one in schema.criteria if one.kind == Kind.PREFERENCE}
    return {
        key: OTHER_SIDE.get(int(code), code) if key in preferences else code for key, code in codes.items()
    }


def build_json_schema(schema: Schema) -> dict[str, Any]:
    """Of an answer; strict readers of schemas want each key required, so null stands for what is left out."""
    properties = {one.criterion.key: _value_schema(one) for one in schema.questions}
    answers = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {RATIONALE: {"type": "string"}, ANSWERS: answers},
        "required": [RATIONALE, ANSWERS],
        "additionalProperties": False,
    }


def parse_judgment(content: str, schema: Schema) -> Judgment:
    """Raises :class:`UnusableAnswer` unless every criterion that applies has a valid answer."""
    for value in find_objects(content):
        given = value.get(ANSWERS)
        if isinstance(given, dict):
            rationale = value.get(RATIONALE)
            said = UNSTORABLE.sub("", rationale) if isinstance(rationale, str) else ""
            return Judgment(_read_codes(given, schema), said.strip()[:MAX_RATIONALE_CHARACTERS])
    raise UnusableAnswer("the answer isn't the requested JSON")


def _read_codes(given: dict[str, Any], schema: Schema) -> dict[str, int | float]:
    answers = Answers({}, {})
    for question in schema.questions:
        criterion = question.criterion
        value = given.get(criterion.key)
        if value is None:
            if is_asked(question, answers) and not question.optional:
                raise UnusableAnswer(f"the answer to {criterion.key} is missing")
            continue
        if not is_asked(question, answers):
            continue
        try:
            stored = encode_value(criterion, _unfold(criterion, value))
        except InvalidValue:
            raise UnusableAnswer(f"the answer to {criterion.key} isn't one of its values") from None
        assert not isinstance(stored, str)  # texts aren't asked  # nosec B101
        answers.codes[criterion.key] = stored
    asked = {question.criterion.key for question in schema.questions}
    if not answers.codes and given.keys() - asked:
        # A judgment without answers says that no criterion applies, but not one that names others.
        raise UnusableAnswer("no criterion has an answer")
    return answers.codes


def _unfold(criterion: Criterion, value: Any) -> Any:
    """Models write "1" for 1, and true for a yes."""
    if isinstance(value, list):
        return [_unfold(criterion, one) for one in value]
    if isinstance(value, bool) and criterion.kind == Kind.YES_NO:
        return criterion.levels[int(value)].value
    named = {str(level.value): level.value for level in criterion.levels}
    return named.get(value, value) if isinstance(value, str) else value


def _describe_question(question: Question) -> str:
    criterion = question.criterion
    levels = "; ".join(
        f"{_dump(level.value)} = {level.name}{f' ({level.help})' if level.help else ''}"
        for level in criterion.levels
    )
    kind = {Kind.TAGS: "an array of any of: ", Kind.NUMBER: "a number"}.get(criterion.kind, "one of: ")
    text = f"- {criterion.key}: {criterion.question} {kind}{levels}"
    if question.help:
        text += f" {question.help}"
    if condition := question.condition:
        text += f" Only if {condition.key} is {', '.join(map(str, condition.codes))} (counted from 0)."
    return text + (" Optional." if question.optional else "")


def _value_schema(question: Question) -> dict[str, Any]:
    criterion = question.criterion
    may_miss = question.optional or question.condition is not None
    if criterion.kind == Kind.NUMBER:
        return {"type": ["number", "null"] if may_miss else "number"}
    values: list[Any] = [decode_value(criterion, code) for code in criterion.codes]
    if criterion.kind == Kind.TAGS:
        array = {"type": "array", "items": {"enum": list(criterion.values)}}
        return {"anyOf": [array, {"type": "null"}]} if may_miss else array
    return {"enum": [*values, None] if may_miss else values}


def _describe_persona(persona: PersonaDocument) -> dict[str, Any]:
    described = {
        "name": persona.display_name or persona.id,
        "description": persona.description,
        "exemplars": list(persona.exemplars),
        "preferred_words": [word for word in persona.preferred if isinstance(word, str)],
        "avoid_words": [word for word in persona.avoid if isinstance(word, str)],
        "style_rules": persona.style_rules,
    }
    return {key: value for key, value in described.items() if value}


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
