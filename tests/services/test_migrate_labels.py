"""Labels from before there were criteria: a database with many of them migrates, and none is changed."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from tests.campaigns import make_persona, make_replies
from tests.conftest import as_owner

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

BEFORE_CRITERIA = "0006_decision_time"
REPLIES, ANNOTATORS = 200, 1000
_LABELS_SQL = """
INSERT INTO annotations_app_annotation (dataset_id, turn_id, label, persona_id, annotator, notes, timestamp)
SELECT t.dataset_id, t.id, hashint8(t.id * n) & 1, %s, 'annotator-' || n, 'Note ' || n,
       '2025-11-01T10:00:00Z'
FROM datasets_app_turn t CROSS JOIN generate_series(1, %s) n WHERE t.role = 'assistant'
"""
_COLUMNS_SQL = """
SELECT string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) FROM information_schema.columns
WHERE table_name = 'annotations_app_annotation'
"""


def test_200_000_labels_stay_as_they_are(tmp_path: Path) -> None:
    make_replies(tmp_path, REPLIES)
    persona = make_persona()
    call_command("migrate", "annotations_app", BEFORE_CRITERIA, verbosity=0)
    try:
        with as_owner() as cursor:
            cursor.execute(_LABELS_SQL, [persona.persona_id, ANNOTATORS])
            assert cursor.rowcount == 200_000
            cursor.execute(_COLUMNS_SQL)
            [columns] = cursor.fetchone()
        before = digest_labels(columns)
    finally:
        call_command("migrate", verbosity=0)
    assert digest_labels(columns) == before
    after = digest_labels("*")
    call_command("migrate", verbosity=0)
    assert digest_labels("*") == after


def digest_labels(columns: str) -> Any:
    """How many there are, and a digest of these columns."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), md5(string_agg(md5(l::text), '' ORDER BY id)) "
            f"FROM (SELECT {columns} FROM annotations_app_annotation) l"
        )
        return cursor.fetchone()
