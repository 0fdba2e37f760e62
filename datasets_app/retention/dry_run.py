"""Previews what retention deletes and when, with the same counts as the later certificates."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

from datasets_app.models import RetentionPolicy
from datasets_app.retention.delete_contents import count_contents
from datasets_app.retention.due import RetentionDecision, decide_all, today_in_utc
from datasets_app.retention.erasure_preview import list_releases

NOW, LATER, HELD = "now", "later", "held"


class ScheduledDeletion(NamedTuple):
    """A dataset that a policy deletes: ``when`` is "now" (due), "later" or "held" (on legal hold).

    ``counts`` has the kinds of the certificate; ``releases`` are the versions that lose their files.
    """

    dataset: str
    rule: dict[str, Any]
    due: str
    when: str
    hold_reason: str
    counts: dict[str, int]
    releases: list[str]


class DeletionSchedule(NamedTuple):
    day: str
    deletions: list[ScheduledDeletion]

    @property
    def digest(self) -> str:
        """Schedules with the same digest delete the same data."""
        return hashlib.sha256(json.dumps(self._list_deletions(), sort_keys=True).encode()).hexdigest()

    def counts(self, *whens: str) -> dict[str, int]:
        """Totals by kind for the deletions with one of these ``when``."""
        sums: Counter[str] = Counter()
        for deletion in self.deletions:
            if deletion.when in whens:
                sums.update(deletion.counts)
        return dict(sums)

    def as_json(self) -> dict[str, Any]:
        return {"day": self.day, "digest": self.digest, "datasets": self._list_deletions()}

    def _list_deletions(self) -> list[dict[str, Any]]:
        return [deletion._asdict() for deletion in self.deletions]


def preview_retention(policies: Sequence[RetentionPolicy] | None = None) -> DeletionSchedule:
    """What the active policies delete, earliest first, or what these ``policies`` would if they were active;
    changes nothing."""
    only = None if policies is None else [policy.pk for policy in policies]
    day = today_in_utc()
    deletions = [
        _schedule_deletion(item, item.policy, NOW if item.is_due(day) else LATER)
        for item in decide_all(only or ())
        if item.policy_active and item.due and item.policy and (only is None or item.policy.pk in only)
    ]
    return DeletionSchedule(day.isoformat(), sorted(deletions, key=lambda item: (item.due, item.dataset)))


def rule_details(policy: RetentionPolicy) -> dict[str, Any]:
    return {"position": policy.position, "pattern": policy.pattern, "retention": policy.retention}


def _schedule_deletion(item: RetentionDecision, policy: RetentionPolicy, when: str) -> ScheduledDeletion:
    return ScheduledDeletion(
        item.dataset.name,
        rule_details(policy),
        item.due.isoformat() if item.due else "",
        HELD if item.is_on_hold else when,
        item.dataset.hold_reason,
        count_contents(item.dataset),
        [release.version for release in list_releases(item.dataset)],
    )
