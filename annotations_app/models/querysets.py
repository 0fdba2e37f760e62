"""Named reads of labels and assignments; see datasets_app/models/querysets.py."""

from typing import Any

from django.db import models
from django.db.models import F, Q


class JudgmentQuerySet(models.QuerySet[Any]):
    def stale(self, campaign: Any) -> "JudgmentQuerySet":
        """As those of :class:`AnnotationQuerySet`."""
        outdated = ~Q(persona_digest=F("campaign__persona__digest"))
        return self.filter(outdated, campaign=campaign, kind="label")

    def under_other_guidelines(self, campaign: Any, digest: str) -> "JudgmentQuerySet":
        """Labels of a campaign made before its guidelines last changed."""
        return self.filter(campaign=campaign, kind="label").exclude(guidelines_digest=digest)


class AnnotationQuerySet(models.QuerySet[Any]):
    def countable(self) -> "AnnotationQuerySet":
        """Labels that count: no hidden repeats, nothing adjudicated, nothing withdrawn."""
        return self.filter(kind="label")

    def stale(self, campaign: Any) -> "AnnotationQuerySet":
        """Labels of a campaign made before the persona's text last changed."""
        outdated = ~Q(persona_digest="") & ~Q(persona_digest=F("campaign__persona__digest"))
        return self.countable().filter(outdated, campaign=campaign)


class AssignmentQuerySet(models.QuerySet[Any]):
    def for_member(self, campaign: Any, user: Any) -> "AssignmentQuerySet":
        return self.filter(campaign=campaign, annotator=user)

    def select_reply(self, dataset: int) -> "AssignmentQuerySet":
        """Join what pages show: item, turn, session and annotation. All are of the one dataset."""
        return self.filter(item__turn__dataset=dataset).select_related("item__turn__session", "annotation")

    def select_decided(self) -> "AssignmentQuerySet":
        """Assignments with a decision, latest first."""
        return self.filter(decided_at__isnull=False).order_by("-decided_at", "-id")
