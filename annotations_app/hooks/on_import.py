"""Labels that come inside a conversation file become annotations of their turns as well."""

from typing import Any

from datasets_app.core.queries import execute, fetch_all
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.values import decode_json, json_values, opposite_code
from datasets_app.domain.traces.label_rules import MAX_VALUE_CHARACTERS, MAX_VALUES, LabelRules, map_labels

# The few turns with labels, read before anything is joined to them: without statistics of a table just filled
# PostgreSQL would look up the turns of one session after the other. Beside them their sessions.
_TURNS = """
WITH labeled AS MATERIALIZED (
    SELECT * FROM datasets_app_turn
    WHERE dataset_id = %(dataset)s AND session_id BETWEEN %(first)s AND %(last)s AND {condition}
)
"""
_FROM_TURNS = """
FROM labeled t JOIN datasets_app_session s ON s.dataset_id = t.dataset_id AND s.id = t.session_id
"""
# What isn't a label, a name or a number of the right kind stays with the turn only: it is a key
# like any other there (``label`` may be an intent), and must not make an import fail.
_INSERT_ANNOTATIONS_SQL = f"""
{_TURNS.format(condition=f"extra->'label' IN ({json_values(ON_BRAND)})")}
INSERT INTO annotations_app_annotation
    (dataset_id, turn_id, label, persona_id, annotator, notes, confidence, timestamp)
SELECT s.dataset_id, t.id, {decode_json(ON_BRAND, "t.extra->'label'")}, s.persona_id,
       CASE WHEN length(annotator.name) <= 200 THEN annotator.name END,
       CASE WHEN jsonb_typeof(t.extra->'notes') = 'string' THEN t.extra->>'notes' END,
       CASE WHEN jsonb_typeof(t.extra->'confidence') = 'number'
             AND abs((t.extra->'confidence')::numeric) < 1e300
            THEN (t.extra->'confidence')::float END,
       t.timestamp
{_FROM_TURNS}
CROSS JOIN LATERAL (
    SELECT NULLIF(CASE
        WHEN jsonb_typeof(t.extra->'annotator') = 'string' THEN t.extra->>'annotator'
        WHEN jsonb_typeof(t.extra->'labeler') = 'string' THEN t.extra->>'labeler'
    END, '') AS name
) annotator
WHERE s.persona_id IS NOT NULL
ORDER BY t.session_id, t.turn_index
"""  # constants of this module # nosec B608


# Labels that other tools gave a reply, as a conversion keeps them.
_TURNS_WITH_LABELS = _TURNS.format(condition="metadata ? 'labels'")
_LABELS = f"""
{_FROM_TURNS}
CROSS JOIN LATERAL jsonb_array_elements(
    CASE WHEN jsonb_typeof(t.metadata->'labels') = 'array' THEN t.metadata->'labels' ELSE '[]' END
) WITH ORDINALITY AS item (label, place)
CROSS JOIN LATERAL (
    SELECT COALESCE(item.label->>'question', '') AS question,
           CASE WHEN jsonb_typeof(item.label->'value') IN ('string', 'number', 'boolean')
                 AND length(item.label->>'value') <= %(max_value)s THEN item.label->>'value' END AS value
) said
"""
_WHERE = """
WHERE jsonb_typeof(item.label) = 'object' AND item.label ? 'value'
"""
_COUNT_LABELS = f"""
{_TURNS_WITH_LABELS}
SELECT question, value, sum(count(*)) OVER () {_LABELS} {_WHERE}
GROUP BY 1, 2 ORDER BY count(*) DESC LIMIT %(max_values)s
"""  # constants of this module # nosec B608
_INSERT_LABELS = f"""
{_TURNS_WITH_LABELS}
INSERT INTO annotations_app_annotation
    (dataset_id, turn_id, label, persona_id, annotator, notes, confidence, timestamp)
SELECT s.dataset_id, t.id,
       CASE WHEN item.label->'applies' = 'false' THEN {opposite_code(ON_BRAND, "known.label")}
            ELSE known.label END,
       s.persona_id,
       CASE WHEN length(item.label->>'annotator') BETWEEN 1 AND 200 THEN item.label->>'annotator' END,
       CASE WHEN jsonb_typeof(item.label->'notes') = 'string' THEN item.label->>'notes' END,
       CASE WHEN jsonb_typeof(item.label->'confidence') = 'number'
             AND abs((item.label->'confidence')::numeric) < 1e300
            THEN (item.label->'confidence')::float END,
       CASE WHEN item.label->>'timestamp' ~ '^[0-9-]{{10}}T[0-9:]{{8}}[0-9.:+Z-]*$'
            THEN item.label->>'timestamp' END
{_LABELS}
JOIN unnest(%(questions)s::text[], %(values)s::text[], %(labels)s::int[]) AS known (question, value, label)
  ON known.question = said.question AND known.value = said.value
{_WHERE} AND s.persona_id IS NOT NULL
ORDER BY t.session_id, t.turn_index, item.place
"""  # constants of this module # nosec B608


def annotate_imported_turns(
    dataset: Any, first_session: int, last_session: int, rules: LabelRules
) -> dict[str, int]:
    """One annotation for each turn of these sessions whose line has ``label`` 0 or 1, and for each label in
    ``metadata.labels`` that says on-brand or off-brand. The others stay there: ``kept_labels``."""
    values: dict[str, Any] = {"dataset": dataset.pk, "first": first_session, "last": last_session}
    added = execute(_INSERT_ANNOTATIONS_SQL, values)
    values |= {"max_value": MAX_VALUE_CHARACTERS, "max_values": MAX_VALUES}
    counted = fetch_all(_COUNT_LABELS, values)
    kept = int(counted[0][2]) if counted else 0
    mapped = map_labels([(name, value) for name, value, _ in counted if value is not None], rules)
    if mapped:
        questions, answers = zip(*mapped, strict=True)
        known = {"questions": list(questions), "values": list(answers), "labels": list(mapped.values())}
        inserted = execute(_INSERT_LABELS, values | known)
        added, kept = added + inserted, kept - inserted
    return {key: count for key, count in (("annotations", added), ("kept_labels", kept)) if count}
