"""Whose verdicts annotators are shown once they have decided, and how often they follow them."""

import json
from typing import Any, NamedTuple

from django.db import transaction

from annotations_app.judges.judge_rows import NOT_SUPERSEDED
from annotations_app.models import Campaign, Judge
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.queries import fetch_all
from datasets_app.domain.labels.on_brand import ON_BRAND

# The decision after which a verdict was shown first, and the last one that counts.
_REVISIONS_SQL = f"""
SELECT first.revealed, first.label, first.codes, last.label, last.codes FROM (
    SELECT DISTINCT ON (d.assignment_id) d.* FROM annotations_app_decision d
    JOIN annotations_app_assignment a ON a.id = d.assignment_id
    WHERE a.campaign_id = %(campaign)s AND d.kind = 'label' AND d.counted
    AND {NOT_SUPERSEDED} ORDER BY d.assignment_id, d.id
) first
JOIN LATERAL (
    SELECT d.label, d.codes FROM annotations_app_decision d
    WHERE d.assignment_id = first.assignment_id AND d.kind = 'label' AND d.counted ORDER BY d.id DESC LIMIT 1
) last ON true
WHERE first.revealed IS NOT NULL
"""  # constants of this app # nosec B608


class Following(NamedTuple):
    """Of one criterion: labels that agreed with the verdict when it was shown, those of them that changed
    since, and those that differed and have ``followed`` it."""

    criterion: str
    agreed: int
    left: int
    differed: int
    followed: int

    @property
    def share(self) -> float | None:
        """How often people take over a verdict that differs from what they said."""
        return self.followed / self.differed if self.differed else None


def reveal_judge(campaign: Campaign, judge: Judge | None, *, actor: Any) -> None:
    """Show verdicts of ``judge`` (None: of none) to annotators once they have decided. Raises UserError."""
    if judge is not None and campaign.repeat_share:
        raise UserError(
            "This campaign has hidden repeats, which would measure nothing once annotators know a judge's "
            "verdicts. Show them in a campaign without repeats."
        )
    with transaction.atomic():
        Campaign.objects.filter(pk=campaign.pk).update(revealed_judge=judge)
        audit.record(
            "reveal_judge",
            actor=actor,
            dataset_name=campaign.dataset.name,
            campaign=campaign.name,
            judge=judge.full_name if judge else "",
        )
    campaign.revealed_judge = judge


def measure_following(campaign: Campaign) -> list[Following]:
    """By criterion, in the order of the campaign; empty if no verdict was ever shown."""
    counts: dict[str, list[int]] = {}
    for revealed, label, codes, last_label, last_codes in fetch_all(
        _REVISIONS_SQL, {"campaign": campaign.pk}
    ):
        shown, first, last = (
            _read_codes(*one) for one in ((None, revealed), (label, codes), (last_label, last_codes))
        )
        for key, said in shown.items():
            if key not in first:
                continue
            place = counts.setdefault(key, [0, 0, 0, 0])
            differed = first[key] != said
            place[2 if differed else 0] += 1
            moved = last.get(key) == said if differed else last.get(key) != said
            place[3 if differed else 1] += moved
    return [Following(key, *place) for key, place in counts.items()]


def _read_codes(label: int | None, codes: Any) -> dict[str, Any]:
    if label is not None:
        return {ON_BRAND.key: label}
    return json.loads(codes) if isinstance(codes, str) else codes or {}
