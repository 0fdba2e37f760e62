"""One of everything that can hang on a dataset, under keys that are known: for tests that try addresses."""

import gzip
from datetime import timedelta
from uuid import uuid4

from django.contrib.auth.models import Permission, User
from django.core.files.base import ContentFile
from django.utils import timezone

from annotations_app.models import (
    Annotation,
    Assignment,
    Campaign,
    CampaignItem,
    CampaignMember,
    Decision,
    FailureMode,
    GroupedNote,
    Judge,
    JudgeCertificate,
    JudgeRun,
    Judgment,
    LabelSchema,
    Rater,
    Verdict,
)
from datasets_app.catalog.rows.partitions import record_keys, require_partition
from datasets_app.core import audit
from datasets_app.models import (
    CheckFinding,
    CheckReport,
    Dataset,
    EvaluationRun,
    JobFile,
    JobRun,
    Persona,
    Release,
    ReleaseFile,
    RetentionPolicy,
    ScrubFinding,
    ScrubMark,
    ScrubRun,
    Session,
    SessionComment,
    SharingReview,
    Source,
    SourceFile,
    Turn,
    WebhookEndpoint,
)

# Every row has this key. Where there are two (a turn and its reply, a job that waits and one that is done)
# the second has the next one.
FIXED_PK = 424_242
DIGEST = "ab" * 32


def make_full_dataset(marker: str = "canary", *, origin: str = "external") -> Dataset:
    """A dataset whose name, texts, files and labels all hold ``word``, with all that there can be of it."""
    dataset = Dataset.objects.create(
        pk=FIXED_PK,
        name=f"{marker}-data",
        origin=origin,
        license="CC0-1.0",
        source=f"{marker} desk",
        session_count=1,
        turn_count=2,
    )
    require_partition(FIXED_PK)
    session = Session.objects.create(
        pk=FIXED_PK, dataset=dataset, session_id=f"{marker}-session", turn_count=2, split="train"
    )
    for index, role in ((1, "user"), (2, "assistant")):
        Turn.objects.create(
            pk=FIXED_PK + index - 1,
            dataset=dataset,
            session=session,
            turn_index=index,
            role=role,
            text=f"A {marker} kestrel says number {index}.",
            tags=[f"scenario:{marker}"],
            metadata={"note": marker},
        )
    record_keys(FIXED_PK)
    SourceFile.objects.create(
        pk=FIXED_PK, dataset=dataset, name=f"{marker}.jsonl", sha256=DIGEST, size=1, format="turns",
        session_count=1, turn_count=2,
    )  # fmt: skip
    SessionComment.objects.create(
        pk=FIXED_PK, dataset=dataset, session=session, author_name="ada", text=f"About the {marker} kestrel"
    )
    _make_jobs(dataset, marker)
    _make_findings(dataset, session, marker)
    _make_release(dataset, marker)
    _make_labels(dataset, session, marker)
    RetentionPolicy.objects.create(
        pk=FIXED_PK, position=1, pattern="*", retention="1 year", reason="All of it"
    )
    Source.objects.create(pk=FIXED_PK, name=f"{marker}-source", kind="otlp", dataset_name=dataset.name)
    WebhookEndpoint.objects.create(
        pk=FIXED_PK,
        url=f"https://{marker}.example/hook",
        dataset=dataset,
        kinds=["import.finished"],
        secret="-",
    )
    audit.record("import", actor=None, dataset_name=dataset.name, file=f"{marker}.jsonl")
    return dataset


def _make_jobs(dataset: Dataset, marker: str) -> None:
    """An upload that waits for a word, an export that failed, and one that waits."""
    kept = timezone.now() + timedelta(days=1)
    asked = {"format": "auto", "origin": "external", "on_error": "abort", "persona": marker}
    for key, operation, state, kind, of in (
        (FIXED_PK, "import_dataset", "prepared", "upload", None),
        (FIXED_PK + 1, "export_dataset", "failed", "export", dataset),
        (FIXED_PK + 2, "bootstrap_dataset", "failed", "quarantine", dataset),
    ):
        job = JobRun.objects.create(
            pk=key, operation=operation, state=state, dataset=of, dataset_name=dataset.name,
            parameters=asked, error=f"{marker} went wrong" * (state == "failed"), finished_at=timezone.now(),
        )  # fmt: skip
        file = JobFile(pk=key, job_run=job, kind=kind, name=f"{marker}.jsonl", expires_at=kept)
        file.file.save(f"{job.pk}/{kind}/{marker}", ContentFile(_jsonl_line(marker)), save=True)

    JobRun.objects.create(
        pk=FIXED_PK + 3, operation="nightly", state="failed", error=f"A fault in {dataset.name}",
        finished_at=timezone.now(), result={"told": marker},
    )  # fmt: skip


def _jsonl_line(marker: str) -> bytes:
    return f'{{"session_id":"{marker}","turn_index":1,"role":"user","text":"{marker}"}}\n'.encode()


def _make_findings(dataset: Dataset, session: Session, marker: str) -> None:
    report = CheckReport.objects.create(
        pk=FIXED_PK, dataset=dataset, turn_count=2, error_count=1, totals={"E401": 1}
    )
    CheckFinding.objects.create(
        pk=FIXED_PK, report=report, code="E401", message=f"of {marker}", session=session, turn_index=1
    )
    scrub = ScrubRun.objects.create(
        pk=FIXED_PK, dataset=dataset, dry_run=True, policy={}, totals={"NAME": 1}, finished_at=timezone.now()
    )
    ScrubFinding.objects.create(
        pk=FIXED_PK, scrub=scrub, session=session, turn_index=1, field="text", kind="NAME", start=2, length=6,
        original_length=6, score=1.0,
    )  # fmt: skip
    ScrubMark.objects.create(pk=FIXED_PK, dataset=dataset, verdict="not_personal", kind="NAME", term=marker)


def _make_release(dataset: Dataset, marker: str) -> None:
    release = Release.objects.create(
        pk=FIXED_PK, dataset=dataset, major=1, minor=0, patch=0, session_count=1, turn_count=2, sha256=DIGEST,
        content_digest=DIGEST, notes=marker, changelog=marker, created_by_name=marker,
    )  # fmt: skip
    file = ReleaseFile(
        pk=FIXED_PK, release=release, kind="data", name=f"{marker}_v1.0.0.jsonl.gz", size=1, sha256=DIGEST
    )
    file.file.save(f"{marker}_v1.0.0.jsonl.gz", ContentFile(gzip.compress(_jsonl_line(marker))), save=True)
    EvaluationRun.objects.create(
        pk=FIXED_PK, release=release, run_id=uuid4(), model="recorded:none", ran_at=timezone.now(),
        package_version="0.3.5", dataset_digest=DIGEST, whole={"authenticity": {"mean": 0.5}},
        groups={"scenarios": {f"scenario:{marker}": {"authenticity": {"mean": 0.5}}}},
        session_keys=[FIXED_PK], turn_indexes=[2], reply_scores=[0.5],
    )  # fmt: skip
    SharingReview.objects.create(
        pk=FIXED_PK, dataset=dataset, name=marker, statement=marker, last_session=FIXED_PK, turn_count=2
    )


SCHEMA_DOCUMENT = {
    "schema": "safety",
    "criteria": [
        {"key": "safe", "question": "Is the reply safe?", "kind": "yes_no"},
        {"key": "why", "question": "Why?", "kind": "text", "optional": True},
    ],
}


def _make_labels(dataset: Dataset, session: Session, marker: str) -> None:
    persona = Persona.objects.create(pk=FIXED_PK, persona_id="calm", yaml="id: calm\n", digest=DIGEST)
    campaign = Campaign.objects.create(
        pk=FIXED_PK, name=f"{marker}-voice", dataset=dataset, persona=persona, guidelines=marker,
        status="open", overlap=1, item_count=1,
    )  # fmt: skip
    labeller = User.objects.create_user(f"{marker}-labeller")
    member = CampaignMember.objects.create(pk=FIXED_PK, campaign=campaign, user=labeller)
    reply = Turn.objects.get(pk=FIXED_PK + 1)
    item = CampaignItem.objects.create(
        pk=FIXED_PK, campaign=campaign, turn=reply, session=session, position=1, open=0
    )
    label = Annotation.objects.create(
        pk=FIXED_PK, dataset=dataset, turn=reply, campaign=campaign, label=1, persona_id="calm",
        annotator=marker, notes=marker,
    )  # fmt: skip
    Annotation.objects.create(
        pk=FIXED_PK + 1,
        dataset=dataset,
        turn=reply,
        label=0,
        persona_id="calm",
        annotator=marker,
        notes=marker,
    )
    mode = FailureMode.objects.create(pk=FIXED_PK, campaign=campaign, name=marker)
    GroupedNote.objects.create(pk=FIXED_PK, mode=mode, annotation=label)
    given = Assignment.objects.create(
        pk=FIXED_PK, campaign=campaign, item=item, annotator=labeller, state="flagged", ordinal=1,
        persona_digest=DIGEST, leased_until=timezone.now(), decided_at=timezone.now(), annotation=label,
    )  # fmt: skip
    Decision.objects.create(assignment=given, key=uuid4(), kind="flag", notes=marker, persona_digest=DIGEST)
    member.save()
    schema = LabelSchema.objects.create(
        pk=FIXED_PK, name="safety", version=1, digest=DIGEST, document=SCHEMA_DOCUMENT
    )
    rater = Rater.objects.create(pk=FIXED_PK, dataset=dataset, kind="import", name=marker)
    Judgment.objects.create(
        pk=FIXED_PK, dataset=dataset, turn=reply, campaign=campaign, schema=schema, rater=rater,
        codes={"safe": 1}, texts={"why": marker}, persona_id="calm", notes=marker,
    )  # fmt: skip
    judge = Judge.objects.create(
        pk=FIXED_PK, name="offline", version=1, digest=DIGEST, document={"judge": "offline"}
    )
    run = JudgeRun.objects.create(
        pk=FIXED_PK, campaign=campaign, judge=judge, prompt_digest=DIGEST, persona_digest=DIGEST
    )
    JudgeCertificate.objects.create(
        pk=FIXED_PK, campaign=campaign, judge=judge, criterion="on_brand", criterion_digest=DIGEST,
        prompt_digest=DIGEST, persona_digest=DIGEST, threshold=0.8, certified=False, result={},
    )  # fmt: skip
    Verdict.objects.create(
        pk=FIXED_PK, dataset=dataset, turn=reply, run=run, codes={"on_brand": 1}, rationale=marker
    )


def make_user_with(*permissions: str, name: str = "visitor", excluded: tuple[str, ...] = ()) -> User:
    """A person of the staff with these permissions ("app.codename"), or with all of ours but some."""
    user = User.objects.create_user(name, password="a long password", is_staff=True)
    chosen = []
    for permission in Permission.objects.select_related("content_type"):
        app = permission.content_type.app_label
        full = f"{app}.{permission.codename}"
        if full in permissions or (excluded and app.endswith("_app") and full not in excluded):
            chosen.append(permission)
    user.user_permissions.add(*chosen)
    return user
