"""One of everything that can hang on a dataset, under keys that are known: for tests that try addresses."""

import gzip
from datetime import timedelta
from uuid import uuid4

from django.contrib.auth.models import Permission, User
from django.core.files.base import ContentFile
from django.utils import timezone

from annotations_app.models import Annotation, Assignment, Campaign, CampaignItem, CampaignMember, Decision
from datasets_app.core import audit
from datasets_app.models import (
    CheckFinding,
    CheckReport,
    Dataset,
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
    SharingReview,
    SourceFile,
    Turn,
)

# Every row has this key. Where there are two (a turn and its reply, a job that waits and one that is done)
# the second has the next one.
KEY = 424_242
DIGEST = "ab" * 32


def everything(word: str = "canary", *, origin: str = "external") -> Dataset:
    """A dataset whose name, texts, files and labels all hold ``word``, with all that there can be of it."""
    dataset = Dataset.objects.create(
        pk=KEY,
        name=f"{word}-data",
        origin=origin,
        license="CC0-1.0",
        source=f"{word} desk",
        session_count=1,
        turn_count=2,
    )
    session = Session.objects.create(
        pk=KEY, dataset=dataset, session_id=f"{word}-session", turn_count=2, split="train"
    )
    for index, role in ((1, "user"), (2, "assistant")):
        Turn.objects.create(
            pk=KEY + index - 1,
            session=session,
            turn_index=index,
            role=role,
            text=f"A {word} kestrel says number {index}.",
            tags=[f"scenario:{word}"],
            metadata={"note": word},
        )
    SourceFile.objects.create(
        pk=KEY, dataset=dataset, name=f"{word}.jsonl", sha256=DIGEST, size=1, format="turns",
        session_count=1, turn_count=2,
    )  # fmt: skip
    _jobs(dataset, word)
    _findings(dataset, session, word)
    _release(dataset, word)
    _labels(dataset, session, word)
    RetentionPolicy.objects.create(pk=KEY, position=1, pattern="*", retention="1 year", reason="All of it")
    audit.record("import", actor=None, dataset_name=dataset.name, file=f"{word}.jsonl")
    return dataset


def _jobs(dataset: Dataset, word: str) -> None:
    """An upload that waits for a word, an export that failed, and one that waits."""
    kept = timezone.now() + timedelta(days=1)
    asked = {"format": "auto", "origin": "external", "on_error": "abort", "persona": word}
    for key, operation, state, kind, of in (
        (KEY, "import_dataset", "prepared", "upload", None),
        (KEY + 1, "export_dataset", "failed", "export", dataset),
        (KEY + 2, "bootstrap_dataset", "failed", "quarantine", dataset),
    ):
        job = JobRun.objects.create(
            pk=key, operation=operation, state=state, dataset=of, dataset_name=dataset.name,
            parameters=asked, error=f"{word} went wrong" * (state == "failed"), finished_at=timezone.now(),
        )  # fmt: skip
        file = JobFile(pk=key, job_run=job, kind=kind, name=f"{word}.jsonl", expires_at=kept)
        file.file.save(f"{job.pk}/{kind}/{word}", ContentFile(_line(word)), save=True)

    JobRun.objects.create(
        pk=KEY + 3, operation="nightly", state="failed", error=f"A fault in {dataset.name}",
        finished_at=timezone.now(), result={"told": word},
    )  # fmt: skip


def _line(word: str) -> bytes:
    return f'{{"session_id":"{word}","turn_index":1,"role":"user","text":"{word}"}}\n'.encode()


def _findings(dataset: Dataset, session: Session, word: str) -> None:
    report = CheckReport.objects.create(
        pk=KEY, dataset=dataset, turn_count=2, error_count=1, totals={"E401": 1}
    )
    CheckFinding.objects.create(
        pk=KEY, report=report, code="E401", message=f"of {word}", session=session, turn_index=1
    )
    scrub = ScrubRun.objects.create(
        pk=KEY, dataset=dataset, dry_run=True, policy={}, totals={"NAME": 1}, finished_at=timezone.now()
    )
    ScrubFinding.objects.create(
        pk=KEY, scrub=scrub, session=session, turn_index=1, field="text", kind="NAME", start=2, length=6,
        original_length=6, score=1.0,
    )  # fmt: skip
    ScrubMark.objects.create(pk=KEY, dataset=dataset, verdict="not_personal", kind="NAME", term=word)


def _release(dataset: Dataset, word: str) -> None:
    release = Release.objects.create(
        pk=KEY, dataset=dataset, major=1, minor=0, patch=0, session_count=1, turn_count=2, sha256=DIGEST,
        content_digest=DIGEST, notes=word, changelog=word, created_by_name=word,
    )  # fmt: skip
    file = ReleaseFile(
        pk=KEY, release=release, kind="data", name=f"{word}_v1.0.0.jsonl.gz", size=1, sha256=DIGEST
    )
    file.file.save(f"{word}_v1.0.0.jsonl.gz", ContentFile(gzip.compress(_line(word))), save=True)
    SharingReview.objects.create(
        pk=KEY, dataset=dataset, name=word, statement=word, last_session=KEY, turn_count=2
    )


def _labels(dataset: Dataset, session: Session, word: str) -> None:
    persona = Persona.objects.create(pk=KEY, persona_id="calm", yaml="id: calm\n", digest=DIGEST)
    campaign = Campaign.objects.create(
        pk=KEY, name=f"{word}-voice", dataset=dataset, persona=persona, guidelines=word, status="open",
        overlap=1, item_count=1,
    )  # fmt: skip
    labeller = User.objects.create_user(f"{word}-labeller")
    member = CampaignMember.objects.create(pk=KEY, campaign=campaign, user=labeller)
    reply = Turn.objects.get(pk=KEY + 1)
    item = CampaignItem.objects.create(
        pk=KEY, campaign=campaign, turn=reply, session=session, position=1, open=0
    )
    label = Annotation.objects.create(
        pk=KEY, dataset=dataset, turn=reply, campaign=campaign, label=1, persona_id="calm", annotator=word,
        notes=word,
    )  # fmt: skip
    Annotation.objects.create(
        pk=KEY + 1, dataset=dataset, turn=reply, label=0, persona_id="calm", annotator=word, notes=word
    )
    given = Assignment.objects.create(
        pk=KEY, campaign=campaign, item=item, annotator=labeller, state="flagged", ordinal=1,
        persona_digest=DIGEST, leased_until=timezone.now(), decided_at=timezone.now(), annotation=label,
    )  # fmt: skip
    Decision.objects.create(assignment=given, key=uuid4(), kind="flag", notes=word, persona_digest=DIGEST)
    member.save()


def user_with(*permissions: str, name: str = "visitor", all_but: tuple[str, ...] = ()) -> User:
    """A person of the staff with these permissions ("app.codename"), or with all of ours but some."""
    user = User.objects.create_user(name, password="a long password", is_staff=True)
    for permission in Permission.objects.select_related("content_type"):
        app, full = (
            permission.content_type.app_label,
            f"{permission.content_type.app_label}.{permission.codename}",
        )
        if full in permissions or (all_but and app.endswith("_app") and full not in all_but):
            user.user_permissions.add(permission)
    return user
