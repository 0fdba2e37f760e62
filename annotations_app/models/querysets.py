"""Named reads of labels and assignments; see datasets_app/models/querysets.py."""

from typing import Any

from django.db import models
from django.db.models import F, Q


class AnnotationQuerySet(models.QuerySet[Any]):
    def countable(self) -> "AnnotationQuerySet":
        """Labels that count: no hidden repeats, nothing adjudicated, nothing withdrawn."""
        return self.filter(kind="label")

    def stale(self, campaign: Any) -> "AnnotationQuerySet":
        """Labels of a campaign that were made under another text of the persona than it has now."""
        outdated = ~Q(persona_digest="") & ~Q(persona_digest=F("campaign__persona__digest"))
        return self.countable().filter(outdated, campaign=campaign)


class AssignmentQuerySet(models.QuerySet[Any]):
    def of(self, campaign: Any, user: Any) -> "AssignmentQuerySet":
        return self.filter(campaign=campaign, annotator=user)

    def select_reply(self) -> "AssignmentQuerySet":
        """With what a page shows of each: item, turn, session and its dataset."""
        return self.select_related("item__turn__session", "annotation")

    def decided(self) -> "AssignmentQuerySet":
        """What something was pressed for, the latest first."""
        return self.filter(decided_at__isnull=False).order_by("-decided_at", "-id")
