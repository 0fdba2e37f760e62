"""What retention would delete, and when: exactly what stands in the certificates once it has."""

import hashlib
import json
from collections.abc import Collection
from typing import Any, NamedTuple

from datasets_app.models import Release, RetentionPolicy
from datasets_app.retention.delete_contents import count_contents
from datasets_app.retention.due import RetentionDecision, decide_all, today_in_utc

NOW, LATER, HELD = "now", "later", "held"


class ScheduledDeletion(NamedTuple):
    """A dataset that a rule deletes: ``when`` is "now" (due), "later", or "held" (due or not, on hold).

    ``counts`` are by kind, as the certificate has them; ``releases`` are the versions whose files go.
    """

    dataset: str
    policy: RetentionPolicy
    due: str
    when: str
    hold_reason: str
    counts: dict[str, int]
    releases: list[str]

    def as_json(self) -> dict[str, Any]:
        return {
            "dataset": self.dataset,
            "rule": rule_details(self.policy),
            "due": self.due,
            "when": self.when,
            "hold_reason": self.hold_reason,
            "counts": self.counts,
            "releases": self.releases,
        }


class DeletionSchedule(NamedTuple):
    day: str
    going: list[ScheduledDeletion]

    @property
    def digest(self) -> str:
        """Of what would go when. Two rehearsals of one digest would delete the same."""
        items = [going.as_json() for going in self.going]
        return hashlib.sha256(json.dumps(items, sort_keys=True).encode()).hexdigest()

    def counts(self, *whens: str) -> dict[str, int]:
        """How much of each kind goes in all, of those datasets."""
        sums: dict[str, int] = {}
        for going in self.going:
            if going.when in whens:
                for kind, count in going.counts.items():
                    sums[kind] = sums.get(kind, 0) + count
        return sums

    def as_json(self) -> dict[str, Any]:
        return {
            "day": self.day,
            "digest": self.digest,
            "datasets": [going.as_json() for going in self.going],
        }


def preview_retention(
    as_if_active: Collection[int] = (), *, only: Collection[int] | None = None
) -> DeletionSchedule:
    """What the active rules, and those of these primary keys, delete now and later; ``only``: of these
    policies alone. Changes nothing. What comes first stands first."""
    day = today_in_utc()
    going = [
        _schedule_deletion(item, item.policy, NOW if item.is_due(day) else LATER)
        for item in decide_all(as_if_active)
        if item.policy_active and item.due and item.policy and (only is None or item.policy.pk in only)
    ]
    return DeletionSchedule(day.isoformat(), sorted(going, key=lambda item: (item.due, item.dataset)))


def rule_details(policy: RetentionPolicy) -> dict[str, Any]:
    return {"position": policy.position, "pattern": policy.pattern, "retention": policy.retention}


def _schedule_deletion(item: RetentionDecision, policy: RetentionPolicy, when: str) -> ScheduledDeletion:
    releases = Release.objects.filter(dataset=item.dataset, destroyed_at=None)
    return ScheduledDeletion(
        item.dataset.name,
        policy,
        item.due.isoformat() if item.due else "",
        HELD if item.held else when,
        item.dataset.hold_reason,
        count_contents(item.dataset),
        [release.version for release in releases.order_by("major", "minor", "patch")],
    )
