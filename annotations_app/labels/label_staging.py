"""Imports labels in bulk: COPY to a staging table, join to turns and save in a few statements.

A label finds its turn by its place (``session_id`` and ``turn_index``); failing that by its exact
text, first within the session it names, then anywhere in the dataset, where an assistant's turn
comes before a user's and what was imported first before the rest. One that finds none becomes a
session of one turn, whose id is a digest, so that the next import finds it there; without a text it
is refused. Its place, if the line names one, stays with the label: exports give it back, and later
labels of that place join the same turn.

Lines under a schema are staged and joined with the others; answer_staging.py makes decisions of them.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import F
from django.utils import timezone

from annotations_app.domain.evidence import take_offsets
from annotations_app.labels import answer_staging
from annotations_app.labels.known_schemas import KnownSchemas
from annotations_app.labels.label_places import ORIGINAL_SESSION, ORIGINAL_TURN, PLACE_SESSION, PLACE_TURN
from annotations_app.models import Annotation
from datasets_app.catalog.rows.partitions import record_keys, require_partition
from datasets_app.catalog.rows.turn_writer import encode_jsonb
from datasets_app.core.queries import execute, fetch_all, open_copy
from datasets_app.domain.conversations.records import LabelRecord, LineError
from datasets_app.domain.labels.rater import Rater, RaterKind
from datasets_app.models import Dataset

MAX_CONTRADICTIONS = 100

_CREATE_TABLE = """
CREATE TEMPORARY TABLE staged_label (
    line bigint, text text, label smallint, persona_id text, session_id text, turn_index integer,
    annotator text, notes text, timestamp text, confidence double precision, extra jsonb, evidence jsonb,
    schema bigint, place smallint, criterion text, answer jsonb,
    rater_kind text, rater_version text, prompt_digest text,
    turn bigint, text_differs boolean NOT NULL DEFAULT false, is_new boolean NOT NULL DEFAULT false,
    keeps_place boolean NOT NULL DEFAULT false
)
"""
_COPY_ROWS = """
COPY staged_label (line, text, label, persona_id, session_id, turn_index, annotator, notes, timestamp,
                   confidence, extra, evidence, schema, place, criterion, answer, rater_kind, rater_version,
                   prompt_digest)
FROM STDIN
"""
# A browser that kept a decision knows the place of the reply, not its text.
_JOIN_BY_PLACE = """
UPDATE staged_label l SET turn = t.id, text_differs = t.text <> l.text AND l.text <> ''
FROM datasets_app_session s
JOIN datasets_app_turn t ON t.dataset_id = s.dataset_id AND t.session_id = s.id
WHERE s.dataset_id = %(dataset)s AND s.session_id = l.session_id AND t.turn_index = l.turn_index
  AND (NOT %(match_texts)s OR t.text = l.text)
"""
_OWN_SESSION_ID = """
'label-' || left(encode(sha256(convert_to(CASE
    WHEN l.session_id IS NULL OR l.turn_index IS NULL THEN l.text
    ELSE jsonb_build_array(l.session_id, l.turn_index, l.text)::text
END, 'UTF8')), 'hex'), 16)
"""
_PLACED_LABELS = """(
    SELECT dataset_id, turn_id, extra FROM annotations_app_annotation
    UNION ALL SELECT dataset_id, turn_id, extra FROM annotations_app_judgment
)"""
# Two texts may name the same place: prefer the turn of this text, even if it was scrubbed since.
_JOIN_BY_KEPT_PLACE = f"""
UPDATE staged_label SET turn = found.turn, text_differs = found.text <> staged_label.text, keeps_place = true
FROM (
    SELECT DISTINCT ON (l.line) l.line, t.id AS turn, t.text
    FROM staged_label l
    JOIN {_PLACED_LABELS} a
      ON a.dataset_id = %(dataset)s AND a.extra->>'{PLACE_SESSION}' = l.session_id
     AND a.extra->'{PLACE_TURN}' = to_jsonb(l.turn_index)
    JOIN datasets_app_turn t ON t.dataset_id = %(dataset)s AND t.id = a.turn_id
    JOIN datasets_app_session s ON s.dataset_id = t.dataset_id AND s.id = t.session_id
    WHERE l.turn IS NULL
    ORDER BY l.line, t.text <> l.text, s.session_id <> {_OWN_SESSION_ID}, t.id
) found
WHERE staged_label.line = found.line
"""  # constants of this module # nosec B608
# Grouped by text before joining: a thousand labels of "OK" and a thousand turns of it are a
# thousand rows here, not a million.
_JOIN_BY_TEXT_IN_SESSION = """
UPDATE staged_label l SET turn = found.turn
FROM (
    SELECT s.session_id, t.text,
           COALESCE(min(t.id) FILTER (WHERE t.role = 'assistant'), min(t.id)) AS turn
    FROM datasets_app_session s
    JOIN datasets_app_turn t ON t.dataset_id = s.dataset_id AND t.session_id = s.id
    WHERE s.dataset_id = %(dataset)s
      AND s.session_id IN (SELECT session_id FROM staged_label WHERE turn IS NULL)
    GROUP BY s.session_id, t.text
) found
WHERE l.turn IS NULL AND found.session_id = l.session_id AND found.text = l.text AND l.text <> ''
"""
# A turn made for the label of one place never serves a label of another place with the same text.
_JOIN_BY_TEXT = f"""
UPDATE staged_label l SET turn = found.turn
FROM (
    SELECT t.text, kept.place,
           COALESCE(min(t.id) FILTER (WHERE t.role = 'assistant'), min(t.id)) AS turn
    FROM datasets_app_session s
    JOIN datasets_app_turn t ON t.dataset_id = s.dataset_id AND t.session_id = s.id
    CROSS JOIN LATERAL (
        SELECT EXISTS (
            SELECT FROM {_PLACED_LABELS} a WHERE a.turn_id = t.id AND a.extra ? '{PLACE_SESSION}'
        ) AS place
    ) kept
    WHERE s.dataset_id = %(dataset)s AND t.text IN (SELECT text FROM staged_label WHERE turn IS NULL)
    GROUP BY t.text, kept.place
) found
WHERE l.turn IS NULL AND found.text = l.text AND l.text <> ''
  AND (NOT found.place OR l.session_id IS NULL OR l.turn_index IS NULL)
"""  # constants of this module # nosec B608
# Also finds a session made for this label earlier whose text has been scrubbed since.
_JOIN_BY_OWN_SESSION = f"""
UPDATE staged_label l SET turn = t.id, text_differs = t.text <> l.text,
    keeps_place = l.session_id IS NOT NULL AND l.turn_index IS NOT NULL
FROM datasets_app_session s
JOIN datasets_app_turn t ON t.dataset_id = s.dataset_id AND t.session_id = s.id AND t.turn_index = 1
WHERE l.turn IS NULL AND s.dataset_id = %(dataset)s AND s.session_id = {_OWN_SESSION_ID}
"""  # constants of this module # nosec B608
_FIND_UNKNOWN_PLACES = """
SELECT line, session_id FROM staged_label WHERE turn IS NULL AND text = '' ORDER BY line
"""
_ADD_OWN_SESSIONS = f"""
WITH unmatched AS (
    SELECT DISTINCT ON (name) {_OWN_SESSION_ID} AS name, l.text, l.persona_id, l.line
    FROM staged_label l WHERE l.turn IS NULL ORDER BY name, l.line
), added AS (
    INSERT INTO datasets_app_session (dataset_id, session_id, persona_id, turn_count)
    SELECT %(dataset)s, name, persona_id, 1 FROM unmatched ORDER BY line
    RETURNING id, session_id
)
INSERT INTO datasets_app_turn (dataset_id, session_id, turn_index, role, text, tags)
SELECT %(dataset)s, added.id, 1, 'assistant', unmatched.text, '{{}}'
FROM added JOIN unmatched ON unmatched.name = added.session_id ORDER BY added.id
"""  # constants of this module # nosec B608
_KEEP_PLACE = f"""
UPDATE staged_label l SET extra = CASE
    WHEN l.keeps_place
    THEN jsonb_build_object('{PLACE_SESSION}', l.session_id, '{PLACE_TURN}', l.turn_index)
    ELSE jsonb_strip_nulls(jsonb_build_object(
        '{ORIGINAL_SESSION}', CASE WHEN l.session_id <> s.session_id THEN l.session_id END,
        '{ORIGINAL_TURN}',
        CASE WHEN l.turn_index <> t.turn_index OR l.session_id <> s.session_id THEN l.turn_index END
    )) END || COALESCE(l.extra, '{{}}')
FROM datasets_app_turn t JOIN datasets_app_session s ON s.dataset_id = t.dataset_id AND s.id = t.session_id
WHERE t.dataset_id = %(dataset)s AND t.id = l.turn
  AND (l.session_id <> s.session_id OR l.turn_index <> t.turn_index)
"""  # constants of this module # nosec B608
_MARK_NEW = """
UPDATE staged_label SET is_new = true
FROM (
    SELECT min(line) AS line FROM staged_label l
    WHERE l.schema IS NULL AND NOT EXISTS (
        SELECT FROM annotations_app_annotation a
        WHERE a.turn_id = l.turn AND a.label = l.label AND a.persona_id = l.persona_id
          AND a.kind = %(kind)s
          AND a.annotator IS NOT DISTINCT FROM l.annotator AND a.notes IS NOT DISTINCT FROM l.notes
          AND a.timestamp IS NOT DISTINCT FROM l.timestamp
          AND a.confidence IS NOT DISTINCT FROM l.confidence AND a.extra IS NOT DISTINCT FROM l.extra
          AND (a.evidence IS NOT DISTINCT FROM l.evidence OR a.evidence IS NULL AND l.text_differs)
    )
    GROUP BY turn, label, persona_id, annotator, notes, timestamp, confidence, extra, evidence
) first
WHERE staged_label.line = first.line
"""
_INSERT_NEW = """
INSERT INTO annotations_app_annotation
    (dataset_id, turn_id, kind, label, persona_id, annotator, notes, confidence, timestamp, extra,
     evidence)
SELECT %(dataset)s, turn, %(kind)s, label, persona_id, annotator, notes, confidence, timestamp, extra,
       evidence
FROM staged_label WHERE is_new AND schema IS NULL ORDER BY line
"""
# A turn and persona have one adjudicated label: lines that differ contradict each other, and of equal
# lines the first counts.
_FIND_CONTRADICTIONS = """
SELECT max(line), count(*) OVER () FROM staged_label WHERE schema IS NULL
GROUP BY turn, persona_id HAVING min(label) <> max(label) ORDER BY max(line) LIMIT %(limit)s
"""
_KEEP_FIRST = """
UPDATE staged_label l SET is_new = false
WHERE l.is_new AND (
    EXISTS (SELECT FROM staged_label other WHERE other.turn = l.turn
            AND other.persona_id = l.persona_id AND other.schema IS NULL AND other.line < l.line)
    OR EXISTS (SELECT FROM annotations_app_annotation a WHERE a.turn_id = l.turn
               AND a.persona_id = l.persona_id AND a.kind = 'adjudicated' AND a.label = l.label)
)
"""
_WITHDRAW_REPLACED = """
UPDATE annotations_app_annotation a SET kind = 'withdrawn' FROM staged_label l
WHERE l.is_new AND a.turn_id = l.turn AND a.persona_id = l.persona_id AND a.kind = 'adjudicated'
"""
_COUNT_LABELS = """
SELECT count(*) FILTER (WHERE l.schema IS NULL), count(*) FILTER (WHERE l.text_differs),
       count(*) FILTER (WHERE t.role = 'user')
FROM staged_label l JOIN datasets_app_turn t ON t.dataset_id = %(dataset)s AND t.id = l.turn
"""
_SELECT_OUTCOMES = """
SELECT l.line, l.is_new, s.session_id, t.turn_index
FROM staged_label l JOIN datasets_app_turn t ON t.dataset_id = %(dataset)s AND t.id = l.turn
JOIN datasets_app_session s ON s.dataset_id = t.dataset_id AND s.id = t.session_id ORDER BY l.line
"""


class SavedLabels(NamedTuple):
    """``added`` + ``known`` are all labels of the file: lines, or decisions under a schema.
    ``sessions_added`` hold those that matched no turn. ``text_differs`` counts lines whose place has another
    text, ``of_users`` those of turns that aren't replies."""

    added: int
    known: int
    sessions_added: int
    text_differs: int
    of_users: int


class ContradictoryLabels(Exception):
    """Adjudicated labels contradict each other: ``lines`` has the last line of each conflict, the first
    hundred of ``total``."""

    def __init__(self, lines: list[int], total: int) -> None:
        super().__init__()
        self.lines, self.total = lines, total


class InvalidLabels(Exception):
    """Labels without a text of places that no turn has; answers under a schema that aren't decisions:
    ``errors`` by their first lines."""

    def __init__(self, errors: list[LineError]) -> None:
        super().__init__()
        self.errors = errors


class LabelOutcome(NamedTuple):
    """The place where a label (by its ``line``) was saved, and whether it is new."""

    line: int
    is_new: bool
    session_id: str
    turn_index: int


class StagedLabels:
    """The labels of one file. Lines must be unique: they identify outcomes. With ``match_texts``, a place
    with another text is not the label's."""

    def __init__(
        self,
        dataset: Dataset,
        schemas: KnownSchemas,
        kind: str = Annotation.Kind.LABEL,
        *,
        match_texts: bool = False,
    ) -> None:
        self.dataset, self.schemas, self.kind = dataset, schemas, kind
        self._values: dict[str, Any] = {"dataset": dataset.pk, "kind": kind, "match_texts": match_texts}
        self._has_answers = False

    def stage(self, labels: Iterable[LabelRecord]) -> int:
        """Stage the labels; returns their number. Passes on exceptions of the iterable."""
        count = 0
        with open_copy(_COPY_ROWS) as copy:
            for label in labels:
                copy.write_row(_label_row(label) + self._answer_row(label))
                self._has_answers |= label.answer is not None
                count += 1
        return count

    def save(self) -> SavedLabels:
        """Join the labels to turns, add those that are new, and update counts. Raises ContradictoryLabels
        and InvalidLabels."""
        with connection.cursor() as cursor:
            # Autovacuum doesn't analyze temporary tables, and query plans depend on its size.
            cursor.execute("ANALYZE staged_label")
            cursor.execute(_JOIN_BY_PLACE, self._values)
            sessions_added = self._join_remaining(cursor)
            cursor.execute(_KEEP_PLACE, self._values)
            decisions = self._group_answers() if self._has_answers else 0
            is_adjudicated = self.kind == Annotation.Kind.ADJUDICATED
            if is_adjudicated:
                self._refuse_contradictions(cursor, decisions)
            cursor.execute(_MARK_NEW, self._values)
            if is_adjudicated:
                cursor.execute(_KEEP_FIRST)
                cursor.execute(_WITHDRAW_REPLACED)
            cursor.execute(_INSERT_NEW, self._values)
            added = cursor.rowcount
            if decisions:
                added += answer_staging.save_decisions(self._values, adjudicated=is_adjudicated)
            cursor.execute(_COUNT_LABELS, self._values)
            labels, *counts = cursor.fetchone()
        return SavedLabels(added, labels + decisions - added, sessions_added, *counts)

    def _group_answers(self) -> int:
        decisions = answer_staging.group_answers()
        if errors := list(answer_staging.check_decisions(self.schemas)):
            raise InvalidLabels(errors)
        return decisions

    def _refuse_contradictions(self, cursor: Any, decisions: int) -> None:
        cursor.execute(_FIND_CONTRADICTIONS, {"limit": MAX_CONTRADICTIONS})
        found = [
            cursor.fetchall(),
            answer_staging.find_contradictions(MAX_CONTRADICTIONS) if decisions else [],
        ]
        lines = sorted(line for rows in found for line, _ in rows)[:MAX_CONTRADICTIONS]
        if lines:
            raise ContradictoryLabels(lines, sum(rows[0][1] for rows in found if rows))

    def _answer_row(self, label: LabelRecord) -> tuple[object, ...]:
        if label.answer is None:
            return (None,) * 7
        stored = self.schemas.encode(label.answer)
        rater = label.rater or Rater(RaterKind.IMPORT, label.annotator)
        return (
            stored.schema,
            stored.place,
            label.answer.criterion,
            encode_jsonb(stored.value),
            str(rater.kind),
            rater.version,
            rater.prompt_digest,
        )

    def outcomes(self) -> list[LabelOutcome]:
        """One for each label, by line. After :meth:`save`."""
        return [LabelOutcome(*row) for row in fetch_all(_SELECT_OUTCOMES, self._values)]

    def _join_remaining(self, cursor: Any) -> int:
        for statement in (_JOIN_BY_KEPT_PLACE, _JOIN_BY_TEXT_IN_SESSION, _JOIN_BY_OWN_SESSION, _JOIN_BY_TEXT):
            cursor.execute("SELECT EXISTS (SELECT FROM staged_label WHERE turn IS NULL)")
            if not cursor.fetchone()[0]:
                return 0
            cursor.execute(statement, self._values)
        if unknown := fetch_all(_FIND_UNKNOWN_PLACES):
            message = "text is empty, and no turn has this session_id and turn_index"
            raise InvalidLabels(
                [LineError(line, "E102", message, session, "text") for line, session in unknown]
            )
        require_partition(self.dataset.pk)
        cursor.execute(_ADD_OWN_SESSIONS, self._values)
        added: int = cursor.rowcount
        if added:
            record_keys(self.dataset.pk)
            cursor.execute(_JOIN_BY_OWN_SESSION, self._values)
            self._update_dataset_counts(added)
        return added

    def _update_dataset_counts(self, added: int) -> None:
        changes: dict[str, Any] = {
            "session_count": F("session_count") + added,
            "turn_count": F("turn_count") + added,
            "updated_at": timezone.now(),
        }
        if self.dataset.status != Dataset.Status.RAW:
            # The dataset now has unscrubbed text.
            changes["status"] = Dataset.Status.RAW
        Dataset.objects.filter(pk=self.dataset.pk).update(**changes)


@contextmanager
def stage_labels(
    dataset: Dataset, schemas: KnownSchemas, kind: str = Annotation.Kind.LABEL, *, match_texts: bool = False
) -> Iterator[StagedLabels]:
    """A staging table for labels of ``dataset``, whose row the caller has locked. Within a transaction.

    A turn and persona have one adjudicated label: a conflicting earlier one is withdrawn.
    """
    execute(_CREATE_TABLE)
    yield StagedLabels(dataset, schemas, kind, match_texts=match_texts)
    # After an exception, the rollback drops the tables.
    execute("DROP TABLE IF EXISTS staged_label, staged_judgment")


def _label_row(label: LabelRecord) -> tuple[object, ...]:
    evidence, extra = take_offsets(label.extra, label.text)
    return (
        label.line,
        label.text,
        label.label,
        label.persona_id,
        label.session_id,
        label.turn_index,
        label.annotator,
        label.notes,
        label.timestamp,
        label.confidence,
        None if extra is None else encode_jsonb(extra),
        None if evidence is None else encode_jsonb(evidence),
    )
