"""How divided the answers to a reply are, in SQL: of several criteria the most divided one counts."""

from annotations_app.models import Campaign, LabelSchema

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


def measure_disputes(which: str) -> str:
    """A query of (turn_id, labels, dispute) for each reply with decisions ``j`` (of each, an
    ``answer``) that meet a condition.

    ``dispute`` is 0 where all agree and 1,000,000 where half or fewer gave the most frequent answer. Texts
    can't be compared.
    """
    return f"""
    SELECT turn_id, max(labels) AS labels, max(dispute) AS dispute FROM (
        SELECT turn_id, sum(votes)::bigint AS labels,
               least(1000000, 2000000 * (sum(votes)::bigint - max(votes)) / sum(votes)::bigint) AS dispute
        FROM (
            SELECT j.turn_id, answer.key, count(*) AS votes
            FROM annotations_app_judgment j CROSS JOIN LATERAL jsonb_each(j.codes) answer
            WHERE j.kind = 'label' AND {which}
            GROUP BY j.turn_id, answer.key, answer.value
        ) answers
        GROUP BY turn_id, key
    ) criteria
    GROUP BY turn_id
    """  # a condition of the callers' code # nosec B608
