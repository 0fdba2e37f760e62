"""What a new version has changed: in words, and as a proposal for its number.

In the form of keepachangelog.com. Sessions are named by their ids, as code; one whose id holds personal
data is not named.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from datasets_app.domain.pii.rules.patterns import find
from datasets_app.domain.releases.comparison import Difference, SessionChange
from datasets_app.domain.releases.versions import MAJOR, MINOR, PATCH

MOST_SESSIONS_NAMED = 50
MOST_TURNS_NAMED = 10
ERASED, UNNAMED = "[erased]", "[session]"
_HASH = re.compile(r"[0-9a-f]{64}")
_CODE = re.compile(r"`([^`\n]*)`")
_WORD = re.compile(r"[^\s`]+")
_AROUND = ".,;:!?()[]{}<>\"'*_"


class Schema(NamedTuple):
    """Fields that lines have now and had not, and the other way round."""

    appeared: list[str]
    vanished: list[str]


def schema_change(before: Iterable[str], after: Iterable[str]) -> Schema:
    old, new = set(before), set(after)
    return Schema(sorted(new - old), sorted(old - new))


def proposed_bump(difference: Difference, schema: Schema, *, facts_changed: bool = False) -> str | None:
    """Which number is to grow, or None if nothing has changed.

    Major: lines have other fields than before, what reads them may have to change. Minor: other sessions,
    so what was measured on the earlier version is not measured on this one. Patch: corrections.
    """
    if schema.appeared or schema.vanished:
        return MAJOR
    if difference.sessions_added or difference.sessions_removed:
        return MINOR
    return PATCH if difference.sessions_changed or facts_changed else None


def drafted(difference: Difference, schema: Schema, facts: Iterable[str] = ()) -> str:
    """The entry of a version, without its heading; ``facts`` are lines on what is stated of the dataset."""
    sections = {
        "Added": [*_added(difference), *(f"Field {code(name)}" for name in schema.appeared)],
        "Changed": [*_changed(difference), *facts],
        "Removed": [*_removed(difference), *(f"Field {code(name)}" for name in schema.vanished)],
    }
    return "\n\n".join(
        "\n".join([f"### {title}", "", *(f"- {line}" for line in lines)])
        for title, lines in sections.items()
        if lines
    )


def first_entry(sessions: int, turns: int) -> str:
    return f"### Added\n\n- {_counted(sessions, 'session')}, {_counted(turns, 'turn')}: the first version."


def whole(name: str, entries: Iterable[tuple[str, str, str, str]]) -> str:
    """CHANGELOG.md: of each version (number, date, notes, entry), newest first."""
    parts = [f"# Changelog of {name}"]
    for version, date, notes, entry in entries:
        parts += [f"## [{version}] - {date}", *(text for text in (notes.strip(), entry.strip()) if text)]
    return "\n\n".join(parts) + "\n"


def code(session_id: str) -> str:
    """An id or name as code in Markdown, on one line."""
    return "`" + " ".join(session_id.replace("`", "'").split()) + "`"


def unnamed(entry: str) -> str:
    """The entry without names of sessions that are not hashes: for a version whose ids are hashed, so that
    what its earlier versions say does not tell whose they are."""
    return "\n".join(
        line if line.startswith("- Field ") else _CODE.sub(_only_hashed, line) for line in entry.split("\n")
    )


def _only_hashed(match: re.Match[str]) -> str:
    return match[0] if _HASH.fullmatch(match[1]) else UNNAMED


# --- what was erased -----------------------------------------------------------------------------------


def mentions(text: str, is_erased: Callable[[str], bool]) -> bool:
    """Whether the text names a session of which that is true."""
    return without(text, is_erased) != text


def without(text: str, is_erased: Callable[[str], bool], known: Iterable[str] = ()) -> str:
    """The text with each name of such a session replaced; ``known`` are ids of which it is known.

    A predicate can be asked only of what looks like an id: code, and words.
    """
    for session_id in sorted(known, key=len, reverse=True):
        text = text.replace(code(session_id), ERASED)
        text = re.sub(rf"(?<![\w-]){re.escape(session_id)}(?![\w-])", ERASED, text)
    text = _CODE.sub(lambda match: ERASED if is_erased(match[1]) else match[0], text)

    def word(match: re.Match[str]) -> str:
        bare = match[0].strip(_AROUND)
        if bare and bare != ERASED and (is_erased(bare) or is_erased(match[0])):
            return match[0].replace(bare, ERASED)
        return match[0]

    return _WORD.sub(word, text)


# --- lines ---------------------------------------------------------------------------------------------


def _counted(count: int, unit: str) -> str:
    return f"{count:,} {unit}{'' if count == 1 else 's'}"


def _added(difference: Difference) -> list[str]:
    if not difference.sessions_added:
        return []
    return [
        _counted(difference.sessions_added, "session") + _named(difference.added, difference.sessions_added)
    ]


def _removed(difference: Difference) -> list[str]:
    """Never by name: somebody wanted them gone, or their ids were hashed so that nobody knows them again."""
    return [_counted(difference.sessions_removed, "session")] if difference.sessions_removed else []


def _named(listed: list[str], count: int) -> str:
    """Where they are few, which they are."""
    if count > MOST_TURNS_NAMED:
        return ""
    names = [code(name) for name in listed if not find(name)]
    return f": {', '.join(names)}" if len(names) == count else ""


def _changed(difference: Difference) -> list[str]:
    named = difference.changes[:MOST_SESSIONS_NAMED]
    lines = [_change(change) for change in named]
    if more := difference.sessions_changed - len(named):
        fields = ", ".join(sorted(difference.fields))
        lines.append(f"and {_counted(more, 'more session')} (fields in all: {fields})")
    return lines


def _change(change: SessionChange) -> str:
    name = "A session" if find(change.session_id) else code(change.session_id)
    told = []
    for turn in change.turns[:MOST_TURNS_NAMED]:
        what = ", ".join(item.name for item in turn.fields) or turn.kind
        told.append(f"turn {turn.turn_index}: {what}")
    more = len(change.turns) - len(told)
    return f"{name} " + "; ".join(told) + (f"; and {_counted(more, 'more turn')}" if more else "")
