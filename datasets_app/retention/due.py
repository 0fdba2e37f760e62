"""Decides which policy applies to a dataset and when it is due for deletion."""

from collections.abc import Collection, Iterable
from datetime import UTC, date, timedelta
from typing import NamedTuple

from django.utils import timezone

from datasets_app.domain.retention import get_due_date, matches_rule
from datasets_app.models import Dataset, RetentionPolicy

WARNING_PERIOD = timedelta(days=14)


class RetentionDecision(NamedTuple):
    """What the policies say about a dataset. ``due`` is None if it is kept forever or no policy matches.

    The first matching policy applies. If it is inactive, the dataset is kept, whatever later policies say.
    A legal hold overrides every policy.
    """

    dataset: Dataset
    policy: RetentionPolicy | None
    due: date | None
    policy_active: bool

    @property
    def is_on_hold(self) -> bool:
        return self.dataset.legal_hold

    def is_deletable(self, today: date) -> bool:
        return self.is_due(today) and not self.is_on_hold

    def is_due(self, today: date) -> bool:
        return self.policy_active and self.due is not None and self.due <= today


class RuleAnswer(NamedTuple):
    """One policy and its answer for a dataset: "decides", "not active", "matches" (but an earlier one
    decides) or "no match"."""

    policy: RetentionPolicy
    answer: str
    due: date | None


def today_in_utc() -> date:
    """Due dates are in UTC, so that they don't depend on where a server stands."""
    return timezone.now().astimezone(UTC).date()


def decide_all(as_if_active: Collection[int] = ()) -> list[RetentionDecision]:
    """A decision for every dataset that has not expired, by name. ``as_if_active`` are primary keys of
    policies to treat as active."""
    policies = list(RetentionPolicy.objects.all())
    datasets = Dataset.objects.exclude(status=Dataset.Status.EXPIRED).order_by("name")
    return [_decide(dataset, policies, as_if_active) for dataset in datasets]


def decide_for_dataset(dataset: Dataset) -> RetentionDecision:
    return _decide(dataset, list(RetentionPolicy.objects.all()), ())


def list_due_datasets(span: timedelta, rows: Iterable[Dataset] | None = None) -> list[RetentionDecision]:
    """Datasets that are due within ``span`` or already, including held ones; earliest first."""
    last = today_in_utc() + span
    policies = list(RetentionPolicy.objects.all())
    if not any(policy.active for policy in policies):
        return []
    datasets = Dataset.objects.all() if rows is None else rows
    decisions = [
        _decide(dataset, policies, ()) for dataset in datasets if dataset.status != Dataset.Status.EXPIRED
    ]
    due = [item for item in decisions if item.is_due(last)]
    return sorted(due, key=lambda item: (item.due or last, item.dataset.name))


def explain_rules(dataset: Dataset) -> list[RuleAnswer]:
    """The answer of every policy for the dataset, in order."""
    answers, decided = [], False
    for policy in RetentionPolicy.objects.all():
        rule = policy.as_rule()
        if not matches_rule(dataset.name, rule):
            answers.append(RuleAnswer(policy, "no match", None))
            continue
        answer = "matches" if decided else "decides" if policy.active else "not active"
        decided = True
        answers.append(RuleAnswer(policy, answer, get_due_date(creation_day(dataset), rule)))
    return answers


def creation_day(dataset: Dataset) -> date:
    return dataset.created_at.astimezone(UTC).date()


def _decide(
    dataset: Dataset, policies: list[RetentionPolicy], as_if_active: Collection[int]
) -> RetentionDecision:
    policy = next((policy for policy in policies if matches_rule(dataset.name, policy.as_rule())), None)
    if policy is None:
        return RetentionDecision(dataset, None, None, False)
    due = get_due_date(creation_day(dataset), policy.as_rule())
    return RetentionDecision(dataset, policy, due, policy.active or policy.pk in as_if_active)
