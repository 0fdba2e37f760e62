from functools import partial
from pathlib import Path

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from datasets_app.core.storage_listing import delete_orphans, delete_stale, list_storage, try_delete
from datasets_app.jobs import files
from datasets_app.jobs.approvals import expire_requests
from datasets_app.models import Dataset, JobFile, JobRun
from datasets_app.releasing import files as release_files
from datasets_app.tables.uploads import delete_stale_uploads


def delete_expired_files() -> int:
    """Delete the files of jobs that are past their date, and what is left of releases; returns how many.

    The row stays, so that a page can say that there was a file and since when it is gone. Files
    that no row names, as a worker leaves them that is killed while it stores one, go as well.
    Files of datasets on legal hold stay: quarantined lines, for example, are stored nowhere else.
    """
    count = 0
    held = Dataset.objects.filter(legal_hold=True)
    protected = Q(job_run__dataset__in=held) | Q(job_run__dataset_name__in=held.values("name"))
    expired = JobFile.objects.filter(expires_at__lte=timezone.now()).exclude(file="")
    for job_file in expired.exclude(protected):
        count += try_delete(partial(files.delete_file, job_file))
    count += _delete_orphans() + release_files.destroy_orphans()
    # Of uploads that a killed web server has left.
    count += delete_stale(Path(settings.FILE_UPLOAD_TEMP_DIR), "*.upload*")
    expire_requests()
    return count + files.delete_stale_folders() + delete_stale_uploads()


def _delete_orphans() -> int:
    count = 0
    for job in list_storage("jobs")[0]:
        if not job.isdigit() or JobRun.objects.filter(pk=int(job), state="running").exists():
            continue
        for kind in list_storage(f"jobs/{job}")[0]:
            count += delete_orphans(f"jobs/{job}/{kind}", JobFile.objects.filter(job_run=int(job)))
    return count
