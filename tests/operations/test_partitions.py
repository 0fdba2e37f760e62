"""Each dataset's sessions and turns are in partitions of their own, and nothing reads those of others."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.apps import apps
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test import Client
from django.urls import reverse

from annotations_app.models import Annotation, CampaignItem
from datasets_app.catalog.rows.partitions import (
    drop_unused_partitions,
    empty_partition,
    find_dataset,
    has_partition,
    table_names,
)
from datasets_app.catalog.rows.turn_pages import PageQuery, page_turns
from datasets_app.checking.check_dataset import check_dataset
from datasets_app.core import purge
from datasets_app.core.errors import UserError
from datasets_app.importing import import_dataset as importing
from datasets_app.models import CheckFinding, Dataset, DatasetPartition, ScrubFinding, ScrubRun, Session, Turn
from datasets_app.retention.apply import apply_retention
from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset
from tests.campaigns import make_campaign
from tests.factories import import_file, make_dataset, make_session, make_sessions, write_jsonl

pytestmark = pytest.mark.django_db

CONTENT = re.compile(r"datasets_app_(?:session|turn)\b(?!_)")
READS = re.compile(r"\s*(?:SELECT|WITH|UPDATE|DELETE|INSERT)", re.IGNORECASE)


def partitions() -> set[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relname ~ '^datasets_app_(session|turn)_[0-9]+$'")
        return {int(name.rpartition("_")[2]) for (name,) in cursor.fetchall()}


@contextmanager
def only_partitions_of(dataset: Dataset) -> Iterator[list[str]]:
    """Collects the statements within whose plan has partitions of other datasets."""
    others = {name for other in partitions() - {dataset.pk} for name in table_names(other)}
    found: list[str] = []

    def explain(execute: Any, sql: Any, values: Any, many: bool, context: Any) -> Any:
        if CONTENT.search(str(sql)) and READS.match(str(sql)):
            with transaction.atomic(), connection.connection.cursor() as cursor:
                cursor.execute(f"EXPLAIN {sql}", values)
                plan = " ".join(line for (line,) in cursor.fetchall())
            if any(re.search(rf"\b{name}\b", plan) for name in others):
                found.append(str(sql))
        return execute(sql, values, many, context)

    with connection.execute_wrapper(explain):
        yield found


# --- pages and operations -------------------------------------------------------------------------------


def test_pages_of_a_dataset_read_its_partitions_only(tmp_path: Path, admin_client: Client) -> None:
    make_dataset(tmp_path, make_sessions(2), "other")
    stored = make_dataset(tmp_path, make_sessions(3))
    campaign = make_campaign(stored, "ana")
    turn = Turn.objects.filter(dataset=stored)[0]
    addresses = [
        reverse("admin:datasets_app_dataset_change", args=[stored.pk]),
        reverse("admin:datasets_app_session_change", args=[turn.session_id]),
        reverse("admin:datasets_app_turn_change", args=[turn.pk]),
        reverse("admin:annotations_app_campaign_change", args=[campaign.pk]),
        *(
            f"{reverse('admin:datasets_app_turn_changelist')}?dataset={stored.pk}{query}"
            for query in ("", "&q=says", "&tag=none", "&role=user", "&last=1")
        ),
    ]
    with only_partitions_of(stored) as found:
        for address in addresses:
            assert admin_client.get(address).status_code in (200, 302), address
        check_dataset(stored, actor=None)
    assert found == []


def test_rows_are_found_by_their_key_alone(tmp_path: Path) -> None:
    stored = [make_dataset(tmp_path, make_sessions(2), f"set{number}") for number in range(3)]
    import_file(write_jsonl(tmp_path / "more.jsonl", make_session("later")), "set0")
    datasets = [dataset.pk for dataset in stored]
    for session in Session.objects.all():
        assert find_dataset("session", session.pk, datasets) == session.dataset_id
        assert find_dataset("session", session.pk, []) is None
    for turn in Turn.objects.select_related("session"):
        assert turn.session.dataset_id == turn.dataset_id == find_dataset("turn", turn.pk, datasets)
    assert find_dataset("session", 0, datasets) is None


@pytest.mark.parametrize("at_once", [1, 50])
def test_pages_over_all_datasets_keep_the_order_of_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr("datasets_app.catalog.rows.turn_pages.MAX_DATASETS_AT_ONCE", at_once)
    for number in range(6):  # to each of three datasets in turn
        lines = make_session(f"s{number}", 3)
        import_file(write_jsonl(tmp_path / f"{number}.jsonl", lines), f"set{number % 3}")
    datasets = list(Dataset.objects.values_list("pk", flat=True))
    everything = list(Turn.objects.order_by("session_id", "turn_index").values_list("dataset", "pk"))
    places = list(Turn.objects.order_by("session_id", "turn_index").values_list("session_id", "turn_index"))
    assert page_turns(datasets, PageQuery(limit=4)) == everything[:4]
    assert page_turns(datasets, PageQuery(after=places[3], limit=4)) == everything[4:8]
    assert page_turns(datasets, PageQuery(before=places[8], limit=4)) == everything[4:8]
    assert page_turns(datasets, PageQuery(backwards=True, limit=4)) == everything[-4:]


# --- nothing is left over -------------------------------------------------------------------------------


def test_a_failed_import_leaves_no_partition(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = partitions()

    def fail(*_: Any) -> None:
        raise UserError("The last step failed.")

    monkeypatch.setattr(importing, "_add_labels", fail)
    with pytest.raises(UserError), transaction.atomic():
        make_dataset(tmp_path, make_sessions(2))
    assert partitions() == before
    assert not Dataset.objects.exists()


def test_an_import_without_sessions_makes_no_partition(tmp_path: Path) -> None:
    before = partitions()
    lines = [*make_session("bad", 1), {"session_id": "bad", "turn_index": 5}]
    with pytest.raises(UserError):
        import_file(write_jsonl(tmp_path / "bad.jsonl", lines))
    import_file(write_jsonl(tmp_path / "bad.jsonl", lines), quarantine=True)
    assert partitions() == before


@pytest.mark.django_db(transaction=True)
def test_partitions_of_expired_and_deleted_datasets_are_dropped_when_nobody_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(purge, "MAX_SNAPSHOT_WAIT_SECONDS", 0.0)  # for the reader, who goes on reading
    kept = make_dataset(tmp_path, make_sessions(1), "kept")
    deleted = make_dataset(tmp_path, make_sessions(1), "deleted")
    expired = make_dataset(tmp_path, make_sessions(1), "expired")
    settings = connection.settings_dict
    with psycopg.connect(host=settings["HOST"], dbname=settings["NAME"], user="postgres") as reader:
        reader.execute("SELECT count(*) FROM datasets_app_turn WHERE dataset_id = %s", [kept.pk])
        apply_retention(dataset=expired, reason="A test.")
        assert partitions() == {kept.pk, deleted.pk, expired.pk}
        assert not Turn.objects.filter(dataset=expired).exists()
    Dataset.objects.filter(pk=deleted.pk).update(status=Dataset.Status.EXPIRED)
    empty_partition(deleted.pk)
    Dataset.objects.filter(pk=deleted.pk).delete()
    assert drop_unused_partitions() == 2
    assert partitions() == {kept.pk}
    assert list(DatasetPartition.objects.values_list("dataset", flat=True)) == [kept.pk]


def test_what_is_in_use_is_not_dropped(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(1))
    for status, verb in (("raw", "drop"), ("raw", "empty"), ("expired", "drop")):
        Dataset.objects.update(status=status)
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SELECT datasets_app_{verb}_partition(%s)", [stored.pk])
    drop_unused_partitions()
    assert has_partition(stored.pk)
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {table_names(stored.pk)[1]}")
    assert Turn.objects.count() == 2


# --- references -----------------------------------------------------------------------------------------


def test_rows_refer_to_sessions_and_turns_that_exist_in_their_dataset(tmp_path: Path) -> None:
    other = Turn.objects.filter(dataset=make_dataset(tmp_path, make_sessions(1), "other"))[0]
    stored = make_dataset(tmp_path, make_sessions(2))
    scrub = ScrubRun.objects.create(dataset=stored, policy={}, key_fingerprint="")
    report = check_dataset(stored, actor=None)
    label = {"dataset": stored, "label": 1, "persona_id": "default_v1"}
    found = {"scrub": scrub, "field": "text", "kind": "EMAIL", "start": 0, "length": 1}
    for missing in (other.session_id, 10**9):
        for row in (
            Annotation(**label, turn_id=missing),
            ScrubFinding(**found, session_id=missing, original_length=1, score=1),
            CheckFinding(report=report, code="E100", message="", session_id=missing),
        ):
            with pytest.raises(IntegrityError), transaction.atomic():
                row.save()
    turn = Turn.objects.filter(dataset=stored)[0]
    annotation = Annotation.objects.create(**label, turn=turn)
    with pytest.raises(IntegrityError), transaction.atomic():
        Annotation.objects.filter(pk=annotation.pk).update(turn=other.pk)


# Emptied with its session by what deletes it.
LEFT_EMPTY = {("annotations_app_campaignmember", "session_id")}


def list_references() -> set[tuple[str, str]]:
    """(table, column) of each that refers to a session or a turn; partitions of turns have a constraint."""
    return {
        (model._meta.db_table, field.column)
        for model in apps.get_models()
        if model is not Turn
        for field in model._meta.local_concrete_fields
        if field.related_model in (Session, Turn) and not getattr(field, "db_constraint", True)
    }


def test_every_reference_to_a_session_or_a_turn_is_held() -> None:
    """When it is written and changed, and when the row that it refers to is deleted."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tgrelid::regclass::text, pg_get_triggerdef(oid) FROM pg_trigger")
        triggers = cursor.fetchall()
    held = set()
    for table, column in list_references() - LEFT_EMPTY:
        own = [text for name, text in triggers if name == table and f"'n.{column}')" in text]
        if len(own) == 2 and any(f"'{table}', '{column}'" in text for _, text in triggers):
            held.add((table, column))
    assert list_references() - held == LEFT_EMPTY


def test_referenced_rows_are_not_deleted(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(1))
    make_campaign(stored, "ana")
    Dataset.objects.update(status=Dataset.Status.EXPIRED)
    assert CampaignItem.objects.exists()
    for statement in (
        "DELETE FROM datasets_app_turn WHERE dataset_id = %s",
        "DELETE FROM datasets_app_session WHERE dataset_id = %s",
        "SELECT datasets_app_empty_partition(%s)",
    ):
        with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement, [stored.pk])
    assert Turn.objects.count() == 2


@pytest.mark.django_db(transaction=True)
@pytest.mark.traces
def test_a_scrub_rewrites_its_own_partition_only(tmp_path: Path) -> None:
    other = make_dataset(tmp_path, make_sessions(1), "other")
    stored = make_dataset(tmp_path, make_session(text="Write to ana@example.org."))

    def files() -> dict[str, int]:
        names = [*table_names(other.pk), *table_names(stored.pk)]
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT name, pg_relation_filenode(name::regclass) FROM unnest(%s::text[]) name", [names]
            )
            return dict(cursor.fetchall())

    before = files()
    result = scrub_dataset(stored, parse_policy(None))
    assert "traces" not in result
    changed = {name for name, file in files().items() if file != before[name]}
    assert changed == set(table_names(stored.pk))
