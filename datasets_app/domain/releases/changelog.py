"""Describes the changes of a new version and proposes its number.

In the form of keepachangelog.com. Sessions are named by their ids, as code; one whose id holds personal
data is not named.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from datasets_app.domain.pii.rules.patterns import find_patterns
from datasets_app.domain.releases.comparison import Difference, SessionChange
from datasets_app.domain.releases.versions import MAJOR, MINOR, PATCH
from datasets_app.domain.wording import format_count

MAX_SESSIONS_LISTED = 50
MAX_TURNS_LISTED = 10
ERASED_PLACEHOLDER, SESSION_PLACEHOLDER = "[erased]", "[session]"
_HASH = re.compile(r"[0-9a-f]{64}")
_CODE = re.compile(r"`([^`\n]*)`")
_WORD = re.compile(r"[^\s`]+")
_PUNCTUATION = ".,;:!?()[]{}<>\"'*_"


class SchemaChange(NamedTuple):
    """Fields that lines have now and had not, and the other way round."""

    added_fields: list[str]
    removed_fields: list[str]


def compare_schemas(before: Iterable[str], after: Iterable[str]) -> SchemaChange:
    old, new = set(before), set(after)
    return SchemaChange(sorted(new - old), sorted(old - new))


def propose_bump(
    difference: Difference, schema: SchemaChange, *, metadata_changed: bool = False
) -> str | None:
    """Which number is to grow, or None if nothing has changed.

    Major: lines have other fields than before, what reads them may have to change. Minor: other sessions,
    so what was measured on the earlier version is not measured on this one. Patch: corrections.
    """
    if schema.added_fields or schema.removed_fields:
        return MAJOR
    if difference.sessions_added or difference.sessions_removed:
        return MINOR
    return PATCH if difference.sessions_changed or metadata_changed else None


def draft_entry(difference: Difference, schema: SchemaChange, metadata_lines: Iterable[str] = ()) -> str:
    """The entry of a version without its heading; ``metadata_lines`` describe changed metadata."""
    sections = {
        "Added": [*_list_added(difference), *(f"Field {format_code(name)}" for name in schema.added_fields)],
        "Changed": [*_list_changed(difference), *metadata_lines],
        "Removed": [
            *_list_removed(difference),
            *(f"Field {format_code(name)}" for name in schema.removed_fields),
        ],
    }
    return "\n\n".join(
        "\n".join([f"### {title}", "", *(f"- {line}" for line in lines)])
        for title, lines in sections.items()
        if lines
    )


def draft_first_entry(sessions: int, turns: int) -> str:
    return (
        f"### Added\n\n- {format_count(sessions, 'session')}, "
        f"{format_count(turns, 'turn')}: the first version."
    )


def render_changelog(name: str, entries: Iterable[tuple[str, str, str, str]]) -> str:
    """CHANGELOG.md: of each version (number, date, notes, entry), newest first."""
    parts = [f"# Changelog of {name}"]
    for version, date, notes, entry in entries:
        parts += [f"## [{version}] - {date}", *(text for text in (notes.strip(), entry.strip()) if text)]
    return "\n\n".join(parts) + "\n"


def format_code(session_id: str) -> str:
    """An id or name as code in Markdown, on one line."""
    return "`" + " ".join(session_id.replace("`", "'").split()) + "`"


def redact_session_ids(entry: str) -> str:
    """The entry without names of sessions that are not hashes: for a version whose ids are hashed, so that
    what its earlier versions say does not tell whose they are."""
    return "\n".join(
        line if line.startswith("- Field ") else _CODE.sub(_redact_unless_hashed, line)
        for line in entry.split("\n")
    )


def _redact_unless_hashed(match: re.Match[str]) -> str:
    return match[0] if _HASH.fullmatch(match[1]) else SESSION_PLACEHOLDER


# --- what was erased -----------------------------------------------------------------------------------


def redact_erased(text: str, is_erased: Callable[[str], bool], known_ids: Iterable[str] = ()) -> str:
    """The text with each name of such a session replaced; ``known_ids`` are ids of which it is known.

    A predicate can be asked only of what looks like an id: code, and words.
    """
    for session_id in sorted(known_ids, key=len, reverse=True):
        text = text.replace(format_code(session_id), ERASED_PLACEHOLDER)
        text = re.sub(rf"(?<![\w-]){re.escape(session_id)}(?![\w-])", ERASED_PLACEHOLDER, text)
    text = _CODE.sub(lambda match: ERASED_PLACEHOLDER if is_erased(match[1]) else match[0], text)

    def word(match: re.Match[str]) -> str:
        bare = match[0].strip(_PUNCTUATION)
        if bare and bare != ERASED_PLACEHOLDER and (is_erased(bare) or is_erased(match[0])):
            return match[0].replace(bare, ERASED_PLACEHOLDER)
        return match[0]

    return _WORD.sub(word, text)


# --- lines ---------------------------------------------------------------------------------------------


def _list_added(difference: Difference) -> list[str]:
    if not difference.sessions_added:
        return []
    return [
        format_count(difference.sessions_added, "session")
        + _format_names(difference.added, difference.sessions_added)
    ]


def _list_removed(difference: Difference) -> list[str]:
    """Never by name: somebody wanted them gone, or their ids were hashed so that nobody knows them again."""
    return [format_count(difference.sessions_removed, "session")] if difference.sessions_removed else []


def _format_names(session_ids: list[str], count: int) -> str:
    """Where they are few, which they are."""
    if count > MAX_TURNS_LISTED:
        return ""
    names = [format_code(name) for name in session_ids if not find_patterns(name)]
    return f": {', '.join(names)}" if len(names) == count else ""


def _list_changed(difference: Difference) -> list[str]:
    named = difference.changes[:MAX_SESSIONS_LISTED]
    lines = [_describe_change(change) for change in named]
    if more := difference.sessions_changed - len(named):
        fields = ", ".join(sorted(difference.fields))
        lines.append(f"and {format_count(more, 'more session')} (fields in all: {fields})")
    return lines


def _describe_change(change: SessionChange) -> str:
    name = "A session" if find_patterns(change.session_id) else format_code(change.session_id)
    details = []
    for turn in change.turns[:MAX_TURNS_LISTED]:
        fields = ", ".join(item.name for item in turn.fields) or turn.kind
        details.append(f"turn {turn.turn_index}: {fields}")
    more = len(change.turns) - len(details)
    return f"{name} " + "; ".join(details) + (f"; and {format_count(more, 'more turn')}" if more else "")
