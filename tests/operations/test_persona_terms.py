"""The personas whose terms a dataset keeps: those that its conversations name."""

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from datasets_app.catalog.personas import list_persona_terms
from datasets_app.catalog.rows.partitions import table_names
from datasets_app.models import Dataset, Persona, Session
from tests.factories import make_dataset, make_turn


def import_persona(name: str) -> Persona:
    return Persona.objects.create(persona_id=name, display_name=name.title(), yaml=f"id: {name}\n")


def make_named(folder: Path, *names: str | None) -> Dataset:
    lines = [make_turn(f"s{number}", 1, persona_id=name) for number, name in enumerate(names)]
    return make_dataset(folder, lines, f"of_{len(names)}")


@pytest.mark.django_db
def test_terms_are_those_of_named_personas(tmp_path: Path) -> None:
    for name in ("acme", "hollis", "zenith"):
        import_persona(name)
    assert list(list_persona_terms(make_named(tmp_path, None))) == []
    terms = set(list_persona_terms(make_named(tmp_path, "zenith", None, "acme", "later", "zenith")))
    assert {"acme", "zenith"} <= terms
    assert not {"hollis", "later"} & terms


@pytest.mark.django_db
def test_a_persona_imported_after_the_conversations_counts(tmp_path: Path) -> None:
    dataset = make_named(tmp_path, "later")
    assert list(list_persona_terms(dataset)) == []
    import_persona("later")
    assert "later" in set(list_persona_terms(dataset))


@pytest.mark.django_db
def test_many_sessions_are_not_scanned(tmp_path: Path) -> None:
    dataset = make_named(tmp_path, "hollis")
    for name in ("acme", "hollis", "zenith"):
        import_persona(name)
    rows = (
        Session(dataset=dataset, session_id=f"n{n}", persona_id="hollis", turn_count=1) for n in range(5_000)
    )
    Session.objects.bulk_create(rows)
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {table_names(dataset.pk)[0]}")
    with CaptureQueriesContext(connection) as queries:
        list(list_persona_terms(dataset))
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN {queries[0]['sql']}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert f"{table_names(dataset.pk)[0]}_persona_id_idx" in plan
