"""How divided the answers to a reply are, in SQL: of several criteria the most divided one counts."""

from annotations_app.models import Campaign, LabelSchema
from datasets_app.domain.labels.on_brand import ON_BRAND

_ANSWERS = "annotations_app_judgment j CROSS JOIN LATERAL jsonb_each(j.codes)"
# As the answers to one criterion.
_LABELS = (
    f"annotations_app_annotation j CROSS JOIN LATERAL (SELECT '{ON_BRAND.key}' AS key, j.label AS value)"
)

# With the parameter ``asked``, as :func:`list_asked` has it: no code is read by another version.
IS_ASKED = "(j.schema_id::text || ' ' || answer.key) = ANY(%(asked)s)"


def list_asked(campaign: Campaign) -> list[str]:
    """Versions and keys of the criteria that are the same as those of the campaign now."""
    if campaign.schema is None:
        return []
    digests = set(campaign.schema.criterion_digests.values())
    return [
        f"{version.pk} {key}"
        for version in LabelSchema.objects.filter(name=campaign.schema.name)
        for key, digest in version.criterion_digests.items()
        if digest in digests
    ]


def measure_disputes(which: str, *, under_schema: bool) -> str:
    """A query of (turn_id, labels, dispute, on_brand) for each reply with labels ``j`` (of each, an
    ``answer``) that meet a condition: decisions under schemas, or else labels by the built-in criterion.

    ``dispute`` is 0 where all agree and 1,000,000 where half or fewer gave the most frequent answer. Texts
    can't be compared. ``on_brand`` counts the highest answer to the built-in criterion; NULL under a schema.
    """
    labels, on_brand = _LABELS, f"sum(votes) FILTER (WHERE value = {ON_BRAND.top})"
    if under_schema:
        labels, on_brand = _ANSWERS, "NULL"
    return f"""
    SELECT turn_id, max(labels) AS labels, max(dispute) AS dispute, max(on_brand) AS on_brand FROM (
        SELECT turn_id, sum(votes)::bigint AS labels,
               least(1000000, 2000000 * (sum(votes)::bigint - max(votes)) / sum(votes)::bigint) AS dispute,
               {on_brand}::bigint AS on_brand
        FROM (
            SELECT j.turn_id, answer.key, answer.value, count(*) AS votes
            FROM {labels} answer
            WHERE j.kind = 'label' AND {which}
            GROUP BY j.turn_id, answer.key, answer.value
        ) answers
        GROUP BY turn_id, key
    ) criteria
    GROUP BY turn_id
    """  # a condition of the callers' code # nosec B608
