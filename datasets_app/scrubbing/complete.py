"""Completes a scrub: marks the dataset as scrubbed and removes what still shows its raw text."""

import re
from dataclasses import replace
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from datasets_app.catalog import facts, gates
from datasets_app.catalog.text_scans import record_scrub
from datasets_app.core import audit, outgoing
from datasets_app.domain.metadata.metadata import METADATA_FIELDS
from datasets_app.domain.pii import session_ids
from datasets_app.domain.pii.detector import KINDS, NAME
from datasets_app.domain.pii.exemptions import describe_exempt, read_exempt_counts
from datasets_app.domain.pii.network.languages import describe_languages
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.jobs import files
from datasets_app.models import Dataset, JobFile, JobRun, ScrubRun, Session, session_data
from datasets_app.splitting.split_dataset import clear_split_report

ROW_BATCH_SIZE = 500
# Keys in parameters and results of jobs whose values may come from a file.
_DIGEST = re.compile(r"[0-9a-f]{32,128}")
_SENSITIVE_KEYS = {"name", "files", "tag", "persona"}


def complete_scrub(scrub: ScrubRun, scrubber: Scrubber, verification: dict[str, Any], *, actor: Any) -> bool:
    """Store a verification without findings and everything that follows from it, in one transaction.

    Returns False without any change if sessions were added that the scrub has not processed. Raises
    UserError during a legal hold.
    """
    with transaction.atomic():
        dataset = facts.lock_dataset(scrub.dataset_id)
        gates.check_can_replace_text(dataset)  # what follows deletes files that quote raw text
        if Session.objects.filter(dataset=dataset, pk__gt=scrub.last_session).exists():
            return False
        if dropped := sum(data.drop_outdated(dataset) for data in session_data.list_all()):
            verification = {**verification, "dropped_evidence": dropped}
        scrub.verification, scrub.verified_at = verification, timezone.now()
        scrub.save(update_fields=["verification", "verified_at", "totals", "changed_turns"])
        _mark_scrubbed(dataset, scrub, scrubber)
        if covers_all_kinds(scrubber.policy):
            record_scrub(
                dataset,
                last_session=scrub.last_session,
                turn_count=verification["turns"],
                exempt=read_exempt_counts(verification.get("exempt")),
                unmeasured=verification.get("unmeasured", {}),
            )
        _remove_raw_text(dataset, scrub, scrubber)
        clear_split_report(dataset)
        audit.record(
            "scrub",
            actor=actor,
            dataset_name=dataset.name,
            scrub=scrub.pk,
            findings=scrub.totals,
            turns=scrub.turn_count,
            changed_turns=scrub.changed_turns,
            turns_verified=verification["turns"],
            dropped_evidence=dropped,
            key=scrub.key_fingerprint,
            status=dataset.status,
            text=gates.load_facts(dataset).description,
        )
        outgoing.emit(
            outgoing.Kind.SCRUB_FINISHED,
            dataset=dataset,
            recipients=[actor],
            turns=scrub.turn_count,
            changed_turns=scrub.changed_turns,
        )
    return True


def covers_all_kinds(policy: Policy) -> bool:
    """Whether a scrub with this policy marks the dataset as scrubbed, which takes all types."""
    return set(KINDS) <= set(policy.kinds)


def _mark_scrubbed(dataset: Dataset, scrub: ScrubRun, scrubber: Scrubber) -> None:
    if covers_all_kinds(scrubber.policy):
        dataset.status = Dataset.Status.SCRUBBED
    _scrub_stated_metadata(dataset, scrubber)
    stated = dataset.provenance["anonymization"]
    stated += [words for words in _describe_scrub(scrub) if words not in stated]
    facts.add_modification(dataset, "personal data scrubbed")
    # Imports record file names there.
    dataset.provenance["modifications"] = [
        scrubber.scrub_text(text) for text in dataset.provenance["modifications"]
    ]
    dataset.save(update_fields=["status", "source", "provenance", "updated_at"])


def _describe_scrub(scrub: ScrubRun) -> list[str]:
    """What a verified scrub did, as the metadata states it."""
    policy = Policy.from_json(scrub.policy)
    done = policy.describe()
    if policy.hash_session_ids:
        done.append(session_ids.format_fingerprint_statement(scrub.key_fingerprint))
    if exempt := describe_exempt(read_exempt_counts((scrub.verification or {}).get("exempt"))):
        done[:1] = [f"{words}, except {exempt}" for words in done[:1]]
    if languages := describe_languages((scrub.verification or {}).get("languages"), policy.prefer):
        done.append(languages)
    return done


def _scrub_stated_metadata(dataset: Dataset, scrubber: Scrubber) -> None:
    """Scrub what people and metadata files state, by rules only, as in ``file_metadata.py``. License and
    attribution are owed to those they name, and stay; so does what earlier scrubs stated."""
    policy = replace(scrubber.policy, kinds=tuple(kind for kind in scrubber.policy.kinds if kind != NAME))
    rules = Scrubber(policy, key=scrubber.key)
    dataset.source = rules.scrub_text(dataset.source)
    done = dataset.provenance.get("anonymization")
    done = list(done) if isinstance(done, list) else [str(done)] if done else []
    runs = ScrubRun.objects.filter(dataset=dataset, verified_at__isnull=False)
    own = {text for run in runs for text in _describe_scrub(run)}
    stated = {**dataset.provenance, "anonymization": [text for text in done if text not in own]}
    dataset.provenance = rules.scrub_fields(stated, own=METADATA_FIELDS)[0]
    dataset.provenance["anonymization"] += [text for text in done if text in own]


# --- removing raw text ------------------------------------------------------------------------------


def _remove_raw_text(dataset: Dataset, scrub: ScrubRun, scrubber: Scrubber) -> None:
    for data in session_data.list_all():
        data.delete_quoting(dataset)
        if data.dataset and not data.session:
            data.scrub_columns(data.rows(dataset), scrubber.scrub_text)
    jobs = JobRun.objects.filter(Q(dataset=dataset) | Q(dataset_name=dataset.name))
    earlier = jobs.exclude(operation__in=["scrub_dataset", "scrub_part"])
    for job in earlier.order_by("pk").iterator(ROW_BATCH_SIZE):
        _scrub_job(job, scrubber)
    stored = JobFile.objects.filter(job_run__in=earlier)
    for job_file in stored.exclude(file="").iterator(ROW_BATCH_SIZE):
        files.discard_file(job_file)
    session_data.find(JobFile).scrub_columns(stored, scrubber.scrub_text)


def _scrub_job(job: JobRun, scrubber: Scrubber) -> None:
    """Problems contain original session ids; filters and file names may contain anything."""
    result = job.result
    if isinstance(result, dict):
        result = _scrub_json(scrubber, {key: value for key, value in result.items() if key != "problems"})
    parameters, error = _scrub_json(scrubber, job.parameters), scrubber.scrub_text(job.error)
    if (result, parameters, error) != (job.result, job.parameters, job.error):
        JobRun.objects.filter(pk=job.pk).update(result=result, parameters=parameters, error=error)


def _scrub_json(scrubber: Scrubber, value: Any, *, telling: bool = False) -> Any:
    """JSON with the strings scrubbed that may tell something; a digest isn't a credential."""
    if isinstance(value, dict):
        return {
            key: _scrub_json(scrubber, item, telling=telling or key in _SENSITIVE_KEYS)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_scrub_json(scrubber, item, telling=telling) for item in value]
    if not telling or not isinstance(value, str) or _DIGEST.fullmatch(value):
        return value
    return scrubber.scrub_text(value)
