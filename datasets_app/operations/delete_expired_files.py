from django.utils import timezone

from datasets_app.models import JobFile


def delete_expired_files() -> int:
    """Delete the files of jobs that are past their date; returns how many.

    The row stays, so that a page can say that there was a file and since when it is gone.
    """
    count = 0
    for job_file in JobFile.objects.filter(expires_at__lte=timezone.now()).exclude(file=""):
        job_file.file.delete(save=False)
        JobFile.objects.filter(pk=job_file.pk).update(file="")
        count += 1
    return count
