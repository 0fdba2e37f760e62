"""Which rule decides for a dataset, when it is due, and what stands in the way."""

from collections.abc import Collection, Iterable
from datetime import UTC, date, timedelta
from typing import NamedTuple

from django.utils import timezone

from datasets_app.domain.retention import RetentionRule, due_on, is_matched
from datasets_app.models import Dataset, RetentionPolicy

WARNED_AHEAD = timedelta(days=14)


class Verdict(NamedTuple):
    """What the rules say of a dataset. ``due`` is None if it is kept for good, or no rule matches.

    The first rule that matches decides; one that is not active deletes nothing, and keeps those after it
    from doing so. A hold outlives every rule.
    """

    dataset: Dataset
    policy: RetentionPolicy | None
    due: date | None
    acts: bool

    @property
    def held(self) -> bool:
        return self.dataset.legal_hold

    def is_to_go(self, today: date) -> bool:
        return self.is_due(today) and not self.held

    def is_due(self, today: date) -> bool:
        return self.acts and self.due is not None and self.due <= today


class Asked(NamedTuple):
    """One rule and its answer for a dataset: "decides", "not active", "matches" (but an earlier one decides)
    or "no match"."""

    policy: RetentionPolicy
    answer: str
    due: date | None


def today() -> date:
    """Days are those of UTC: a dataset must not be due sooner in one place than in another."""
    return timezone.now().astimezone(UTC).date()


def policies() -> list[RetentionPolicy]:
    return list(RetentionPolicy.objects.order_by("position"))


def verdicts(as_if_active: Collection[int] = ()) -> list[Verdict]:
    """For every dataset that has not expired, by name. ``as_if_active``: primary keys of policies that are
    taken to act."""
    rules = policies()
    rows = Dataset.objects.exclude(status=Dataset.Status.EXPIRED).order_by("name")
    return [_verdict(dataset, rules, as_if_active) for dataset in rows]


def verdict(dataset: Dataset) -> Verdict:
    return _verdict(dataset, policies(), ())


def due_within(span: timedelta, rows: Iterable[Dataset] | None = None) -> list[Verdict]:
    """Those that are due by then or already, held ones among them; the first that goes comes first."""
    last = today() + span
    rules = policies()
    if not any(policy.active for policy in rules):
        return []
    chosen = Dataset.objects.all() if rows is None else rows
    found = [_verdict(dataset, rules, ()) for dataset in chosen if dataset.status != Dataset.Status.EXPIRED]
    due = [item for item in found if item.acts and item.due is not None and item.due <= last]
    return sorted(due, key=lambda item: (item.due or last, item.dataset.name))


def asked_rules(dataset: Dataset) -> list[Asked]:
    """Every rule in its order, and what it says of the dataset: why this rule, and not another."""
    asked, decided = [], False
    for policy in policies():
        rule = rule_of(policy)
        if not is_matched(dataset.name, rule):
            asked.append(Asked(policy, "no match", None))
            continue
        answer = "matches" if decided else "decides" if policy.active else "not active"
        decided = True
        asked.append(Asked(policy, answer, due_on(came_on(dataset), rule)))
    return asked


def came_on(dataset: Dataset) -> date:
    return dataset.created_at.astimezone(UTC).date()


def rule_of(policy: RetentionPolicy) -> RetentionRule:
    return RetentionRule(policy.pattern, policy.retention, policy.reason)


def _verdict(dataset: Dataset, rules: list[RetentionPolicy], as_if_active: Collection[int]) -> Verdict:
    policy = next((policy for policy in rules if is_matched(dataset.name, rule_of(policy))), None)
    if policy is None:
        return Verdict(dataset, None, None, False)
    due = due_on(came_on(dataset), rule_of(policy))
    return Verdict(dataset, policy, due, policy.active or policy.pk in as_if_active)
