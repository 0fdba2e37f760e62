"""What happens by itself once a night, in this order."""

import logging
from collections.abc import Callable
from datetime import date, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, transaction
from django.utils import timezone

from alignmenter_site.logs import describe_error
from datasets_app.access.accounts import clear_expired_sessions
from datasets_app.access.tokens import forget_answers
from datasets_app.auditing.heads import verify_and_append_head
from datasets_app.backups.schedule import start_nightly_backup
from datasets_app.catalog import gates
from datasets_app.catalog.text_scans import scan_new_text
from datasets_app.core.errors import UserError
from datasets_app.core.progress import OperationCanceled, ProgressCallback, ignore_progress
from datasets_app.core.queries import execute
from datasets_app.domain.wording import format_count
from datasets_app.jobs import runs
from datasets_app.jobs.running import ClaimLost
from datasets_app.models import Dataset, JobRun, Source
from datasets_app.nightly.parameters import NightlyParameters
from datasets_app.releasing.verify import verify_releases
from datasets_app.retention.apply import apply_retention
from datasets_app.retention.reapply_erasures import verify_erasures
from datasets_app.retention.warnings import announce_deletions, mail_warnings
from datasets_app.sources.due import start_nightly_pulls
from datasets_app.sources.seen import forget_old

log = logging.getLogger(__name__)

OPERATION = "nightly"
# Any number, the same in all schedulers: only one of them starts the night's work.
_LOCK_ID = 7_203_011

# Not the fault of a step: another worker runs the whole night again.
_INTERRUPTIONS = (ClaimLost, OperationalError, InterfaceError)

# Given the job's row and the progress callback; commits for itself, and can be repeated.
Step = Callable[[JobRun | None, ProgressCallback], dict[str, Any]]


def _run_retention(job_run: JobRun | None, report_progress: ProgressCallback) -> dict[str, Any]:
    done = apply_retention(job_run=job_run, report_progress=report_progress)
    return {key: value for key, value in done.items() if key != "certificates"}


def _run_release_verification(job_run: JobRun | None, report_progress: ProgressCallback) -> dict[str, Any]:
    verified = verify_releases(actor=None, report_progress=report_progress)
    if verified.faults:
        first = verified.faults[0]
        raise UserError(
            f"{format_count(len(verified.faults), 'fault')} in releases: "
            f"{first.dataset} {first.version}: {first.message}"
        )
    return {"releases": verified.releases, "files": verified.files}


def _run_audit_verification(job_run: JobRun | None, report_progress: ProgressCallback) -> dict[str, Any]:
    verified = verify_and_append_head(report_progress=report_progress)
    if verified.fault_count:
        count = format_count(verified.fault_count, "fault")
        raise UserError(f"{count} in the audit log. Verify the audit log to list them.")
    return {"events": verified.events, "position": verified.head.position}


def _start_pulls(job_run: JobRun | None, report_progress: ProgressCallback) -> dict[str, Any]:
    """In jobs of their own, which the night doesn't wait for."""
    return {"sources": start_nightly_pulls(), "forgotten_traces": forget_old()}


def _run_text_scans(job_run: JobRun | None, report_progress: ProgressCallback) -> dict[str, Any]:
    """Search what was left: by label imports, erasures and versions that did not search yet."""
    facts = gates.load_all_facts(Dataset.objects.exclude(status=Dataset.Status.EXPIRED))
    unscanned = [pk for pk, known in facts.items() if known.is_unscanned and known.scrub_job is None]
    for dataset in Dataset.objects.filter(pk__in=unscanned):
        scan_new_text(dataset, report_progress)
    return {"datasets": len(unscanned)}


# Deletions come first, so that warnings are about what remains. The audit log comes late, with the events
# of all other steps, and the backup contains what they have done.
NIGHTLY_STEPS: tuple[tuple[str, Step], ...] = (
    ("retention", _run_retention),
    ("announcements", lambda job_run, report_progress: {"datasets": announce_deletions()}),
    ("warnings", lambda job_run, report_progress: mail_warnings()),
    ("api", lambda job_run, report_progress: {"answers": forget_answers()}),
    ("sessions", lambda job_run, report_progress: {"sessions": clear_expired_sessions()}),
    ("erasures", lambda job_run, report_progress: verify_erasures()),
    ("text", _run_text_scans),
    ("sources", _start_pulls),
    ("releases", _run_release_verification),
    ("audit trail", _run_audit_verification),
    ("backup", lambda job_run, report_progress: start_nightly_backup()),
)


def run_nightly(
    *, job_run: JobRun | None = None, report_progress: ProgressCallback = ignore_progress
) -> dict[str, Any]:
    """Run the steps one after the other; a step that fails does not stop the others.

    Raises UserError at the end if one failed, with the results of the others.
    """
    results: dict[str, Any] = {}
    failed = []
    for name, step in NIGHTLY_STEPS:
        try:
            results[name] = step(job_run, report_progress)
        except UserError as refusal:
            failed.append(f"{name}: {refusal.message}")
        except (OperationCanceled, *_INTERRUPTIONS):
            raise
        except Exception as error:
            log.error("the night's %s failed: %s", name, describe_error(error))
            failed.append(f"{name}: unexpected error ({type(error).__name__}); the log tells where.")
    if failed:
        raise UserError(" ".join(failed), results)
    return results


def night_start(now: datetime) -> datetime:
    """The last time that the night's work was to begin, in the installation's time zone."""
    local = timezone.localtime(now)
    begins = local.replace(hour=settings.NIGHT_HOUR, minute=0, second=0, microsecond=0)
    return begins if begins <= local else begins - timedelta(days=1)


def is_night_due(now: datetime) -> bool:
    """Whether this night's work has not been started, and there is anything that was there before it."""
    begins = night_start(now)
    if _has_started(begins.date()):
        return False
    return any(model.objects.filter(created_at__lt=begins).exists() for model in (Dataset, Source))


def start_if_due() -> JobRun | None:
    """Have a worker do this night's work: once, however many schedulers ask, and also after they were all
    stopped."""
    now = timezone.now()
    if not is_night_due(now):
        return None
    with transaction.atomic():
        execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK_ID])
        night = night_start(now).date()
        if _has_started(night):
            return None
        parameters = NightlyParameters(night=night.isoformat())
        return runs.start_job(OPERATION, actor=None, parameters=parameters)


def _has_started(night: date) -> bool:
    return JobRun.objects.filter(operation=OPERATION, parameters__night=night.isoformat()).exists()
