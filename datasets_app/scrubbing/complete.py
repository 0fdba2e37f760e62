"""The end of a scrub: the dataset is called scrubbed, and nothing that told its raw text is kept."""

from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from datasets_app.catalog import facts
from datasets_app.core import audit
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii import session_ids
from datasets_app.domain.pii.detector import KINDS
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber, SessionTexts
from datasets_app.jobs import files
from datasets_app.models import CheckReport, Dataset, JobFile, JobRun, ScrubRun, Session, SourceFile
from datasets_app.splitting.split_dataset import forget_report

ROWS_AT_ONCE = 500
# Keys in parameters and results of jobs under which something from a file stands.
_TELLING = {"name", "files", "tag", "persona"}


def settle_scrub(scrub: ScrubRun, scrubber: Scrubber, verification: dict[str, Any], *, actor: Any) -> bool:
    """Record a verification that has found nothing, and all that follows from it, in one transaction.

    False, and nothing is done, if sessions have come to the dataset that the scrub has not seen.
    """
    with transaction.atomic():
        dataset: Dataset = Dataset.objects.select_for_update(no_key=True).get(pk=scrub.dataset_id)
        if Session.objects.filter(dataset=dataset, pk__gt=scrub.last_session).exists():
            return False
        scrub.verification, scrub.verified_at = verification, timezone.now()
        scrub.save(update_fields=["verification", "verified_at", "totals", "changed_turns"])
        _record_on(dataset, scrubber)
        _forget_raw_text(dataset, scrub, scrubber)
        forget_report(dataset)
        audit.record(
            "scrub",
            actor=actor,
            dataset_name=dataset.name,
            scrub=scrub.pk,
            findings=scrub.totals,
            turns=scrub.turn_count,
            changed_turns=scrub.changed_turns,
            turns_verified=verification["turns"],
            key=scrub.key_fingerprint,
            status=dataset.status,
        )
    return True


def looks_for_everything(policy: Policy) -> bool:
    """Whether a scrub under this policy makes a raw dataset a scrubbed one: no class may be left out."""
    return set(KINDS) <= set(policy.kinds)


def _record_on(dataset: Dataset, scrubber: Scrubber) -> None:
    policy = scrubber.policy
    if looks_for_everything(policy):
        dataset.status = Dataset.Status.SCRUBBED
    done = dataset.provenance.get("anonymization")
    done = list(done) if isinstance(done, list) else [str(done)] if done else []
    said = policy.as_words()
    if policy.hash_session_ids:
        said.append(session_ids.stated(scrubber.key))
    dataset.provenance["anonymization"] = [*done, *(words for words in said if words not in done)]
    facts.note_modification(dataset, "personal data scrubbed")
    # File names stand in what an import has noted.
    dataset.provenance["modifications"] = [
        _scrubbed(scrubber, text) for text in dataset.provenance["modifications"]
    ]
    dataset.save(update_fields=["status", "provenance", "updated_at"])


# --- what told the raw text -------------------------------------------------------------------------


def _forget_raw_text(dataset: Dataset, scrub: ScrubRun, scrubber: Scrubber) -> None:
    CheckReport.objects.filter(dataset=dataset).delete()
    for source in SourceFile.objects.filter(dataset=dataset).iterator(ROWS_AT_ONCE):
        name = _scrubbed(scrubber, source.name)[-255:]
        if name != source.name:
            SourceFile.objects.filter(pk=source.pk).update(name=name)
    jobs = JobRun.objects.filter(Q(dataset=dataset) | Q(dataset_name=dataset.name))
    earlier = jobs.exclude(operation__in=["scrub_dataset", "scrub_part"])
    for job in earlier.order_by("pk").iterator(ROWS_AT_ONCE):
        _clean_job(job, scrubber)
    for job_file in JobFile.objects.filter(job_run__in=earlier).iterator(ROWS_AT_ONCE):
        if job_file.file:
            files.discard(job_file)
        name = _scrubbed(scrubber, job_file.name)[-255:]
        if name != job_file.name:
            JobFile.objects.filter(pk=job_file.pk).update(name=name)


def _clean_job(job: JobRun, scrubber: Scrubber) -> None:
    """Problems name session ids as they were; filters and file names may hold anything."""
    result = job.result
    if isinstance(result, dict):
        result = _told(scrubber, {key: value for key, value in result.items() if key != "problems"})
    parameters, error = _told(scrubber, job.parameters), _scrubbed(scrubber, job.error)
    if (result, parameters, error) != (job.result, job.parameters, job.error):
        JobRun.objects.filter(pk=job.pk).update(result=result, parameters=parameters, error=error)


def _told(scrubber: Scrubber, value: Any, *, telling: bool = False) -> Any:
    """JSON with the strings scrubbed that may tell something; a digest is no credential."""
    if isinstance(value, dict):
        return {key: _told(scrubber, item, telling=key in _TELLING) for key, item in value.items()}
    if isinstance(value, list):
        return [_told(scrubber, item, telling=telling) for item in value]
    return _scrubbed(scrubber, value) if telling and isinstance(value, str) else value


def _scrubbed(scrubber: Scrubber, text: str) -> str:
    """A text that belongs to no session."""
    if not text:
        return text
    none = TurnRecord("none", 1, "user", "", [])
    # As if the id were a hash: it is nobody's.
    (done,) = scrubber.scrub([SessionTexts([none], [{"text": text}], True)])
    return str(done.beside[0]["text"])
