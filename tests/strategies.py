"""Hypothesis strategies for what a valid file may hold."""

import json
import os
from typing import Any

from hypothesis import strategies as st

# How many times as many examples are tried: in a run of the night, more than there is time for by day.
EXAMPLES_FACTOR = int(os.environ.get("ALIGNMENTER_TEST_EXAMPLES") or 1)

# All that JSON and the format allow: every character but NUL and lone surrogates.
texts = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40
) | st.sampled_from(
    [
        "\u2028",
        "a\x85b",
        "\u2029",
        '"quoted"',
        "back\\slash\\n",
        "tab\tfeed\nreturn\r\v\f\b\x1b",
        "=1+1",
        "\\N",
        "\\.",
        "שלום",
        "👩‍👩‍👧",
        "e\u0301",
        "\ufeff",
        "\x7f",
        "{}",
        "NULL",
        "a\\v",
        "'",
    ]
)
names = texts.filter(str.strip)
numbers = st.integers(-(2**80), 2**80) | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
timestamps = st.sampled_from(
    [
        "2025-11-03T14:25:00Z",
        "2025-11-03T14:25:00.123+02:00",
        "2025-11-03",
        "20251103T142500",
        '20251103"142500',
    ]
)
FIELDS = frozenset(
    ["session_id", "turn_index", "role", "text", "tags", "persona_id", "timestamp", "metadata"]
)


@st.composite
def conversation_files(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The objects of a valid conversation file, in order."""
    lines: list[dict[str, Any]] = []
    for session_id in draw(st.lists(names, min_size=1, max_size=4, unique=True)):
        persona = draw(st.none() | names)
        for index in range(1, draw(st.integers(1, 4)) + 1):
            line = draw(st.dictionaries(texts.filter(lambda key: key not in FIELDS), values, max_size=2))
            line |= {"session_id": session_id, "turn_index": index, "text": draw(texts)}
            line["role"] = draw(st.sampled_from(["user", "assistant"]))
            if persona is not None:
                line["persona_id"] = persona
            optional = {
                "tags": st.lists(texts, max_size=3),
                "timestamp": timestamps,
                "metadata": st.dictionaries(texts, values, max_size=3),
            }
            line |= {key: draw(strategy) for key, strategy in optional.items() if draw(st.booleans())}
            lines.append(line)
    return lines


def with_default_fields(line: dict[str, Any]) -> dict[str, Any]:
    """A line as the product writes it: the first six fields always."""
    return {"tags": [], "persona_id": None} | line


def encode_json(line: dict[str, Any], ascii_only: bool) -> bytes:
    return json.dumps(line, ensure_ascii=ascii_only).encode()


@st.composite
def label_schemas(draw: st.DrawFn) -> dict[str, Any]:
    """The document of a schema, with criteria of every kind, some of them asked after others."""
    kinds = ["yes_no", "choice", "ordinal", "tags", "number", "text"]
    criteria: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 6))):
        kind = draw(st.sampled_from(kinds))
        criterion: dict[str, Any] = {
            "key": f"c{number}",
            "question": f"Question {number}?",
            "kind": kind,
            "optional": draw(st.booleans()),
        }
        if kind in ("choice", "ordinal", "tags"):
            one = st.integers(-5, 99) | st.text("abcxyz", min_size=1, max_size=5)
            answers = draw(st.lists(one, min_size=2, max_size=5, unique_by=lambda value: str(value).lower()))
            criterion["answers"] = answers
        chosen = [one for one in criteria if one["kind"] in ("yes_no", "choice", "ordinal")]
        if chosen and draw(st.booleans()):
            other = draw(st.sampled_from(chosen))
            values = other.get("answers", [0, 1])
            criterion["when"] = {other["key"]: draw(st.lists(st.sampled_from(values), min_size=1))}
        criteria.append(criterion)
    return {"schema": "generated", "criteria": criteria}


@st.composite
def answers_to(draw: st.DrawFn, document: dict[str, Any]) -> dict[str, Any]:
    """Answers to the criteria of a schema, as files have them; empty if all of them may be left out."""
    answers: dict[str, Any] = {}
    for criterion in document["criteria"]:
        when = criterion.get("when")
        if when and not all(
            any(type(said) is type(answers.get(key)) and said == answers[key] for said in values)
            for key, values in when.items()
        ):
            continue
        if criterion["optional"] and draw(st.booleans()):
            continue
        levels = criterion.get("answers", [0, 1])
        answers[criterion["key"]] = draw(
            {
                "number": st.floats(-1e9, 1e9),
                "text": names,
                "tags": st.lists(st.sampled_from(levels), unique=True).map(
                    lambda chosen, levels=levels: [one for one in levels if one in chosen]
                ),
            }.get(criterion["kind"], st.sampled_from(levels))
        )
    return answers
