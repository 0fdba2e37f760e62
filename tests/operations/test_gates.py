"""Production data leaves the house scrubbed and verified, or by somebody's word that is on record."""

import io
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations_app.campaigns.create import create_campaign
from annotations_app.labels import export_annotations as exporting
from annotations_app.labels.export_annotations import export_annotations
from annotations_app.labels.import_annotations import import_annotations
from annotations_app.models import Campaign
from datasets_app.catalog import gates, policies, text_gates
from datasets_app.core.errors import UserError
from datasets_app.core.progress import OperationCanceled
from datasets_app.exporting import sample_dataset as sampling
from datasets_app.exporting.export_dataset import EXPORT_FORMATS, export_dataset
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.jobs import runs
from datasets_app.jobs.perform import perform
from datasets_app.models import AuditEvent, Dataset, JobRun, ScrubRun, SharingReview
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.releasing.sharing.export_package import export_package
from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset
from datasets_app.splitting.split_dataset import split_dataset
from tests import campaigns
from tests.factories import import_file, make_dataset, make_sessions, make_turn, write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)

LABELLED = make_turn(text="Mail jo@example.org", label=1, persona_id="default_v1")


@pytest.fixture
def production(tmp_path: Path) -> Dataset:
    return make_dataset(
        tmp_path, [LABELLED, make_turn("s1", 2, persona_id="default_v1")], origin="production"
    )


def exported(stored: Dataset, **options: Any) -> bytes:
    out = io.BytesIO()
    export_dataset(stored, out, **options)
    return out.getvalue()


def with_role(role: str) -> User:
    user = User.objects.create(username=role, is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    return user


@pytest.mark.parametrize("format", EXPORT_FORMATS)
def test_production_data_is_not_exported_before_it_is_scrubbed(production: Dataset, format: str) -> None:
    out = io.BytesIO()
    with pytest.raises(UserError, match="without a verified scrub, so it can.t be exported"):
        export_dataset(production, out, format=format)
    assert not out.getvalue()
    assert gates.is_raw(production)


def test_after_a_scrub_it_is(production: Dataset) -> None:
    scrub_dataset(production, parse_policy(None))
    assert not gates.is_raw(production)
    assert b"[EMAIL]" in exported(production)
    text_gates.check_gate(policies.ANNOTATE, production, actor=None)


def test_data_of_another_origin_leaves_if_nothing_is_found_in_it(tmp_path: Path) -> None:
    assert exported(make_dataset(tmp_path, make_sessions(1), origin="synthetic"))


def test_what_is_added_shuts_the_gate_again(production: Dataset, tmp_path: Path) -> None:
    scrub_dataset(production, parse_policy(None))
    import_file(write_jsonl(tmp_path / "more.jsonl", [make_turn("new")]), append=True)
    assert gates.is_raw(production)


def test_so_does_a_later_scrub_that_was_not_verified(production: Dataset) -> None:
    scrub_dataset(production, parse_policy(None))
    scrub_dataset(production, parse_policy(None), dry_run=True)
    assert not gates.is_raw(production)  # a preview changes nothing

    def fail(*_: Any) -> None:
        raise OperationCanceled

    with pytest.raises(OperationCanceled):
        scrub_dataset(production, replace(parse_policy(None), placeholders="numbered"), report_progress=fail)
    assert gates.is_raw(production)


def test_labels_hold_texts_too(production: Dataset) -> None:
    with pytest.raises(UserError, match="without a verified scrub"):
        export_annotations(production, persona="default_v1", out=io.BytesIO())
    out = io.BytesIO()
    export_annotations(production, persona="default_v1", out=out, override="for the audit of May")
    assert b"jo@example.org" in out.getvalue()


def test_an_override_takes_permission_and_reason_and_is_on_record(production: Dataset) -> None:
    officer, curator = with_role("privacy officer"), with_role("curator")
    assert gates.can_override(officer)
    assert not gates.can_override(curator)
    with pytest.raises(UserError, match="You don.t have permission"):
        exported(production, actor=curator, override="because")
    with pytest.raises(UserError, match="give a reason"):
        exported(production, actor=officer, override="  ")
    assert b"jo@example.org" in exported(production, actor=officer, override="a  court order")
    event = AuditEvent.objects.get(action="override")
    assert (event.actor, event.dataset_name) == ("privacy officer", "support")
    assert event.details == {"purpose": "export", "reason": "a court order"}


def test_a_job_asks_whether_its_person_may(production: Dataset, empty_queue: None) -> None:
    for role, state in (("curator", "failed"), ("privacy officer", "done")):
        user = with_role(role)
        parameters = ExportParameters(format="turns", override="a court order")
        job = runs.start_job("export_dataset", actor=user, dataset=production, parameters=parameters)
        perform(job.pk)
        job.refresh_from_db()
        assert job.state == state, job.error
    # Whoever asked has left since: their word is nobody's.
    job = runs.start_job("export_dataset", actor=None, dataset=production, parameters=parameters)
    perform(job.pk)
    job.refresh_from_db()
    assert (job.state, job.files.count()) == ("failed", 0)


@pytest.mark.parametrize(
    "command", [["export_dataset", "support"], ["export_annotations", "support", "--persona", "default_v1"]]
)
def test_commands_need_a_reason(production: Dataset, manage: Any, tmp_path: Path, command: list[str]) -> None:
    out = tmp_path / "out.jsonl"
    done = manage(*command, "--out", out)
    assert done.returncode == 2
    assert "without a verified scrub" in done.stderr
    assert not out.exists()
    done = manage(*command, "--out", out, "--override", "for the audit of May")
    assert done.returncode == 0, done.stderr
    assert "jo@example.org" in out.read_text()
    assert AuditEvent.objects.get(action="override").actor.startswith("command line")
    assert JobRun.objects.latest("pk").parameters["override"] == "for the audit of May"


def test_the_table_of_labels_does_not_leave_either(production: Dataset) -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    address = reverse("admin:annotations_app_annotation_export")
    form = {"format": "0", "resource": "", "annotationresource_text": "on", "annotationresource_label": "on"}
    answer = client.post(address, form, secure=True)
    assert b"jo@example.org" not in answer.content
    assert "without a verified scrub" in answer.content.decode()
    assert not AuditEvent.objects.filter(action="export_table").exists()


def test_raw_sessions_that_come_while_labels_are_read_stop_their_export(
    production: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_annotations(write_jsonl(tmp_path / "labels.jsonl", [LABELLED]), dataset_name="support")
    scrub_dataset(production, parse_policy(None))
    really = exporting._file_decisions

    def write_meanwhile(*given: Any) -> Any:
        import_file(write_jsonl(tmp_path / "raw.jsonl", [make_turn("s9")]))
        return really(*given)

    monkeypatch.setattr(exporting, "_file_decisions", write_meanwhile)
    out = io.BytesIO()
    with pytest.raises(UserError, match="without a verified scrub"):
        export_annotations(production, persona="default_v1", out=out)
    assert not out.getvalue()


def test_nothing_is_imported_between_the_gate_and_a_sample(
    production: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scrub_dataset(production, parse_policy(None))
    really, at = sampling._choose_for_dataset, connection.settings_dict

    def chosen(*given: Any) -> Any:
        with psycopg.connect(host=at["HOST"], dbname=at["NAME"], user="postgres") as other:
            wanted = "SELECT FROM datasets_app_dataset WHERE id = %s FOR NO KEY UPDATE NOWAIT"
            with pytest.raises(psycopg.errors.LockNotAvailable):
                other.execute(wanted, [production.pk])
        return really(*given)

    monkeypatch.setattr(sampling, "_choose_for_dataset", chosen)
    assert (
        sampling.sample_to_file(production, tmp_path / "sample.jsonl", sampling.SampleOptions(1)).sessions
        == 1
    )


# --- every door, in every situation ---------------------------------------------------------------------

Door = Callable[[Dataset, Any, str, Path], Any]


def create_release(dataset: Dataset, actor: Any, override: str, folder: Path) -> None:
    release_dataset(dataset, folder=folder, override=override, actor=actor)


def make_package(dataset: Dataset, actor: Any, override: str, folder: Path) -> None:
    """What is shared outside needs a signed review as well."""
    if not override and dataset.turn_count:
        SharingReview.objects.create(
            dataset=dataset,
            name="Ada Lovelace",
            last_session=dataset.sessions.latest("pk").pk,
            last_scrub=max(dataset.scrubs.values_list("pk", flat=True), default=None),
            turn_count=dataset.turn_count,
        )
    export_package(dataset, folder / "package.zip", actor=actor, override=override)


def start_campaign(dataset: Dataset, actor: Any, override: str, folder: Path) -> None:
    campaign = Campaign(name="doors", dataset=dataset, persona=campaigns.make_persona(), overlap=1)
    create_campaign(campaign, ["ana"], override=override, actor=actor)


def split_again(dataset: Dataset, actor: Any, override: str, folder: Path) -> None:
    dataset.sessions.update(split="train")
    split_dataset(dataset, resplit=True, override=override, actor=actor)


def export_labels(dataset: Dataset, actor: Any, override: str, folder: Path) -> None:
    export_annotations(
        dataset, persona="default_v1", out=io.BytesIO(), labels="all", override=override, actor=actor
    )


DOORS: dict[str, Door] = {
    "export": lambda dataset, actor, override, folder: exported(dataset, actor=actor, override=override),
    "sample": lambda dataset, actor, override, folder: sampling.sample_to_file(
        dataset, folder / "sample.jsonl", sampling.SampleOptions(1), actor=actor, override=override
    ),
    "package": make_package,
    "labels": export_labels,
    "campaign": start_campaign,
    "release": create_release,
    "split again": split_again,
}
# Always closed: it unlocks the test split.
LOCKED_DOORS = {"split again"}


def scrub(dataset: Dataset) -> None:
    scrub_dataset(dataset, replace(parse_policy(None), hash_session_ids=True))


def start_scrub(dataset: Dataset) -> None:
    job = JobRun.objects.create(
        operation="scrub_dataset",
        state="running",
        dataset=dataset,
        dataset_name=dataset.name,
        heartbeat_at=timezone.now(),
    )
    ScrubRun.objects.create(dataset=dataset, job_run=job, policy={})


def expire(dataset: Dataset) -> None:
    Dataset.objects.filter(pk=dataset.pk).update(status="expired", expired_at=timezone.now())


@pytest.mark.parametrize(
    ("steps", "role", "override", "expected"),
    [
        ([], None, "", "refused"),
        ([], "privacy officer", "", "refused"),
        ([], "curator", "a court order", "refused"),
        ([], "privacy officer", "a court order", "overridden"),
        ([], None, "a court order", "overridden"),
        ([], "privacy officer", "x" * 501, "refused"),
        ([scrub], "curator", "", "allowed"),
        ([scrub, start_scrub], "privacy officer", "a court order", "refused"),
        ([scrub, expire], "privacy officer", "a court order", "refused"),
    ],
)
def test_every_door_gives_the_same_verdict(
    production: Dataset, tmp_path: Path, steps: list[Any], role: str | None, override: str, expected: str
) -> None:
    for step in steps:
        step(production)
    campaigns.make_annotators("ana")
    actor = with_role(role) if role else None
    verdicts = {}
    for name, door in DOORS.items():
        folder = tmp_path / name
        folder.mkdir()
        before = AuditEvent.objects.filter(action="override").count()
        try:
            door(Dataset.objects.get(pk=production.pk), actor, override, folder)
        except UserError:
            assert not list(folder.iterdir())
            verdicts[name] = "refused"
            assert AuditEvent.objects.filter(action="override").count() == before
        else:
            recorded = AuditEvent.objects.filter(action="override").count() > before
            verdicts[name] = "overridden" if recorded else "allowed"
    locked = "refused" if expected == "allowed" else expected
    assert verdicts == {name: locked if name in LOCKED_DOORS else expected for name in DOORS}
