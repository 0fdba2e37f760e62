"""What is due goes, as it was rehearsed; what is held stays, whatever the rules say."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.utils import timezone

from annotations_app.models import Annotation, Campaign, CampaignItem
from datasets_app.catalog import policies, text_gates
from datasets_app.checking.check_dataset import check_dataset
from datasets_app.core.errors import UserError
from datasets_app.core.progress import OperationCanceled
from datasets_app.models import (
    AuditEvent,
    CheckReport,
    Dataset,
    JobFile,
    JobRun,
    Release,
    ReleaseFile,
    RetentionPolicy,
    Session,
    SharingReview,
    SourceFile,
    Turn,
)
from datasets_app.retention import delete_contents, holds
from datasets_app.retention.apply import apply_retention
from datasets_app.retention.dry_run import preview_retention
from datasets_app.scrubbing.marks import mark_not_personal
from tests.campaigns import label_all_replies, make_campaign
from tests.factories import make_dataset, make_sessions

pytestmark = pytest.mark.django_db(transaction=True)


def rule(
    pattern: str = "*", kept: str = "30 days", *, active: bool = True, position: int = 1
) -> RetentionPolicy:
    return RetentionPolicy.objects.create(
        position=position, pattern=pattern, retention=kept, active=active, reason="a test"
    )


def aged(stored: Dataset, days: int) -> Dataset:
    Dataset.objects.filter(pk=stored.pk).update(created_at=timezone.now() - timedelta(days=days))
    stored.refresh_from_db()
    return stored


def with_everything(path: Path, name: str = "support") -> Dataset:
    """A dataset with labels, a campaign, a report, a mark, a review, files of jobs and a release."""
    stored = make_dataset(path, make_sessions(6, 4), name)
    made = make_campaign(stored, "ana", name=f"round-of-{name}")
    label_all_replies(made, "ana", limit=3)
    check_dataset(stored, actor=None)
    mark_not_personal(stored, term="Example Street", actor=None)
    SharingReview.objects.create(dataset=stored, name="Ana", last_session=1, turn_count=24)
    job = JobRun.objects.create(
        operation="export_dataset", dataset=stored, dataset_name=name, state="done", result={"of": "s1"}
    )
    kept = JobFile(job_run=job, kind="export", name="support.jsonl", size=9)
    kept.file.save(f"{job.pk}/export/one", ContentFile(b"something"))
    released = Release.objects.create(
        dataset=stored,
        major=1,
        minor=0,
        patch=0,
        session_count=6,
        turn_count=24,
        sha256="ab" * 32,
        changelog="Changed s1 turn 4",
        created_by_name="ana",
    )
    data = ReleaseFile(
        release=released, kind="data", name="support_v1.0.0.jsonl.gz", size=4, sha256="ab" * 32
    )
    data.file.save(f"{stored.pk}/data", ContentFile(b"data"))
    return aged(stored, 40)


def files_in(media_root: Path) -> list[str]:
    return [str(path) for path in media_root.rglob("*") if path.is_file()]


def test_a_rehearsal_is_what_then_happens(tmp_path: Path, media_root: Path) -> None:
    stored = with_everything(tmp_path)
    other = aged(make_dataset(tmp_path, make_sessions(2), "kept"), 20)
    rule()
    rehearsed = preview_retention()
    assert [(going.dataset, going.when) for going in rehearsed.deletions] == [
        ("support", "now"),
        ("kept", "later"),
    ]
    said = rehearsed.deletions[0]
    assert said.counts["turns"] == 24
    assert said.counts["labels"] == 3
    assert said.releases == ["1.0.0"]

    result = apply_retention()

    (certificate,) = AuditEvent.objects.filter(action="retention")
    assert certificate.dataset_name == "support"
    assert certificate.details["deleted"] == said.counts
    assert [item["version"] for item in certificate.details["releases"]] == said.releases
    assert certificate.details["rule"] == said.rule
    assert certificate.details["due"] == said.due
    assert result["datasets"] == 1
    for model in (Annotation, Campaign, CampaignItem, CheckReport, SharingReview, JobFile):
        assert not model.objects.exists(), model
    assert set(SourceFile.objects.values_list("dataset__name", flat=True)) == {"kept"}
    assert Session.objects.filter(dataset=other).count() == 2
    assert not files_in(media_root)
    stored.refresh_from_db()
    assert (stored.status, stored.turn_count, stored.provenance) == ("expired", 0, {})
    (release,) = Release.objects.all()
    assert (release.changelog, release.destroyed_reason, release.sha256) == ("", "retention", "ab" * 32)
    assert all(job.result is None for job in JobRun.objects.filter(dataset=stored))


def test_a_dataset_on_hold_outlives_every_rule(tmp_path: Path) -> None:
    stored = aged(make_dataset(tmp_path, make_sessions(2)), 4000)
    rule("*", "1 day")
    holds.change_hold(stored, "A claim is open.", held=True, actor=None)
    (said,) = preview_retention().deletions
    assert (said.when, said.hold_reason) == ("held", "A claim is open.")
    assert apply_retention() == {"datasets": 0}
    with pytest.raises(UserError, match="on legal hold"):
        apply_retention(dataset=stored, reason="It is to go.")
    assert Turn.objects.count() == 4
    holds.change_hold(stored, "The claim is settled.", held=False, actor=None)
    assert apply_retention()["turns"] == 4
    assert [event.action for event in AuditEvent.objects.order_by("id")][-3:] == [
        "hold",
        "lift_hold",
        "retention",
    ]


def test_a_rule_that_is_not_active_deletes_nothing_and_keeps_later_ones_from_it(tmp_path: Path) -> None:
    aged(make_dataset(tmp_path, make_sessions(1), "eval_keep"), 400)
    aged(make_dataset(tmp_path, make_sessions(1), "eval"), 400)
    first = rule("*_keep.jsonl", "indefinite", active=False)
    rule("*", "1 year", position=2)
    assert apply_retention()["datasets"] == 1
    assert Dataset.objects.get(name="eval_keep").status == "raw"
    RetentionPolicy.objects.filter(pk=first.pk).update(active=True)
    assert apply_retention() == {"datasets": 0}


def test_a_dataset_is_due_on_its_day_and_not_before(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(1))
    today = datetime.now(UTC).date()
    rule("*", "30 days")
    at = datetime(today.year, today.month, today.day, 23, 59, tzinfo=UTC) - timedelta(days=29)
    Dataset.objects.filter(pk=stored.pk).update(created_at=at)
    assert apply_retention() == {"datasets": 0}
    Dataset.objects.filter(pk=stored.pk).update(created_at=at - timedelta(days=1))
    assert apply_retention()["datasets"] == 1


def test_one_that_is_not_due_goes_for_a_reason_alone(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(1))
    with pytest.raises(UserError, match="is not due for deletion; give a reason"):
        apply_retention(dataset=stored)
    with pytest.raises(UserError, match="Give a reason"):
        apply_retention(dataset=stored, reason="  ")
    apply_retention(dataset=stored, reason="The contract has ended.")
    (certificate,) = AuditEvent.objects.filter(action="retention")
    assert certificate.details["reason"] == "The contract has ended."
    assert "rule" not in certificate.details


def test_a_job_at_work_on_it_keeps_it_until_the_next_run(tmp_path: Path) -> None:
    stored = aged(make_dataset(tmp_path, make_sessions(1)), 40)
    rule()
    job = JobRun.objects.create(operation="export_dataset", dataset_name=stored.name, state="running")
    result = apply_retention()
    assert result["datasets"] == 0
    assert "is running on support" in result["skipped"][0]
    JobRun.objects.filter(pk=job.pk).update(state="done")
    assert apply_retention()["datasets"] == 1


def test_what_was_cut_short_is_ended_by_the_next_run_with_one_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_everything(tmp_path)
    rule()
    said = preview_retention().deletions[0].counts
    monkeypatch.setattr(delete_contents, "BATCH_SIZE", 2)

    def stop(done: int, total: int | None) -> None:
        raise OperationCanceled

    def stop_late(done: int, total: int | None) -> None:
        if done:
            raise OperationCanceled

    with pytest.raises(OperationCanceled):
        apply_retention(report_progress=stop)
    assert Session.objects.count() == 6
    with pytest.raises(OperationCanceled):
        apply_retention(report_progress=stop_late)
    assert not Session.objects.exists()
    assert not AuditEvent.objects.filter(action="retention").exists()
    apply_retention()
    apply_retention()
    (certificate,) = AuditEvent.objects.filter(action="retention")
    assert certificate.details["deleted"] == said


def test_nothing_comes_to_an_expired_dataset(tmp_path: Path) -> None:
    stored = make_dataset(tmp_path, make_sessions(1))
    apply_retention(dataset=stored, reason="A test.")
    stored.refresh_from_db()
    for refused in (
        lambda: make_dataset(tmp_path, make_sessions(1, 4)),
        lambda: check_dataset(stored, actor=None),
        lambda: text_gates.check_gate(policies.EXPORT, stored, actor=None),
        lambda: holds.change_hold(stored, "Too late.", held=True, actor=None),
        lambda: apply_retention(dataset=stored, reason="Once more."),
        lambda: make_campaign(stored, "ana"),
    ):
        with pytest.raises(UserError, match="were deleted|has expired"):
            refused()


def test_a_wrong_clock_deletes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rule("support.jsonl", "90 days")
    stored = make_dataset(tmp_path, make_sessions(2))
    real_now = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: real_now() + timedelta(days=365))
    with pytest.raises(UserError, match="The clocks .* differ by 31536000 s, so nothing was deleted"):
        apply_retention()
    stored.refresh_from_db()
    assert (stored.status, stored.sessions.count()) == ("raw", 2)
