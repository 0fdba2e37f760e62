"""With four eyes, what overrides, signs, deletes or erases waits for a second person with the permission."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core import mail
from django.utils import timezone

from datasets_app.browsing.change_sessions import exclude_sessions, tag_sessions
from datasets_app.catalog import policies, text_gates
from datasets_app.catalog.edit import change_origin, edit_dataset
from datasets_app.core.audit import approved_by
from datasets_app.core.errors import UserError
from datasets_app.dispatch.dispatch_events import dispatch_events
from datasets_app.domain.pii.policy import Policy
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.housekeeping import delete_expired_files
from datasets_app.jobs import approvals, runs
from datasets_app.jobs.parameters import JobParameters
from datasets_app.jobs.perform import perform
from datasets_app.models import (
    Attestation,
    AuditEvent,
    Dataset,
    JobRun,
    RetentionPolicy,
    ScrubFinding,
    ScrubMark,
    SharingReview,
)
from datasets_app.notifications.mails import mail_due
from datasets_app.releasing.parameters import SignParameters
from datasets_app.releasing.sharing.sign_review import get_state, sign_review
from datasets_app.retention.activate import activate_retention
from datasets_app.retention.apply import apply_retention
from datasets_app.retention.dry_run import preview_retention
from datasets_app.retention.erase_session import erase_session
from datasets_app.retention.parameters import ActivationParameters, EraseParameters, RetentionParameters
from datasets_app.scrubbing.parameters import AttestParameters, ExemptParameters, OriginParameters
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests.factories import import_file, make_dataset, make_session, make_turn, write_jsonl

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("empty_queue")]

WHY = "Agreed with the customer"


@pytest.fixture(autouse=True)
def four_eyes(settings: Any) -> None:
    settings.FOUR_EYES = True


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return make_dataset(tmp_path, [make_turn(text="Mail jo@example.org.")])


def make_officer(name: str, role: str = "privacy officer") -> User:
    user = User.objects.create(username=name, email=f"{name}@example.org", is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    return user


@pytest.fixture
def ann(db: None) -> User:
    return make_officer("ann")


@pytest.fixture
def ben(db: None) -> User:
    return make_officer("ben")


def preview_finding(dataset: Dataset) -> int:
    scrub_dataset(dataset, Policy(kinds=("EMAIL",)), dry_run=True)
    return ScrubFinding.objects.get().pk


def preview_rule() -> tuple[int, str]:
    """A rule that deletes everything, and the digest of what it would delete."""
    rule, _ = RetentionPolicy.objects.get_or_create(position=1, pattern="*", retention="1 day", reason=WHY)
    return rule.pk, preview_retention([rule]).digest


# Operation → its parameters, and what shows that it has happened.
ACTS: dict[str, tuple[Callable[[Dataset], JobParameters], Callable[[], bool]]] = {
    "export_dataset": (
        lambda dataset: ExportParameters(format="turns", override=WHY),
        lambda: AuditEvent.objects.filter(action="export").exists(),
    ),
    "change_origin": (
        lambda dataset: OriginParameters(origin="synthetic", override=WHY),
        lambda: Dataset.objects.filter(origin="synthetic").exists(),
    ),
    "attest_dataset": (
        lambda dataset: AttestParameters(last_session=dataset.sessions.get().pk, override=WHY),
        lambda: Attestation.objects.exists(),
    ),
    "exempt_value": (
        lambda dataset: ExemptParameters(finding=preview_finding(dataset), override=WHY),
        lambda: ScrubMark.objects.exists(),
    ),
    "sign_review": (
        lambda dataset: SignParameters(statement=WHY, **get_state(dataset)._asdict()),
        lambda: SharingReview.objects.exists(),
    ),
    "erase_session": (
        lambda dataset: EraseParameters(session=dataset.sessions.get().pk, reason=WHY),
        lambda: AuditEvent.objects.filter(action="erase_session").exists(),
    ),
    "activate_retention": (
        lambda dataset: ActivationParameters(*preview_rule()),
        lambda: RetentionPolicy.objects.filter(active=True).exists(),
    ),
    "apply_retention": (
        lambda dataset: RetentionParameters(reason=WHY),
        lambda: AuditEvent.objects.filter(action="retention").exists(),
    ),
}


def request(operation: str, dataset: Dataset, actor: User) -> JobRun:
    job = runs.start_job(operation, actor=actor, dataset=dataset, parameters=ACTS[operation][0](dataset))
    job.refresh_from_db()
    return job


def read_state(job: JobRun) -> str:
    job.refresh_from_db()
    return f"{job.state} {job.error}".strip()


@pytest.mark.parametrize("operation", ACTS)
def test_the_act_happens_once_a_second_person_approves(
    operation: str, dataset: Dataset, ann: User, ben: User
) -> None:
    has_happened = ACTS[operation][1]
    job = request(operation, dataset, ann)
    assert job.state == "approval"
    perform(job.pk)
    assert (read_state(job), has_happened()) == ("approval", False)
    for refused in (ann, make_officer("carl", "curator"), make_officer("vic", "viewer")):
        with pytest.raises(UserError, match="can't be decided"):
            approvals.approve(job, actor=refused)
    approvals.approve(job, actor=ben)
    perform(job.pk)
    assert (read_state(job), has_happened()) == ("done", True)
    assert [
        (event.actor, event.details["operation"], event.details["requested_by"])
        for event in AuditEvent.objects.filter(action="approve_request")
    ] == [("ben", operation, "ann")]
    done = AuditEvent.objects.filter(details__approved_by="ben")
    assert {event.actor for event in done} == {"ann"}
    # Reasons and numbers, but never the text that an exemption is about.
    assert "example.org" not in str(job.parameters)


@pytest.mark.parametrize("operation", ACTS)
def test_declined_withdrawn_and_expired_requests_do_nothing(
    operation: str, dataset: Dataset, ann: User, ben: User
) -> None:
    declined, withdrawn, expired = (request(operation, dataset, ann) for _ in range(3))
    approvals.decline(declined, actor=ben)
    runs.request_cancellation(withdrawn, actor=ann)
    JobRun.objects.filter(pk=expired.pk).update(queued_at=timezone.now() - timedelta(days=8))
    with pytest.raises(UserError, match="has expired"):
        approvals.approve(expired, actor=ben)
    delete_expired_files()
    assert read_state(declined) == "cancelled ben declined this request."
    assert read_state(withdrawn) == "cancelled"
    assert read_state(expired).startswith("cancelled Nobody approved this request within 7 days.")
    for job in (declined, withdrawn, expired):
        with pytest.raises(UserError, match="can't be decided"):
            approvals.approve(job, actor=ben)
        perform(job.pk)
    assert not ACTS[operation][1]()
    actions = AuditEvent.objects.filter(action__endswith="_request").values_list("action", flat=True)
    assert sorted(actions) == ["decline_request", "expire_request"]
    assert AuditEvent.objects.filter(action="request_approval").count() == 3


def test_a_second_account_is_no_second_person(dataset: Dataset, ann: User, ben: User) -> None:
    """As far as the address tells: two accounts of one person, whatever they are called."""
    ann.email, ben.email = "Ann@Example.org", "ann@example.org"
    ann.save()
    job = request("change_origin", dataset, ann)
    for address in ("ann@example.org", "ann+two@example.org", " Ann@EXAMPLE.org"):
        ben.email = address
        with pytest.raises(UserError, match="can't be decided"):
            approvals.approve(job, actor=ben)
        with pytest.raises(UserError, match="can't be decided"):
            approvals.decline(job, actor=ben)
    ben.email = "ben@example.org"
    assert approvals.approve(job, actor=ben).state == "queued"


def test_a_retry_has_to_be_approved_again(dataset: Dataset, ann: User, ben: User) -> None:
    job = request("export_dataset", dataset, ann)
    approvals.decline(job, actor=ben)
    assert runs.retry_job(job, actor=ann)
    assert read_state(job) == "approval"
    JobRun.objects.filter(pk=job.pk).update(state="queued")
    perform(job.pk)
    assert read_state(job).startswith("failed A second person has to approve this job.")


def test_who_revives_a_withdrawn_request_makes_it_their_own(dataset: Dataset, ann: User, ben: User) -> None:
    """Else one person could sign, or override, in the name of another who thought better of it."""
    job = request("sign_review", dataset, ann)
    runs.request_cancellation(job, actor=ann)
    assert runs.retry_job(job, actor=ben)
    with pytest.raises(UserError, match="it is your own"):
        approvals.approve(job, actor=ben)
    approvals.approve(job, actor=ann)
    perform(job.pk)
    assert SharingReview.objects.get().signed_by == ben


def test_an_approver_whose_account_is_gone_has_approved_nothing(
    dataset: Dataset, ann: User, ben: User
) -> None:
    job = request("export_dataset", dataset, ann)
    approvals.approve(job, actor=ben)
    ben.delete()
    perform(job.pk)
    assert read_state(job).startswith("failed A second person has to approve this job.")


def test_what_needs_no_override_waits_for_nobody(dataset: Dataset, ann: User) -> None:
    parameters = ExportParameters(format="turns")
    job = runs.start_job("export_dataset", actor=ann, dataset=dataset, parameters=parameters)
    assert read_state(job) == "queued"
    settings_free = runs.start_job("apply_retention", actor=None, parameters=RetentionParameters())
    assert read_state(settings_free) == "queued"


def test_a_signature_covers_what_was_reviewed(dataset: Dataset, ann: User, ben: User, tmp_path: Path) -> None:
    signed = request("sign_review", dataset, ann)
    edit_dataset(dataset.pk, {"license": "CC0-1.0"}, actor=None)
    approvals.approve(signed, actor=ben)
    perform(signed.pk)
    assert "support has changed since the request" in read_state(signed)
    signed, attested = (request(act, dataset, ann) for act in ("sign_review", "attest_dataset"))
    import_file(write_jsonl(tmp_path / "more.jsonl", make_session("more")))
    for job in (signed, attested):
        approvals.approve(job, actor=ben)
        perform(job.pk)
        assert "support has changed since the request" in read_state(job)
    assert not SharingReview.objects.exists()
    assert not Attestation.objects.exists()


def test_an_override_covers_what_was_there_when_it_was_requested(
    dataset: Dataset, ann: User, ben: User, tmp_path: Path
) -> None:
    job = request("export_dataset", dataset, ann)
    import_file(write_jsonl(tmp_path / "more.jsonl", make_session("more")))
    for state in ("failed support has changed since the request. Retry", "done"):
        approvals.approve(job, actor=ben)
        perform(job.pk)
        assert read_state(job).startswith(state)
        runs.retry_job(job, actor=ann)
    assert ACTS["export_dataset"][1]()


def include_one(dataset: Dataset) -> None:
    keys = list(dataset.sessions.values_list("pk", flat=True))[:1]
    exclude_sessions(dataset, keys, include=True)


# What changes a dataset while a request waits.
MEANWHILE: dict[str, Callable[[Dataset, Path], Any]] = {
    "import": lambda dataset, folder: import_file(write_jsonl(folder / "more.jsonl", make_session("more"))),
    "edit": lambda dataset, folder: edit_dataset(dataset.pk, {"source": "A wiki"}, actor=None),
    "tag": lambda dataset, folder: tag_sessions(dataset, [dataset.sessions.get().pk], "checked"),
    "include": lambda dataset, folder: include_one(dataset),
}


@pytest.mark.parametrize("change", MEANWHILE)
@pytest.mark.parametrize("operation", ["export_dataset", "change_origin", "apply_retention"])
def test_an_approval_covers_the_dataset_as_it_was_requested(
    operation: str, change: str, dataset: Dataset, ann: User, ben: User, tmp_path: Path
) -> None:
    """A deletion of three sessions must not delete fifty that came later."""
    exclude_sessions(dataset, [dataset.sessions.get().pk])
    job = request(operation, dataset, ann)
    MEANWHILE[change](dataset, tmp_path)
    approvals.approve(job, actor=ben)
    perform(job.pk)
    assert read_state(job).startswith("failed support has changed since the request.")
    assert not ACTS[operation][1]()


def test_an_erasure_names_its_sessions(dataset: Dataset, ann: User, ben: User, tmp_path: Path) -> None:
    job = request("erase_session", dataset, ann)
    import_file(write_jsonl(tmp_path / "more.jsonl", make_session("more")))
    approvals.approve(job, actor=ben)
    perform(job.pk)
    assert read_state(job) == "done"
    assert [session.session_id for session in dataset.sessions.all()] == ["more"]


@pytest.mark.parametrize("loss", ["role", "active", "other person"])
def test_who_could_not_approve_any_more_has_approved_nothing(
    loss: str, dataset: Dataset, ann: User, ben: User
) -> None:
    """Hours may pass between an approval and a free worker."""
    job = request("export_dataset", dataset, ann)
    approvals.approve(job, actor=ben)
    if loss == "role":
        ben.groups.clear()
    elif loss == "active":
        User.objects.filter(pk=ben.pk).update(is_active=False)
    else:
        User.objects.filter(pk=ben.pk).update(email="ANN@example.org")
    perform(job.pk)
    assert read_state(job).startswith("failed A second person has to approve this job.")


def test_no_way_leads_around_a_second_person(dataset: Dataset, ann: User) -> None:
    """Operations refuse by themselves, whoever calls them: a page, a command, a job of an earlier version."""
    session, (key, seen) = dataset.sessions.get(), preview_rule()
    rule = RetentionPolicy.objects.get(pk=key)
    ways: list[Callable[[], Any]] = [
        lambda: text_gates.check_gate(policies.EXPORT, dataset, actor=ann, override=WHY),
        lambda: text_gates.check_gate(policies.EXPORT, dataset, actor=None, override=WHY),
        lambda: change_origin(dataset, "synthetic", override=WHY, actor=ann),
        lambda: text_gates.attest(dataset, actor=ann, reason=WHY),
        lambda: sign_review(dataset, actor=ann),
        lambda: erase_session(session, WHY, actor=ann),
        lambda: apply_retention(actor=ann, dataset=dataset, reason=WHY),
        lambda: activate_retention([rule], expected_digest=seen, actor=ann),
    ]
    for way in ways:
        with pytest.raises(UserError, match="A second person has to approve this"):
            way()
    assert not AuditEvent.objects.filter(action="override").exists()
    with approved_by("ben"):
        text_gates.check_gate(policies.EXPORT, dataset, actor=ann, override=WHY)
    assert AuditEvent.objects.get(action="override").details["approved_by"] == "ben"


def test_commands_say_where_to_request_it(dataset: Dataset, manage: Any) -> None:
    for arguments in (
        ["export_dataset", "support", "--out", "a.jsonl", "--override", WHY],
        ["change_origin", "support", "synthetic", "--override", WHY],
        ["erase_session", "support", "s1", "--reason", WHY],
        ["apply_retention", "--dataset", "support", "--now", "--reason", WHY],
    ):
        done = manage(*arguments)
        assert (done.returncode, "Request it in the admin" in done.stderr) == (2, True)
    assert Dataset.objects.get().session_count == 1


def test_those_who_can_approve_get_a_mail(dataset: Dataset, ann: User, ben: User, settings: Any) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    make_officer("carl", "curator")
    request("erase_session", dataset, ann)
    dispatch_events()
    mail_due()
    (message,) = mail.outbox
    assert message.to == ["ben@example.org"]
    assert message.subject == "Approval requested: support"
    assert "“Erase session” of support needs the approval of a second person." in message.body


def test_without_four_eyes_nothing_waits(dataset: Dataset, ann: User, settings: Any) -> None:
    settings.FOUR_EYES = False
    job = request("export_dataset", dataset, ann)
    assert job.state == "queued"
    perform(job.pk)
    assert read_state(job) == "done"
