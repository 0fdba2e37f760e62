"""The facts of datasets by one statement, which is compiled once: every page asks for them."""

import json
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet

from datasets_app.models import Dataset
from datasets_app.models.job_run import HEARTBEAT_TIMEOUT

TEXT_FIELDS = (
    "rules",
    "scanned_to",
    "scrubbed_to",
    "turn_count",
    "found",
    "written",
    "exempt",
    "unmeasured",
    "names_searched",
    "audit",
    "canary",
)
_JSON_FIELDS = ("found", "written", "exempt", "unmeasured", "audit", "canary")
# The job of a scrub in progress is the one that another scrub would find.
_FACTS_SQL = """
SELECT d.id AS pk, d.name, d.origin, d.status, d.turn_count, d.legal_hold, d.hold_reason, d.expired_at,
    p.last_session,
    (SELECT count(*) FROM datasets_app_scrubmark m
     WHERE m.dataset_id = d.id AND m.verdict = 'missed' AND m.created_at > coalesce(
        (SELECT r.created_at FROM datasets_app_scrubrun r
         WHERE r.dataset_id = d.id AND NOT r.dry_run AND r.verified_at IS NOT NULL
         ORDER BY r.id DESC LIMIT 1), '-infinity')) AS missed,
    (SELECT r.job_run_id FROM datasets_app_scrubrun r JOIN datasets_app_jobrun j ON j.id = r.job_run_id
     WHERE r.dataset_id = d.id AND NOT r.dry_run AND r.verified_at IS NULL AND r.finished_at IS NULL
       AND j.operation = 'scrub_dataset' AND j.state IN ('queued', 'running')
       AND (NOT j.foreground OR j.heartbeat_at IS NULL
            OR j.heartbeat_at >= now() - make_interval(secs => %s))
     ORDER BY r.id DESC LIMIT 1) AS scrub_job,
    a.last_session AS attested_to, a.created_by_name AS attested_by, a.created_at AS attested_at,
    a.reason AS attested_because, {text}
FROM datasets_app_dataset d
LEFT JOIN datasets_app_datasetpartition p ON p.dataset_id = d.id
LEFT JOIN datasets_app_textscan t ON t.dataset_id = d.id
LEFT JOIN datasets_app_attestation a ON a.dataset_id = d.id AND a.ended_at IS NULL
WHERE d.id IN ({chosen})
"""
_TEXT_COLUMNS = ", ".join(f"t.{name} AS text_{name}" for name in TEXT_FIELDS)


def fetch_facts(datasets: QuerySet[Dataset]) -> list[dict[str, Any]]:
    """One row for each dataset. Columns of its text are named ``text_…``; None if nothing has searched it."""
    try:
        chosen, values = datasets.order_by().values("pk").query.sql_with_params()
    except EmptyResultSet:
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            _FACTS_SQL.format(text=_TEXT_COLUMNS, chosen=chosen), [HEARTBEAT_TIMEOUT.total_seconds(), *values]
        )
        names = [column.name for column in cursor.description]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    for row in rows:
        for name in _JSON_FIELDS:
            value = row[f"text_{name}"]
            row[f"text_{name}"] = None if value is None else json.loads(value)
    return rows
