"""How much one person may upload before it is imported or discarded."""

from typing import Any

from django.conf import settings
from django.db.models import Count, Sum
from django.template.defaultfilters import filesizeformat

from datasets_app.core.errors import UserError
from datasets_app.core.queries import lock_person
from datasets_app.models import JobFile, JobRun


def max_upload_bytes(user: Any) -> int:
    """The size of the largest file that somebody may upload; 0 without the permission to import."""
    return settings.MAX_UPLOAD_BYTES if user.has_perm("datasets_app.import_dataset") else 0


def check_upload_limits(user: Any, size: int, job: JobRun | None = None) -> None:
    """Call it in the transaction that stores the upload, or a part of the one of ``job``. Raises UserError if
    the upload is too large, or if the others that the person has not imported yet leave no room for it."""
    if size > settings.MAX_UPLOAD_BYTES:
        raise UserError(
            f"The file is larger than {filesizeformat(settings.MAX_UPLOAD_BYTES)}. Split it, or use the "
            "management command instead."
        )
    lock_person(user)
    kinds = [JobFile.Kind.UPLOAD, JobFile.Kind.PART]
    uploads = JobFile.objects.filter(kind__in=kinds, job_run__actor=user).exclude(file="")
    others = uploads.exclude(job_run=job) if job else uploads
    pending = others.aggregate(count=Count("job_run", distinct=True), size=Sum("size", default=0))
    remedy = "Import or discard some of them first: the import page lists them."
    if pending["count"] >= settings.MAX_PENDING_UPLOADS:
        raise UserError(f"You have {pending['count']:,} uploads that are not imported. {remedy}")
    if pending["size"] + size > settings.MAX_PENDING_UPLOAD_BYTES:
        raise UserError(
            "With this file, your uploads that are not imported would be larger than "
            f"{filesizeformat(settings.MAX_PENDING_UPLOAD_BYTES)}. {remedy}"
        )
