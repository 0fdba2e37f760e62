"""Every export with one of its values damaged: what was said there is a turn, in the metadata, or counted."""

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.reasons import HALF_CHARACTERS, REPEATED_KEYS
from datasets_app.domain.traces.report import Report
from tests.traces.exports import EXPORTS
from tests.traces.more_exports import MORE_EXPORTS
from tests.traces.platform_exports import IN_LINES, PLATFORMS
from tests.traces.reading import convert, write

EXAMPLES = [(row[1], row[2]) for row in (*EXPORTS, *MORE_EXPORTS)] + [
    (f"{name}.jsonl" if name in IN_LINES else f"{name}.json", value) for name, value in PLATFORMS.items()
]
# Where exports say who speaks, or what a record is.
KINDS = frozenset(
    "role type kind event direction sender from author sender_type messageType message_type subtype who "
    "speaker part_type private public ParticipantRole format isCreatedByUser is_inbound from_agent Type "
    "recipient".split()
)
DELETED = object()
Path_ = tuple[Any, ...]


def list_leaves(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, Any]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from list_leaves(item, (*path, key))
    if not isinstance(value, dict | list):
        yield path, value


def damage(value: Any, path: Path_, new: Any) -> Any:
    changed = place = copy.deepcopy(value)
    for key in path[:-1]:
        place = place[key]
    if new is DELETED:
        del place[path[-1]]
    else:
        place[path[-1]] = new
    return changed


def list_damages(value: Any, said: list[str]) -> Iterator[tuple[Path_, Any]]:
    for path, leaf in list_leaves(value):
        if not path:
            continue
        if isinstance(leaf, str) and len(leaf) > 3 and any(leaf in text or text in leaf for text in said):
            yield from ((path, new) for new in (None, {"odd": {"zz": leaf}}))
        if path[-1] in KINDS and isinstance(leaf, str | bool | int):
            yield from ((path, new) for new in ("zzz-unknown", DELETED))


def count(report: Report) -> list[Any]:
    """Everything that a report says of what was left out, guessed, or is missing."""
    notes = [*report.left_out.items(), *report.remarks.items()]
    return [
        report.unanswered,
        report.problem_total,
        {reason: note.total for reason, note in notes},
    ]


@pytest.mark.parametrize("part", range(4))
def test_nothing_is_lost_or_changes_sides_in_silence(part: int, tmp_path: Path) -> None:
    wrong = []
    for name, content in EXAMPLES[part::4]:
        if isinstance(content, str | bytes):
            continue
        sessions, report = convert(write(tmp_path, content, name))
        before = [(turn.role, turn.text) for turns in sessions.values() for turn in turns]
        told = count(report)
        for path, new in list_damages(content, [text for _, text in before]):
            try:
                sessions, report = convert(write(tmp_path, damage(content, path, new), name))
            except UnreadableFile:
                continue
            turns = [turn for turns in sessions.values() for turn in turns]
            after = [(turn.role, turn.text) for turn in turns]
            metadata = json.dumps([turn.metadata for turn in turns])
            lost = len(after) < len(before) and any(
                json.dumps(text)[1:-1] not in metadata and not any(text in other for _, other in after)
                for _, text in before
            )
            flipped = [
                pair for pair in after if pair not in before and pair[1] in {text for _, text in before}
            ]
            if sessions and (lost or flipped) and count(report) == told:
                wrong.append((name, report.format, path, "deleted" if new is DELETED else new))
    assert wrong == []


def end_texts(value: Any, end: str) -> Any:
    """``value`` with ``end`` behind each text of several words."""
    if isinstance(value, dict):
        return {key: end_texts(item, end) for key, item in value.items()}
    if isinstance(value, list):
        return [end_texts(item, end) for item in value]
    return value + end if isinstance(value, str) and " " in value and value[:1] not in "[{" else value


def test_half_of_a_character_is_read_and_counted_in_every_format(tmp_path: Path) -> None:
    unlike = []
    for name, content in EXAMPLES:
        if isinstance(content, str | bytes) or end_texts(content, "") == end_texts(content, "x"):
            continue
        read = []
        for end in ("\ud83d", "\ufffd"):
            try:
                sessions, report = convert(write(tmp_path, end_texts(content, end), name))
            except UnreadableFile:
                continue
            turns = [(turn.role, turn.text) for turns in sessions.values() for turn in turns]
            read.append((turns, report.remarks[HALF_CHARACTERS].total > 0, report.problem_total))
        if read and read != [(read[0][0], True, 0), (read[0][0], False, 0)]:
            unlike.append((name, read))
    assert unlike == []


def test_a_key_that_stands_twice_is_counted(tmp_path: Path) -> None:
    chat = '{"messages": [{"role": "user", "content": "One: no", "content": "Two"}]}\n'
    once = '{"messages": [{"role": "user", "parts": [{"text": "\\u003a: :"}]}]}\n'
    for content, name in (
        (f"[{chat}, {once}]", "a.json"),
        (once + chat.replace("content", "text"), "a.jsonl"),
    ):
        report = convert(write(tmp_path, content, name))[1]
        assert report.remarks[REPEATED_KEYS].total == 1


def test_json_within_a_text_is_read_as_python_writes_it(tmp_path: Path) -> None:
    said = '[{"role": "user", "content": "Hi \\ud83d", "score": NaN}]'
    sessions, _ = convert(write(tmp_path, [{"id": "a", "conversation": said}]))
    assert [(turn.text, turn.metadata) for turn in sessions["a"]] == [("Hi \ufffd", None)]
