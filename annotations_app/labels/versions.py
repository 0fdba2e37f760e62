"""What the labels of a campaign were made under: its persona, guidelines and schema, as they changed."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet

from annotations_app.models import Campaign, Decision, Judgment, LabelSchema
from datasets_app.core.errors import UserError


class LabelVersion(NamedTuple):
    """Labels made under one persona, guidelines and schema (a primary key). Numbered from 1, in the order of
    their first label."""

    number: int
    persona_digest: str
    guidelines_digest: str | None
    schema: int | None
    labels: int
    withdrawn: int
    first: datetime
    last: datetime
    is_current: bool


def list_versions(campaign: Campaign) -> list[LabelVersion]:
    """With labels that were queued again: they are withdrawn, but of their version."""
    made = ["persona_digest", "guidelines_digest", *(["schema"] if campaign.schema_id else [])]
    counted = Q(kind="label")
    rows = (
        _made_by_annotators(campaign)
        .order_by()
        .values(*made)
        .annotate(
            labels=Count("pk", filter=counted),
            withdrawn=Count("pk", filter=~counted),
            first=Min("created_at"),
            last=Max("created_at"),
        )
        .order_by("first", *made)
    )
    now = {
        "persona_digest": campaign.persona.digest,
        "guidelines_digest": campaign.guidelines_digest,
        "schema": campaign.schema_id,
    }
    return [
        LabelVersion(
            number,
            **{"schema": None} | row,
            is_current=all(row[name] == now[name] for name in made),
        )
        for number, row in enumerate(rows, 1)
    ]


def find_version(campaign: Campaign, number: int) -> LabelVersion:
    """Raises UserError."""
    versions = list_versions(campaign)
    if not 1 <= number <= len(versions):
        known = f"1 to {len(versions)}" if versions else "none yet"
        raise UserError(f"{campaign.name} has no version {number} of labels; there are {known}.")
    return versions[number - 1]


def list_labels(campaign: Campaign, number: int) -> list[int]:
    """Primary keys of the labels of a version, the latest of each annotator for each reply: who was asked
    again for another reason, or after the guidelines were changed back, has several. Raises UserError."""
    version = find_version(campaign, number)
    who = "rater" if campaign.schema_id else "annotator"
    of_schema = {"schema": version.schema} if campaign.schema_id else {}
    rows = _made_by_annotators(campaign).filter(
        persona_digest=version.persona_digest, guidelines_digest=version.guidelines_digest, **of_schema
    )
    return list(rows.order_by("turn", who, "-id").distinct("turn", who).values_list("pk", flat=True))


def list_unchanged_criteria(campaign: Campaign) -> list[str]:
    """Keys of criteria that mean the same in the schema of the campaign as in those of its stale labels."""
    if campaign.schema is None:
        return []
    stale = Judgment.objects.stale(campaign, ["schema"]).order_by()
    earlier = LabelSchema.objects.filter(pk__in=stale.values("schema"))
    known = [set(schema.criterion_digests.values()) for schema in earlier]
    digests = campaign.schema.criterion_digests.items()
    return [key for key, digest in digests if known and all(digest in of_schema for of_schema in known)]


def list_schemas_asking(campaign: Campaign, digest: str) -> list[int]:
    """Primary keys of the versions whose criterion has this digest: their answers are comparable."""
    assert campaign.schema is not None  # callers look first  # nosec B101
    versions = LabelSchema.objects.filter(name=campaign.schema.name)
    return [schema.pk for schema in versions if digest in schema.criterion_digests.values()]


def _made_by_annotators(campaign: Campaign) -> QuerySet[Any]:
    """Those that count, and those that were queued again. A replaced adjudicated label is also withdrawn,
    but nobody was asked again."""
    requeued = Decision.objects.filter(
        kind=Decision.Kind.REQUEUE,
        assignment__campaign=campaign,
        assignment__item__turn=OuterRef("turn"),
        assignment__annotator__username=OuterRef("rater__name" if campaign.schema_id else "annotator"),
    )
    withdrawn = Q(kind="withdrawn") & Q(Exists(requeued))
    return campaign.own_labels.filter(Q(kind="label") | withdrawn)  # type: ignore[no-any-return]
