"""``retention.yaml`` ⇄ the retention policies.

Whatever changes the policies, those of them that might now delete what no rehearsal has shown stop acting
until they are activated anew: see ``domain.retention.still_acting``.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import connection, transaction

from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.domain.retention import (
    RetentionFileError,
    RetentionRule,
    dump_retention_rules,
    find_matching_rule,
    find_rules_still_active,
    parse_retention_rules,
)
from datasets_app.models import Dataset, RetentionPolicy


def import_retention_rules(text: str, *, file_name: str = "", actor: Any = None) -> int:
    """Replace all policies by those of the file; returns how many. Raises Refused."""
    try:
        rules = parse_retention_rules(text)
    except RetentionFileError as error:
        raise UserError(
            "Not a retention file; nothing was changed.",
            {"problems": [{"file": file_name, "message": str(error)}], "problem_total": 1},
        ) from None
    with transaction.atomic():
        replaced = replace_rules(rules)
        record_rule_import(rules, replaced, actor)
    return len(rules)


def lock_rules() -> None:
    """Until the end of the transaction: two files at once must not be mixed."""
    with connection.cursor() as cursor:
        cursor.execute("LOCK TABLE datasets_app_retentionpolicy IN SHARE ROW EXCLUSIVE MODE")


@contextmanager
def preserve_activation() -> Iterator[None]:
    """Around a change of policies, in a transaction: those that may go on acting do so afterwards, the
    others wait for their activation."""
    before = lock_rule_states()
    yield
    restore_activation(before)


RuleStates = list[tuple[RetentionRule, bool, datetime | None]]


def lock_rule_states() -> RuleStates:
    """The policies as they are before a change, locked: each with whether it is active, and since when."""
    lock_rules()
    return [
        (_make_rule(row), row.active, row.activated_at)
        for row in RetentionPolicy.objects.order_by("position")
    ]


def restore_activation(before: RuleStates) -> None:
    """After the change: set which policies are active."""
    since = {(rule.pattern, rule.retention): at for rule, active, at in reversed(before) if active}
    rows = list(RetentionPolicy.objects.order_by("position"))
    acting = find_rules_still_active(
        [(rule, active) for rule, active, _ in before], [_make_rule(row) for row in rows]
    )
    for row, active in zip(rows, acting, strict=True):
        at = since.get((row.pattern, row.retention)) if active else None
        if (row.active, row.activated_at) != (active, at):
            RetentionPolicy.objects.filter(pk=row.pk).update(active=active, activated_at=at)


def _make_rule(row: RetentionPolicy) -> RetentionRule:
    return RetentionRule(row.pattern, row.retention, row.reason)


def replace_rules(rules: Sequence[RetentionRule]) -> int:
    """Put ``rules`` in the place of all there are; returns how many there were."""
    with preserve_activation():
        replaced, _ = RetentionPolicy.objects.all().delete()
        RetentionPolicy.objects.bulk_create(
            RetentionPolicy(
                position=position, pattern=rule.pattern, retention=rule.retention, reason=rule.reason
            )
            for position, rule in enumerate(rules, 1)
        )
    return replaced


def record_rule_import(rules: Sequence[RetentionRule], replaced: int, actor: Any) -> None:
    """Which rule was in force when is worth knowing to the letter; rules hold nothing private."""
    audit.record(
        "import_retention_rules",
        actor=actor,
        policies=[[rule.pattern, rule.retention] for rule in rules],
        replaced=replaced,
    )


def list_rules() -> list[RetentionRule]:
    """The policies, in the order they are asked."""
    rows = RetentionPolicy.objects.order_by("position").values_list("pattern", "retention", "reason")
    return [RetentionRule(*row) for row in rows]


def datasets_by_policy(user: Any) -> dict[int, list[str]]:
    """The names of the datasets that each policy decides for, by its position; of those that are hidden from
    ``user`` none is told."""
    policies = list(RetentionPolicy.objects.order_by("position"))
    rules = [_make_rule(policy) for policy in policies]
    # The first of equal rules is the one that is asked: so the last one written here is it.
    places = {rule: policy.position for rule, policy in reversed(list(zip(rules, policies, strict=True)))}
    decided: dict[int, list[str]] = {}
    hidden = Dataset.objects.hidden_from(user).order_by().values("pk")
    there = Dataset.objects.exclude(status=Dataset.Status.EXPIRED).exclude(pk__in=hidden).order_by("name")
    for name in there.values_list("name", flat=True):
        if rule := find_matching_rule(name, rules):
            decided.setdefault(places[rule], []).append(name)
    return decided


def export_retention_rules() -> str:
    """All policies as the text of a ``retention.yaml``."""
    return dump_retention_rules(list_rules())
