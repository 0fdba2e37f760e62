"""Conditions on the sessions of a list, one for each of its filters."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from datasets_app.catalog.search import list_prefixes, match_words

NO_SPLIT = "none"
_PARAMETER = re.compile(r"%\((\w+)\)s")


class Condition(NamedTuple):
    """A condition on a session ``s`` of the dataset ``%(dataset)s``.

    ``test`` is for one session after the other. ``hits`` is a query of the keys of all matching sessions, if
    an index answers it.
    """

    test: str
    values: dict[str, Any]
    hits: str = ""


# OFFSET 0 keeps the planner from joining all turns.
_HAS_TURN = """EXISTS (
    SELECT FROM datasets_app_turn t
    WHERE t.dataset_id = %(dataset)s AND t.session_id = s.id AND {condition} OFFSET 0)"""
_TURN_HITS = """
    SELECT DISTINCT t.session_id FROM datasets_app_turn t WHERE t.dataset_id = %(dataset)s AND {condition}"""


def _of_turn(condition: str, values: dict[str, Any]) -> Condition:
    return Condition(_HAS_TURN.format(condition=condition), values, _TURN_HITS.format(condition=condition))


def with_words(words: str) -> Condition:
    """A turn has all these words; see :func:`match_words`."""
    matches, text = match_words(words)
    # Cheaper than parsing a text that has none of the words.
    contained = list_prefixes(words)
    tests = [f"strpos(lower(t.text), %(word{number})s) > 0" for number in range(len(contained))]
    return Condition(
        _HAS_TURN.format(condition=" AND ".join([*tests, matches])),
        {"words": text, **{f"word{number}": word for number, word in enumerate(contained)}},
        _TURN_HITS.format(condition=matches),
    )


def with_tag(tag: str) -> Condition:
    """A turn has this tag."""
    return _of_turn("t.tags @> ARRAY[%(tag)s]::text[]", {"tag": tag})


def with_date(since: str, until: str) -> Condition:
    """The first turn is of a day from ``since`` to ``until`` (ISO dates, or empty)."""
    condition = "t.turn_index = 1"
    values = {}
    if since:
        condition, values["since"] = f"{condition} AND t.timestamp >= %(since)s", since
    if until:
        # A day's times begin with "T" or a space, both of which come before "U".
        condition, values["until"] = f"{condition} AND t.timestamp < %(until)s", f"{until}U"
    return _of_turn(condition, values)


def with_id_prefix(prefix: str) -> Condition:
    return Condition("starts_with(s.session_id, %(prefix)s)", {"prefix": prefix}, _ID_HITS)


# LIKE uses the index, starts_with does not.
_ID_HITS = """
    SELECT id AS session_id FROM datasets_app_session
    WHERE dataset_id = %(dataset)s AND session_id LIKE replace(replace(replace(%(prefix)s,
        '\\', '\\\\'), '%%', '\\%%'), '_', '\\_') || '%%'"""


def of_persona(persona: str) -> Condition:
    return Condition("s.persona_id = %(persona)s", {"persona": persona})


def in_split(split: str) -> Condition:
    if split == NO_SPLIT:
        return Condition("s.split IS NULL", {})
    return Condition("s.split = %(split)s", {"split": split})


def with_length(at_least: int | None, at_most: int | None) -> Condition:
    """By the number of turns."""
    condition = "s.turn_count BETWEEN %(at_least)s AND %(at_most)s"
    return Condition(condition, _limits(at_least, at_most))


def with_reply(at_least: int | None, at_most: int | None) -> Condition:
    """A reply has so many characters. No index knows."""
    condition = "t.role = 'assistant' AND length(t.text) BETWEEN %(at_least)s AND %(at_most)s"
    return _of_turn(condition, _limits(at_least, at_most))


def _limits(at_least: int | None, at_most: int | None) -> dict[str, int]:
    return {"at_least": at_least or 0, "at_most": 2**31 - 1 if at_most is None else at_most}


def with_finding(report: int, code: str) -> Condition:
    """The report has a finding of this code, or of any, in the session."""
    of_code = " AND f.code = %(code)s" if code else ""
    hits = f"""
    SELECT DISTINCT f.session_id FROM datasets_app_checkfinding f
    WHERE f.report_id = %(report)s AND f.session_id IS NOT NULL{of_code}"""  # nosec B608  # constants
    test = f"""EXISTS (
    SELECT FROM datasets_app_checkfinding f
    WHERE f.report_id = %(report)s AND f.session_id = s.id{of_code} OFFSET 0)"""  # nosec B608  # constants
    return Condition(test, {"report": report, "code": code}, hits)


def that_is_excluded(excluded: bool) -> Condition:
    return Condition("s.excluded" if excluded else "NOT s.excluded", {})


def with_personal_data(scrub: int, kind: str) -> Condition:
    """The scrub or preview found personal data of this type in the session."""
    found = "FROM datasets_app_scrubfinding f WHERE f.scrub_id = %(scrub)s AND f.kind = %(kind)s"
    return Condition(
        f"EXISTS (SELECT {found} AND f.session_id = s.id OFFSET 0)",  # nosec B608  # a constant
        {"scrub": scrub, "kind": kind},
        f"SELECT DISTINCT f.session_id {found}",  # nosec B608  # a constant
    )


def with_comment() -> Condition:
    found = "FROM datasets_app_sessioncomment c WHERE c.dataset_id = %(dataset)s"
    return Condition(
        f"EXISTS (SELECT {found} AND c.session_id = s.id)",  # nosec B608  # a constant
        {},
        f"SELECT DISTINCT c.session_id {found}",  # nosec B608  # a constant
    )


def with_metadata(key: str, value: str) -> Condition:
    """A turn has this key of metadata, with this value if there is one. No index knows."""
    condition = (
        "(t.metadata ->> %(key)s = %(value)s OR t.extra ->> %(key)s = %(value)s)"
        if value
        else "(t.metadata ? %(key)s OR t.extra ? %(key)s)"
    )
    return _of_turn(condition, {"key": key, "value": value})


def any_of(conditions: Sequence[Condition]) -> Condition:
    renamed = [rename_values(condition, f"_{number}") for number, condition in enumerate(conditions)]
    hits = " UNION ".join(condition.hits for condition in renamed)
    return Condition(
        f"({' OR '.join(condition.test for condition in renamed)})",
        {name: value for condition in renamed for name, value in condition.values.items()},
        hits if all(condition.hits for condition in renamed) else "",
    )


def none_of(condition: Condition) -> Condition:
    """Sessions that lack what it compares match, too."""
    return Condition(f"({condition.test}) IS NOT TRUE", condition.values)


def rename_values(condition: Condition, suffix: str) -> Condition:
    """Give its values names of their own."""

    def rename(sql: str) -> str:
        return _PARAMETER.sub(
            lambda match: f"%({match[1]}{suffix if match[1] in condition.values else ''})s", sql
        )

    values = {f"{name}{suffix}": value for name, value in condition.values.items()}
    return Condition(rename(condition.test), values, rename(condition.hits))
