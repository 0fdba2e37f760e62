"""What hangs on sessions is declared column by column, and goes when it was declared to go."""

from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.db import connection, models, transaction
from django.utils import timezone

from datasets_app.core.deletion_summary import format_counts
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import (
    Attestation,
    AuditedTurn,
    Dataset,
    JobRun,
    ReceivedRequest,
    ReceivedSpan,
    Release,
    SavedView,
    ScrubAudit,
    ScrubChunk,
    ScrubRun,
    Session,
    SessionSelection,
    TextScan,
)
from datasets_app.models.session_data import SessionData, find, list_all
from datasets_app.retention.apply import apply_retention
from datasets_app.retention.erase_session import erase_session
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests.everything import FIXED_PK, make_full_dataset

# Of types that can hold no text.
WITHOUT_TEXT = (
    models.BooleanField,
    models.DateField,
    models.DurationField,
    models.FloatField,
    models.IntegerField,
    models.UUIDField,
)
OURS = ("datasets_app", "annotations_app")


def list_models() -> list[type[models.Model]]:
    return [model for app in OURS for model in apps.get_app_config(app).get_models(include_auto_created=True)]


def list_columns(model: type[models.Model]) -> set[str]:
    """Those with text, JSON, arrays, bytes, vectors: all that are not known to hold something else."""
    return {
        field.name
        for field in model._meta.local_concrete_fields
        if not field.is_relation and not field.choices and not isinstance(field, WITHOUT_TEXT)
    }


def test_every_column_is_declared_once() -> None:
    declared = {data.model: data for data in list_all()}
    assert len(declared) == len(list_all())
    wrong = {
        model.__name__: missing
        for model in list_models()
        if (missing := list_columns(model) ^ (declared[model].declared if model in declared else set()))
    }
    assert not wrong, "declare them in session_data.py of their app"
    for data in list_all():
        named = [*data.scrubbed, *data.quoted.split(), *" ".join([*data.left.values()]).split()]
        named += " ".join(data.harmless.values()).split()
        assert len(named) == len(set(named)), data.model


def test_every_kind_of_row_is_named_where_a_deletion_is_told() -> None:
    kinds = [data.kind for data in list_all() if data.kind]
    assert len(kinds) == len(set(kinds))
    assert [kind for kind in kinds if not format_counts({kind: 1})] == []


# --- values that are planted ----------------------------------------------------------------------------


# Elsewhere it is the name of an account.
ONLY = {"Annotation.annotator": {"campaign": None}}


def canary(data: SessionData, column: str) -> str:
    """An address that is in this column only; scrubs know what it is."""
    return f"quill.{data.model.__name__.lower()}.{column.replace('_', '-')}@wexmail.org"


def plant(data: SessionData, column: str) -> None:
    value: Any = canary(data, column)
    field = data.model._meta.get_field(column)
    if isinstance(field, models.JSONField):
        # Keys that commands and pages write.
        value = {"persona": value}
    elif isinstance(field, ArrayField):
        value = [value]
    elif isinstance(field, models.BinaryField):
        value = value.encode()
    rows = data.model._default_manager.filter(**ONLY.get(name_of(data, column), {}))
    assert rows.update(**{column: value}), f"{data.model.__name__} has no row: tests/everything.py makes one"


def list_planted() -> list[tuple[SessionData, str]]:
    """Each personal column of what belongs to a dataset, to its sessions or to its jobs."""
    return [(data, column) for data in list_all() for column in sorted(data.personal)]


def find_left() -> set[str]:
    """ "Model.column" of every planted value that any table of the database still has, in whatever column."""
    settings = connection.settings_dict
    with psycopg.connect(
        host=settings["HOST"], port=settings["PORT"] or None, dbname=settings["NAME"], user="postgres"
    ) as administrator:
        tables = administrator.execute(
            "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname = 'public'"
        ).fetchall()
        held = ""
        for (table,) in tables:
            for (row,) in administrator.execute(f"SELECT t::text FROM {table} t").fetchall():
                held += row
    return {
        name_of(data, column)
        for data, column in list_planted()
        if canary(data, column) in held or canary(data, column).encode().hex() in held
    }


def name_of(data: SessionData, column: str) -> str:
    return f"{data.model.__name__}.{column}"


@pytest.fixture
def planted(transactional_db: None, media_root: Any) -> Dataset:
    """A dataset with all that there can be of it, and a canary in each personal column."""
    with transaction.atomic():
        dataset = make_full_dataset("wex")
        _add_rest(dataset)
        for data, column in list_planted():
            plant(data, column)
    assert find_left() == {name_of(data, column) for data, column in list_planted()}
    dataset.refresh_from_db()
    return dataset


def _add_rest(dataset: Dataset) -> None:
    JobRun.objects.filter(dataset_name="").delete()
    owner = User.objects.create_user("keeper")
    session = Session.objects.get(pk=FIXED_PK)
    SavedView.objects.create(dataset=dataset, owner=owner, name="A view", has_text=True)
    SessionSelection.objects.create(dataset=dataset, owner=owner, keys=[FIXED_PK])
    ScrubChunk.objects.create(scrub=ScrubRun.objects.get(), session_keys=[FIXED_PK], turn_count=2, done=True)
    audit = ScrubAudit.objects.create(
        dataset=dataset, last_session=FIXED_PK, turn_count=2, strata=[2], seed=1
    )
    AuditedTurn.objects.create(audit=audit, session=session, turn_index=1, position=1, stratum=0)
    TextScan.objects.create(dataset=dataset)
    Attestation.objects.create(dataset=dataset, last_session=FIXED_PK, reason="-", created_by_name="-")
    source: Any = {"source_id": FIXED_PK, "received_at": timezone.now() - timedelta(minutes=1)}
    ReceivedRequest.objects.create(content_type="application/json", spans=1, size=1, body=b"-", **source)
    ReceivedSpan.objects.create(trace=b"0", size=1, content=b"-", **source)


def names(*chosen: tuple[SessionData, Any]) -> set[str]:
    return {name_of(data, column) for data, columns in chosen for column in columns}


def test_what_a_scrub_replaces_or_deletes_is_in_no_table(planted: Dataset) -> None:
    scrub_dataset(planted, Policy(), actor=None)
    left = names(*[(data, " ".join(data.left.values()).split()) for data in list_all()])
    assert sorted(find_left() - left) == []


def test_what_belongs_to_an_erased_session_is_in_no_table(planted: Dataset) -> None:
    # Its files hold one line, which no release has.
    Release.objects.update(destroyed_at=timezone.now())
    session = Session.objects.get(pk=FIXED_PK)
    erase_session(session, "Asked for by letter.")
    gone = names(*[(data, data.personal) for data in list_all() if data.session or data.quoted])
    assert sorted(find_left() & (gone | {"Campaign.tag"})) == []


def test_what_belongs_to_a_deleted_dataset_is_in_no_table(planted: Dataset) -> None:
    apply_retention(dataset=planted, reason="A test.")
    assert sorted(find_left()) == []
    for data in list_all():
        if data.dataset and not data.emptied:
            assert not data.rows(planted).exists(), data.model
    assert not Session.objects.exists()
    assert find(Dataset).model.objects.get().name == "wex-data"
