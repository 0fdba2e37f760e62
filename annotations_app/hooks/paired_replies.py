"""What becomes of labels and judgments of pairs when something happens to the other dataset."""

from collections.abc import Iterable
from typing import Any

from annotations_app.campaigns.counters import delete_items
from annotations_app.models import Campaign, Verdict
from datasets_app.models.session_data import SessionData


class PairedReplies(SessionData):
    """The rows of the other dataset of campaigns that compare replies."""

    def drop_outdated(self, dataset: Any) -> int:
        """Drop judges' reasons, which may quote either reply but are scrubbed with the campaign's own."""
        of_pairs = Verdict.objects.filter(run__campaign__other_dataset=dataset, rationale__isnull=False)
        return of_pairs.update(rationale=None)

    def close(self, dataset: Any) -> None:
        Campaign.objects.filter(other_dataset=dataset).update(status=Campaign.Status.CLOSED)

    def prepare_deletion(self, dataset: Any, sessions: Iterable[int] | None) -> None:
        """Delete the items whose other reply is deleted, with their labels: they were about both."""
        if items := list(self.rows(dataset, sessions).values_list("pk", flat=True)):
            delete_items(items)
