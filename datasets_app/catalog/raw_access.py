"""Who may read raw text, what the others see instead, and the record of every read.

``gates`` decides whether a dataset is raw. Every page, fragment and file that shows text of a dataset asks
:func:`may_read` first. If it may not, it shows only structure: counts, positions, roles, codes. If it may, it
calls :func:`record_access`: what can't be recorded is not shown. Entries hold primary keys and counts, never
the text itself or a name from it.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from typing import Any

from django.db.models import QuerySet

from datasets_app.catalog import gates, policies
from datasets_app.core import audit
from datasets_app.domain.quality.text_tally import count_found
from datasets_app.models import CheckFinding, Dataset, JobRun, Persona, Release, ScrubMark, Session, Turn

ACTION = "read_raw_text"
# Shown in place of a value that may not be read.
WITHHELD = "Withheld"


# --- who may read ---------------------------------------------------------------------------------------


def find_raw(datasets: Iterable[Dataset]) -> set[int]:
    """Primary keys of the raw ones, by one query. An expired dataset has no text left."""
    facts = gates.load_all_facts(Dataset.objects.filter(pk__in={dataset.pk for dataset in datasets}))
    return {pk for pk, known in facts.items() if known.is_raw}


def may_read(user: Any, dataset: Dataset) -> bool:
    """Whether ``user`` (None for the command line) may read texts, tags, metadata, notes and session ids."""
    return gates.can_read_raw(user) or not gates.is_raw(dataset)


def check_may_read(user: Any, dataset: Dataset) -> None:
    """For actions that would reveal text. Raises UserError."""
    raw = not gates.can_read_raw(user) and gates.is_raw(dataset)
    gates.check(policies.decide_read(dataset.name, raw=raw, permitted=False))


def find_withheld(user: Any, datasets: Iterable[Dataset]) -> set[int]:
    """Primary keys of those among ``datasets`` whose texts the user may not read."""
    return set() if gates.can_read_raw(user) else find_raw(datasets)


def list_readable(user: Any) -> "QuerySet[Dataset]":
    """The datasets that the user may see and whose texts they may read."""
    visible = Dataset.objects.visible_to(user)
    if gates.can_read_raw(user):
        return visible
    return visible.exclude(pk__in=find_withheld(user, visible))


def is_release_raw(release: Release) -> bool:
    """Whether a stored version counts as raw text, which a scrub of the dataset doesn't change."""
    checks = release.checks or {}
    version = policies.VersionFacts(
        raw=release.raw,
        found=frozenset(count_found(checks.get("totals") or {})),
        exempt=frozenset(checks.get("exempt") or ()),
        missed=ScrubMark.objects.filter(
            dataset=release.dataset_id, verdict=ScrubMark.Verdict.MISSED, created_at__gt=release.created_at
        ).count(),
    )
    return policies.is_version_raw(gates.load_facts(release.dataset), version)


def may_read_release(user: Any, release: Release) -> bool:
    """Whether ``user`` may read a stored version."""
    return gates.can_read_raw(user) or not is_release_raw(release)


def may_read_job(user: Any, job: JobRun) -> bool:
    """Whether ``user`` may read names, problems and filters on the page of a job. Those who started it may,
    but not by a token without that permission. Nothing examines the lines that an import refuses."""
    if gates.can_read_raw(user) or not job.dataset_name:
        return True
    if job.actor_id is not None and job.actor_id == user.pk and not getattr(user, "has_token", False):
        return True
    if job.operation == "import_dataset" or job.dataset is None:
        return False
    return not gates.is_raw(job.dataset)


def filter_personas(user: Any, dataset: Dataset, persona_ids: Iterable[str]) -> list[str]:
    """Those persona ids that the user may read: all, or only those of personas that exist here."""
    found = list(persona_ids)
    if may_read(user, dataset):
        return found
    known = set(Persona.objects.filter(persona_id__in=found).values_list("persona_id", flat=True))
    return [persona for persona in found if persona in known]


# --- what others see ------------------------------------------------------------------------------------


def get_session_label(session: Session) -> str:
    """A session's number in place of its id; an id that is hashed may be read."""
    return session.session_id if session.id_hashed else f"Session {session.pk}"


def withhold_session(session: Session) -> None:
    """Replace what a file said about this session, in memory only: don't save it."""
    session.session_id, session.persona_id = get_session_label(session), None


def withhold_turn(turn: Turn) -> None:
    """The same for a turn: position, role and length stay."""
    turn.is_withheld = True  # type: ignore[attr-defined]
    turn.text = turn.start = ""  # type: ignore[attr-defined]
    turn.tags, turn.timestamp, turn.metadata, turn.extra = [], None, None, None


def withhold_finding(finding: CheckFinding) -> None:
    """The same for a finding of the checks: messages quote ids, tags and names of fields."""
    finding.message, finding.field = WITHHELD, ""
    if finding.session:
        withhold_session(finding.session)


# --- the record -----------------------------------------------------------------------------------------


def record_access(
    dataset: Dataset, actor: Any, *, place: str, versions: Iterable[Release | None] = (), **counts: int | str
) -> None:
    """Record that ``actor`` (None for the command line) is shown text of this dataset, if it is raw.

    ``place`` names the page or command; ``counts`` are numbers and primary keys. Stored ``versions`` may be
    raw even after a later scrub of the dataset.
    """
    if any(version and is_release_raw(version) for version in versions) or gates.is_raw(dataset):
        record_raw_access(dataset.name, actor, place=place, **counts)


def record_raw_access(dataset_name: str, actor: Any, *, place: str, **counts: int | str) -> None:
    """The same where the text is known to be raw."""
    audit.record(ACTION, actor=actor, dataset_name=dataset_name, place=place, **counts)


def record_turn_access(datasets: Iterable[Dataset], actor: Any, *, place: str, **counts: Any) -> None:
    """The same for turns of several datasets on one page: ``datasets`` has the dataset of each turn."""
    turns = Counter(datasets)
    raw = find_raw(turns)
    for dataset, count in turns.items():
        if dataset.pk in raw:
            record_raw_access(dataset.name, actor, place=place, turns=count, **counts)


def record_job_access(job: JobRun, actor: Any, *, problems: int) -> None:
    """The same for problems of an import, which quote lines that no check has examined."""
    record_raw_access(job.dataset_name, actor, place="job", job_run=job.pk, problems=problems)


def record_upload_access(job: JobRun, actor: Any, *, origins: Collection[str | None], turns: int) -> None:
    """The same for a file before its import: production data is raw then, if any of the ``origins`` that
    were stated for it is production, or if none was stated yet."""
    production = Dataset.Origin.PRODUCTION
    existing = Dataset.objects.filter(name=job.dataset_name, origin=production)
    if production in origins or not any(origins) or existing.exists():
        record_raw_access(job.dataset_name, actor, place="import preview", job_run=job.pk, turns=turns)
