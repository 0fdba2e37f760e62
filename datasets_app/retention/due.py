"""Which rule decides for a dataset, when it is due, and what stands in the way."""

from collections.abc import Collection, Iterable
from datetime import UTC, date, timedelta
from typing import NamedTuple

from django.utils import timezone

from datasets_app.domain.retention import RetentionRule, get_due_date, matches_rule
from datasets_app.models import Dataset, RetentionPolicy

WARNING_PERIOD = timedelta(days=14)


class RetentionDecision(NamedTuple):
    """What the rules say of a dataset. ``due`` is None if it is kept for good, or no rule matches.

    The first rule that matches decides; one that is not active deletes nothing, and keeps those after it
    from doing so. A hold outlives every rule.
    """

    dataset: Dataset
    policy: RetentionPolicy | None
    due: date | None
    policy_active: bool

    @property
    def held(self) -> bool:
        return self.dataset.legal_hold

    def is_deletable(self, today: date) -> bool:
        return self.is_due(today) and not self.held

    def is_due(self, today: date) -> bool:
        return self.policy_active and self.due is not None and self.due <= today


class RuleAnswer(NamedTuple):
    """One rule and its answer for a dataset: "decides", "not active", "matches" (but an earlier one decides)
    or "no match"."""

    policy: RetentionPolicy
    answer: str
    due: date | None


def today_in_utc() -> date:
    """Days are those of UTC: a dataset must not be due sooner in one place than in another."""
    return timezone.now().astimezone(UTC).date()


def list_policies() -> list[RetentionPolicy]:
    return list(RetentionPolicy.objects.order_by("position"))


def decide_all(as_if_active: Collection[int] = ()) -> list[RetentionDecision]:
    """For every dataset that has not expired, by name. ``as_if_active``: primary keys of policies that are
    taken to act."""
    rules = list_policies()
    rows = Dataset.objects.exclude(status=Dataset.Status.EXPIRED).order_by("name")
    return [_decide(dataset, rules, as_if_active) for dataset in rows]


def decide_for_dataset(dataset: Dataset) -> RetentionDecision:
    return _decide(dataset, list_policies(), ())


def list_due_datasets(span: timedelta, rows: Iterable[Dataset] | None = None) -> list[RetentionDecision]:
    """Those that are due by then or already, held ones among them; the first that goes comes first."""
    last = today_in_utc() + span
    rules = list_policies()
    if not any(policy.active for policy in rules):
        return []
    chosen = Dataset.objects.all() if rows is None else rows
    found = [_decide(dataset, rules, ()) for dataset in chosen if dataset.status != Dataset.Status.EXPIRED]
    due = [item for item in found if item.policy_active and item.due is not None and item.due <= last]
    return sorted(due, key=lambda item: (item.due or last, item.dataset.name))


def explain_rules(dataset: Dataset) -> list[RuleAnswer]:
    """Every rule in its order, and what it says of the dataset: why this rule, and not another."""
    asked, decided = [], False
    for policy in list_policies():
        rule = make_rule(policy)
        if not matches_rule(dataset.name, rule):
            asked.append(RuleAnswer(policy, "no match", None))
            continue
        answer = "matches" if decided else "decides" if policy.active else "not active"
        decided = True
        asked.append(RuleAnswer(policy, answer, get_due_date(creation_day(dataset), rule)))
    return asked


def creation_day(dataset: Dataset) -> date:
    return dataset.created_at.astimezone(UTC).date()


def make_rule(policy: RetentionPolicy) -> RetentionRule:
    return RetentionRule(policy.pattern, policy.retention, policy.reason)


def _decide(
    dataset: Dataset, rules: list[RetentionPolicy], as_if_active: Collection[int]
) -> RetentionDecision:
    policy = next((policy for policy in rules if matches_rule(dataset.name, make_rule(policy))), None)
    if policy is None:
        return RetentionDecision(dataset, None, None, False)
    due = get_due_date(creation_day(dataset), make_rule(policy))
    return RetentionDecision(dataset, policy, due, policy.active or policy.pk in as_if_active)
