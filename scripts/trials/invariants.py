"""What must hold after any number of faults. Each check returns sentences, one for each thing lost."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from scripts.trials.annotators import Annotator
from scripts.trials.pipelines import PLANTED, Pipeline

PARTITION = re.compile(r"^datasets_app_(?:session|turn)_(\d+)$")


class Check(NamedTuple):
    """``tried`` counts what was looked at, ``lost`` names what does not hold."""

    name: str
    tried: int
    lost: list[str]


def check_labels(campaign: str, annotators: Sequence[Annotator]) -> Check:
    """Every accepted label is stored once, and none that nobody sent."""
    from annotations_app.models import Annotation, Assignment, Decision

    rows = Decision.objects.filter(assignment__campaign__name=campaign)
    stored = {key: (at, label) for key, at, label in rows.values_list("key", "assignment_id", "label")}
    accepted = {key: value for person in annotators for key, value in person.accepted.items()}
    lost = [f"label {key} was accepted and is missing" for key in accepted.keys() - stored.keys()]
    lost += [f"label {key} was stored and never answered" for key in stored.keys() - accepted.keys()]
    lost += [
        f"label {key} is stored differently"
        for key in accepted.keys() & stored.keys()
        if accepted[key] != stored[key]
    ]
    lost += [
        f"label {key} does not count" for key in rows.filter(counted=False).values_list("key", flat=True)
    ]
    lost += [f"{person.visitor.name} labeled nothing" for person in annotators if not person.accepted]
    labels = Annotation.objects.filter(campaign__name=campaign).count()
    labeled = Assignment.objects.filter(campaign__name=campaign, state="labelled").count()
    replies = len({reply for reply, _ in accepted.values()})
    if not labels == labeled == replies:
        lost.append(f"{replies} replies were labeled; there are {labels} labels and {labeled} assignments")
    lost += [f"an answer was refused: {text}" for person in annotators for text in person.refused]
    lost += [f"{person.errors} errors for {person.visitor.name}" for person in annotators if person.errors]
    return Check("labels accepted", len(accepted), lost)


def check_jobs() -> Check:
    """All jobs have ended, and none has failed."""
    from datasets_app.models import JobRun

    rows = JobRun.objects.exclude(state="done")
    lost = [f"{row} of {row.dataset_name}: {row.state}. {row.error}" for row in rows]
    return Check("jobs", JobRun.objects.count(), lost)


def check_datasets(pipelines: Sequence[Pipeline]) -> Check:
    """Each dataset has the sessions and turns it should have, and no planted address after its scrub."""
    lost = []
    for pipeline in pipelines:
        lost += [f"{pipeline.name}: {what}" for what in _find_faults(pipeline)]
    return Check("datasets", len(pipelines), lost)


def _find_faults(pipeline: Pipeline) -> list[str]:
    from django.db.models import Count

    from datasets_app.models import AuditEvent, Dataset, Turn

    dataset = Dataset.objects.get(name=pipeline.name)
    turns = Turn.objects.filter(dataset=dataset)
    count, faults = turns.count(), []
    if pipeline.turns is not None and count != pipeline.turns:
        faults.append(f"{count} turns instead of {pipeline.turns}")
    if not pipeline.deleted and count != dataset.turn_count:
        faults.append(f"{count} turns, counted as {dataset.turn_count}")
    if not pipeline.deleted and dataset.sessions.count() != pipeline.sessions:
        faults.append(f"{dataset.sessions.count()} sessions instead of {pipeline.sessions}")
    planted = PLANTED.partition("{")[0]
    if pipeline.imported and turns.filter(text__contains=planted).exists():
        faults.append("a planted address is left")
    twice = turns.values("session_id", "turn_index").annotate(n=Count("id")).filter(n__gt=1)
    if twice.exists():
        faults.append("a turn is there twice")
    events = AuditEvent.objects.filter(dataset_name=pipeline.name)
    if not pipeline.imported and events.filter(action="generate").first().details.get("state") != "ended":
        faults.append("the audit log doesn't say that the generation has ended")
    done = Counter(events.values_list("action", flat=True))
    once = {"import": pipeline.imported, "scrub": pipeline.imported}
    once |= {"release": True, "export": True, "retention": pipeline.deleted}
    faults += [
        f"{done[action]} audit events {action} instead of {int(expected)}"
        for action, expected in once.items()
        if done[action] != expected
    ]
    return faults


def check_partitions() -> Check:
    """No tables without a dataset, or of a dataset that is deleted."""
    from django.db import connection

    from datasets_app.catalog.rows.partitions import drop_unused_partitions
    from datasets_app.models import Dataset

    drop_unused_partitions()
    with connection.cursor() as cursor:
        cursor.execute("SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'datasets_app_%'")
        names = [name for (name,) in cursor.fetchall() if PARTITION.match(name)]
        cursor.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND NOT relispartition "
            "AND relname ~ '^datasets_app_(session|turn)_[0-9]+$'"
        )
        detached = [name for (name,) in cursor.fetchall()]
    present = set(Dataset.objects.values_list("pk", flat=True))
    lost = [f"{name} has no dataset" for name in names if int(PARTITION.sub(r"\1", name)) not in present]
    return Check("partitions", len(names), lost + [f"{name} is not attached" for name in detached])


def check_files() -> Check:
    """Every stored file has the digest of its row."""
    import hashlib

    from datasets_app.models import JobFile, ReleaseFile

    rows: list[Any] = [*JobFile.objects.exclude(file=""), *ReleaseFile.objects.exclude(file="")]
    lost = []
    for row in rows:
        try:
            with row.file.open("rb") as stored:
                digest = hashlib.file_digest(stored, "sha256").hexdigest()
        except OSError as error:
            lost.append(f"file {row.file.name}: {type(error).__name__}")
            continue
        if digest != row.sha256:
            lost.append(f"file {row.file.name} has changed")
    return Check("files and their digests", len(rows), lost)


def check_releases() -> Check:
    from datasets_app.releasing.verify import verify_releases

    result = verify_releases(actor=None)
    lost = [f"{fault.dataset} {fault.version}: {fault.message}" for fault in result.faults]
    return Check("releases verified", result.releases, lost)


def check_audit_log() -> Check:
    from datasets_app.auditing.heads import verify_and_append_head

    result = verify_and_append_head()
    return Check("audit events verified", result.events, [fault.message for fault in result.faults])


def check_workers(expected: int) -> Check:
    """Killed workers are counted no longer."""
    from datasets_app.jobs import queue

    count = queue.worker_count()
    return Check("workers counted", expected, [] if count == expected else [f"{count} workers are counted"])


def check_work_folders() -> Check:
    from django.conf import settings

    from datasets_app.housekeeping import delete_expired_files

    delete_expired_files()
    left = [path.name for path in (settings.VAR_DIR / "tmp").glob("job-*")]
    return Check("folders of jobs", len(left), [f"{name} is left" for name in left])


def format_table(checks: Sequence[Check]) -> str:
    """In Markdown."""
    rows = [f"| {name} | {tried:,} | {len(lost):,} |" for name, tried, lost in checks]
    return "\n".join(["| | Tried | Lost |", "| --- | ---: | ---: |", *rows])


def collect(checks: Sequence[Callable[[], Check]]) -> list[Check]:
    return [check() for check in checks]
