"""Named reads of labels and assignments; see datasets_app/models/querysets.py."""

from collections.abc import Iterable
from typing import Any

from django.db import models
from django.db.models import F, Q

# What a label was made under: it is stale when one of them has changed.
STALE_CAUSES = ("persona", "guidelines", "schema")


class LabelQuerySet(models.QuerySet[Any]):
    """Of labels by the built-in criterion, or of decisions under schemas."""

    def countable(self) -> "LabelQuerySet":
        """Labels that count: no hidden repeats, nothing adjudicated, nothing withdrawn."""
        return self.filter(kind="label")

    def stale(self, campaign: Any, causes: Iterable[str] = STALE_CAUSES) -> "LabelQuerySet":
        """Labels of a campaign made before its persona's text, its guidelines or its schema last changed; a
        version that means the same changes nothing. What a label doesn't record counts as unchanged."""
        others = ~Q(guidelines_digest=campaign.guidelines_digest)
        changed = {
            "persona": ~Q(persona_digest="") & ~Q(persona_digest=F("campaign__persona__digest")),
            "guidelines": Q(guidelines_digest__isnull=False) & others,
            # The built-in criterion has no versions.
            "schema": Q(pk__in=[]),
        }
        if campaign.schema:
            # One whose reply was queued again waits for its annotator to answer just that.
            is_answered = Q(assignment__isnull=True) | Q(assignment__state="labelled")
            changed["schema"] = ~Q(schema__digest=campaign.schema.digest) & is_answered
        chosen = Q(*(changed[cause] for cause in causes), _connector=Q.OR)
        return self.countable().filter(chosen, campaign=campaign)


class AssignmentQuerySet(models.QuerySet[Any]):
    def for_member(self, campaign: Any, user: Any) -> "AssignmentQuerySet":
        return self.filter(campaign=campaign, annotator=user)

    def select_reply(self, campaign: Any) -> "AssignmentQuerySet":
        """Join what pages show: item, turn, session and label. All are of the campaign's dataset."""
        label = "judgment__schema" if campaign.schema_id else "annotation"
        own = self.filter(item__turn__dataset=campaign.dataset_id)
        return own.select_related("item__turn__session", label)

    def select_decided(self) -> "AssignmentQuerySet":
        """Assignments with a decision, latest first."""
        return self.filter(decided_at__isnull=False).order_by("-decided_at", "-id")


def find_version(rows: models.QuerySet[Any], name: str) -> Any:
    """The latest version of a name, or that of ``NAME@VERSION``; None if there is none."""
    own_name, version = split_version(name)
    found = rows.filter(name=own_name).order_by("-version")
    return (found if version is None else found.filter(version=version)).first()


def split_version(name: str) -> tuple[str, int | None]:
    """Of ``NAME@VERSION``; None without a version, and 0, which no row has, if it isn't a number."""
    own_name, _, version = name.partition("@")
    if not version:
        return own_name, None
    return own_name, int(version) if version.isdecimal() and len(version) < 10 else 0
