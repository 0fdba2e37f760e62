"""What the list of sessions shows of each: one query for each column that is chosen."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import Count

from datasets_app import hooks
from datasets_app.catalog.search import Excerpt, make_excerpt, match_words
from datasets_app.core.queries import fetch_all, fetch_column
from datasets_app.models import CheckFinding, CheckReport, Session, Turn
from datasets_app.models.conversation import MAX_SEARCHED_CHARACTERS

# Column → its heading, in the order in which they are shown.
COLUMNS = {
    "message": "First message",
    "findings": "Findings",
    "labels": "Labels",
    "split": "Split",
    "date": "Date",
    "persona": "Persona",
    "tags": "Tags",
    "turns": "Turns",
}
DEFAULT_COLUMNS = ("message", "findings", "labels", "split", "tags", "turns")
# What is not shown to people who may not read raw text.
TEXT_COLUMNS = frozenset({"message", "date", "persona", "tags"})
MESSAGE_CHARACTERS = 160
MAX_TAGS_SHOWN = 2
# A session may have 200,000 turns; its tags are usually those of its first.
MAX_TURNS_FOR_TAGS = 50

_FIRST_MATCHES = """
SELECT DISTINCT ON (t.session_id) t.id FROM datasets_app_turn t
WHERE t.dataset_id = %(dataset)s AND t.session_id = ANY(%(sessions)s) AND {matches}
ORDER BY t.session_id, t.turn_index
"""
_TAGS = f"""
SELECT t.session_id, tag FROM datasets_app_turn t CROSS JOIN unnest(t.tags) tag
WHERE t.dataset_id = %(dataset)s AND t.session_id = ANY(%(sessions)s) AND t.turn_index <= {MAX_TURNS_FOR_TAGS}
GROUP BY t.session_id, tag ORDER BY t.session_id, min(t.turn_index), tag
"""  # a constant of this module # nosec B608


def add_columns(
    dataset_id: int, sessions: Sequence[Any], columns: Sequence[str], *, words: str, user: Any
) -> None:
    """Set what the columns show as attributes of the sessions."""
    keys = [session.pk for session in sessions]
    first = _load_first_turns(dataset_id, keys) if {"message", "date"} & set(columns) else {}
    findings = _count_findings(dataset_id, keys) if "findings" in columns else {}
    tags = _list_tags(dataset_id, keys) if "tags" in columns else {}
    labels = _list_labels(dataset_id, keys, user) if "labels" in columns else {}
    matches = _find_matches(dataset_id, keys, words) if words else {}
    for session in sessions:
        session.first_turn = first.get(session.pk)
        session.finding_counts = findings.get(session.pk, ())
        session.tags = tags.get(session.pk, [])[:MAX_TAGS_SHOWN]
        session.more_tags = tags.get(session.pk, [])[MAX_TAGS_SHOWN:]
        session.labels = labels.get(session.pk, ())
        session.match = matches.get(session.pk)


def _load_first_turns(dataset_id: int, keys: Sequence[int]) -> dict[int, Any]:
    turns = Turn.objects.filter(dataset=dataset_id, session__in=keys, turn_index=1)
    rows = turns.with_text_start(MESSAGE_CHARACTERS).defer("metadata", "extra", "tags")
    return {turn.session_id: turn for turn in rows}


def _count_findings(dataset_id: int, keys: Sequence[int]) -> dict[int, list[tuple[str, int]]]:
    report = CheckReport.objects.filter(dataset=dataset_id).values("pk")[:1]
    rows = (
        CheckFinding.objects.filter(report__in=report, session__in=keys)
        .order_by("session", "code")
        .values_list("session", "code")
        .annotate(count=Count("pk"))
    )
    found: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for session, code, count in rows:
        found[session].append((code, count))
    return found


def _list_tags(dataset_id: int, keys: Sequence[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = defaultdict(list)
    for session, tag in fetch_all(_TAGS, {"dataset": dataset_id, "sessions": list(keys)}):
        found[session].append(tag)
    return found


def _list_labels(dataset_id: int, keys: Sequence[int], user: Any) -> dict[int, list[str]]:
    known = hooks.labels.SESSION_LABELS
    return known.describe(dataset_id, keys) if user.has_perm(known.permission) else {}


def _find_matches(dataset_id: int, keys: Sequence[int], words: str) -> dict[int, tuple[int, Excerpt]]:
    """Of each session the number of the first turn with the words, and an excerpt of it."""
    matches, text = match_words(words)
    turns = fetch_column(
        _FIRST_MATCHES.format(matches=matches), {"dataset": dataset_id, "sessions": list(keys), "words": text}
    )
    rows = Turn.objects.filter(dataset=dataset_id, pk__in=turns).with_text_start(MAX_SEARCHED_CHARACTERS)
    return {
        turn.session_id: (turn.turn_index, make_excerpt(turn.start, words, MESSAGE_CHARACTERS))
        for turn in rows.only("session_id", "turn_index")
    }


def load_sessions(dataset_id: int, keys: Sequence[int]) -> list[Any]:
    """The sessions with these primary keys, in their order."""
    found = Session.objects.filter(dataset=dataset_id).in_bulk(keys)
    return [found[key] for key in keys if key in found]
