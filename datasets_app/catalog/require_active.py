"""Datasets whose contents are deleted, or being deleted: the row stays, and nothing comes to it again."""

from django.utils import timezone

from datasets_app.core.errors import UserError
from datasets_app.models import Dataset


def require_active(dataset: Dataset) -> None:
    """For whatever reads a dataset, adds to it or works on it; asks the database, not the object."""
    row = Dataset.objects.filter(pk=dataset.pk, status=Dataset.Status.EXPIRED)
    for name, expired_at in row.values_list("name", "expired_at"):
        day = f" on {timezone.localtime(expired_at):%-d %B %Y}" if expired_at else ""
        raise UserError(
            f"The contents of {name} were deleted{day}, for good; its name stays taken. Choose another name "
            "for another dataset."
        )
