"""Staged answers under schemas → decisions; see label_staging.

The lines of one decision are those of the same reply, schema and rater with the same time, notes and other
fields. If a criterion comes twice among them, a decision begins where the order of the schema begins again.
"""

import json
from collections.abc import Iterator
from typing import Any

from django.db import connection

from annotations_app.labels.known_schemas import KnownSchemas
from datasets_app.core.queries import execute, fetch_all, fetch_value
from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.labels.schema import Answers, check_answers
from datasets_app.domain.labels.values import InvalidValue

_KEY = """turn, schema, persona_id, rater_kind, annotator, rater_version, prompt_digest, notes, timestamp,
    confidence, extra, evidence"""
_GROUP = f"""
CREATE TEMPORARY TABLE staged_judgment AS
SELECT {_KEY}, min(line) AS line, array_agg(line) AS lines, false AS is_new,
       bool_or(text_differs) AS text_differs,
       COALESCE(jsonb_object_agg(criterion, answer) FILTER (WHERE jsonb_typeof(answer) = 'number'), '{{}}')
           AS codes,
       jsonb_object_agg(criterion, answer) FILTER (WHERE jsonb_typeof(answer) = 'string') AS texts
FROM (
    SELECT *, CASE WHEN max(nth) OVER (PARTITION BY {_KEY}) > 1 THEN
                   count(*) FILTER (WHERE begins) OVER (PARTITION BY {_KEY} ORDER BY line) ELSE 0 END AS part
    FROM (
        SELECT *, row_number() OVER (PARTITION BY {_KEY}, criterion ORDER BY line) AS nth,
               place <= lag(place) OVER (PARTITION BY {_KEY} ORDER BY line) AS begins
        FROM staged_label WHERE schema IS NOT NULL
    ) placed
) parts
GROUP BY {_KEY}, part
"""  # constants of this module # nosec B608
_MARK_NEW = f"""
UPDATE staged_judgment SET is_new = true
FROM (
    SELECT min(line) AS line FROM staged_judgment l
    WHERE NOT EXISTS (
        SELECT FROM annotations_app_judgment j JOIN annotations_app_rater r ON r.id = j.rater_id
        WHERE j.turn_id = l.turn AND j.schema_id = l.schema AND j.persona_id = l.persona_id
          AND j.kind = %(kind)s AND j.codes = l.codes AND j.texts IS NOT DISTINCT FROM l.texts
          AND r.name IS NOT DISTINCT FROM l.annotator AND (r.kind = 'model') = (l.rater_kind = 'model')
          AND r.version = l.rater_version AND r.prompt_digest = l.prompt_digest
          AND j.notes IS NOT DISTINCT FROM l.notes AND j.timestamp IS NOT DISTINCT FROM l.timestamp
          AND j.confidence IS NOT DISTINCT FROM l.confidence AND j.extra IS NOT DISTINCT FROM l.extra
          AND (j.evidence IS NOT DISTINCT FROM l.evidence OR j.evidence IS NULL AND l.text_differs)
    )
    GROUP BY {_KEY}, codes, texts
) first
WHERE staged_judgment.line = first.line
"""  # constants of this module # nosec B608
# As those of label_staging, for each schema.
_FIND_CONTRADICTIONS = """
SELECT max(line), count(*) OVER () FROM staged_judgment GROUP BY turn, persona_id, schema
HAVING count(DISTINCT jsonb_build_array(codes, texts)) > 1 ORDER BY max(line) LIMIT %(limit)s
"""
_KEEP_FIRST = """
UPDATE staged_judgment l SET is_new = false
WHERE l.is_new AND (
    EXISTS (SELECT FROM staged_judgment other WHERE other.turn = l.turn AND other.schema = l.schema
            AND other.persona_id = l.persona_id AND other.line < l.line)
    OR EXISTS (SELECT FROM annotations_app_judgment j WHERE j.turn_id = l.turn AND j.schema_id = l.schema
               AND j.persona_id = l.persona_id AND j.kind = 'adjudicated'
               AND j.codes = l.codes AND j.texts IS NOT DISTINCT FROM l.texts)
)
"""
_WITHDRAW_REPLACED = """
UPDATE annotations_app_judgment j SET kind = 'withdrawn' FROM staged_judgment l
WHERE l.is_new AND j.turn_id = l.turn AND j.schema_id = l.schema AND j.persona_id = l.persona_id
  AND j.kind = 'adjudicated'
"""
_ADD_RATERS = """
INSERT INTO annotations_app_rater (dataset_id, kind, name, version, prompt_digest)
SELECT DISTINCT %(dataset)s, rater_kind, annotator, rater_version, prompt_digest
FROM staged_judgment WHERE is_new
ON CONFLICT DO NOTHING
"""
_INSERT_NEW = """
INSERT INTO annotations_app_judgment
    (dataset_id, turn_id, schema_id, rater_id, kind, codes, texts, persona_id, notes, timestamp, confidence,
     extra, evidence)
SELECT %(dataset)s, l.turn, l.schema, r.id, %(kind)s, l.codes, l.texts, l.persona_id, l.notes, l.timestamp,
       l.confidence, l.extra, l.evidence
FROM staged_judgment l JOIN annotations_app_rater r
  ON r.dataset_id = %(dataset)s AND r.kind = l.rater_kind AND r.name IS NOT DISTINCT FROM l.annotator
 AND r.version = l.rater_version AND r.prompt_digest = l.prompt_digest
WHERE l.is_new ORDER BY l.line
"""
_MARK_NEW_LINES = """
UPDATE staged_label SET is_new = true
FROM (SELECT unnest(lines) AS line FROM staged_judgment WHERE is_new) added
WHERE staged_label.line = added.line
"""


def group_answers() -> int:
    """Make decisions of the staged answers, which have been joined to turns; returns how many."""
    execute(_GROUP)
    return int(fetch_value("SELECT count(*) FROM staged_judgment"))


def check_decisions(schemas: KnownSchemas) -> Iterator[LineError]:
    """What is missing in the decisions, or asked only after another answer."""
    with connection.chunked_cursor() as cursor:
        cursor.execute("SELECT line, schema, codes, texts FROM staged_judgment ORDER BY line")
        for line, schema, codes, texts in cursor:
            try:
                check_answers(schemas.get(schema), Answers(json.loads(codes), json.loads(texts or "{}")))
            except InvalidValue as error:
                message = f"in the decision that begins here, {error}"
                yield LineError(line, "E102", message, field="criterion")


def find_contradictions(limit: int) -> list[tuple[int, int]]:
    """(last line of each conflict of adjudicated answers, how many there are)."""
    return fetch_all(_FIND_CONTRADICTIONS, {"limit": limit})


def save_decisions(values: dict[str, Any], *, adjudicated: bool) -> int:
    """Insert those that are new; returns how many."""
    execute(_MARK_NEW, values)
    if adjudicated:
        execute(_KEEP_FIRST)
        execute(_WITHDRAW_REPLACED)
    execute(_ADD_RATERS, values)
    added = execute(_INSERT_NEW, values)
    execute(_MARK_NEW_LINES)
    return added
