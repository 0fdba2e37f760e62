"""Whether labels have changed since a time. Decisions are their own history, so the audit log has none."""

from datetime import datetime
from typing import Any

from annotations_app.models import Decision


def was_labeled_since(dataset: Any, since: datetime) -> bool:
    """Whether a decision that counts has added, changed or removed a label; those on replies that never had
    one have not."""
    later = Decision.objects.filter(at__gt=since, counted=True, assignment__campaign__dataset=dataset)
    return later.filter(assignment__decisions__kind=Decision.Kind.LABEL).exists()
