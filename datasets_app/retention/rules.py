"""Imports and exports the retention policies as ``retention.yaml``.

Any change deactivates the policies that might now delete something no preview has shown; they have to be
activated again. See ``domain.retention.find_rules_still_active``.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django.db import transaction

from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.queries import execute
from datasets_app.domain.retention import (
    RetentionFileError,
    RetentionRule,
    dump_retention_rules,
    find_rules_still_active,
    parse_retention_rules,
)
from datasets_app.models import Dataset, RetentionPolicy
from datasets_app.retention.due import decide_all


def import_retention_rules(text: str, *, file_name: str = "") -> int:
    """Replace all policies with those in the file; returns their number. Raises UserError."""
    try:
        rules = parse_retention_rules(text)
    except RetentionFileError as error:
        raise UserError(
            "This is not a valid retention file; nothing was changed.",
            {"problems": [{"file": file_name, "message": str(error)}], "problem_total": 1},
        ) from None
    with transaction.atomic():
        replaced = replace_rules(rules)
        record_rule_import(rules, replaced, None)
    return len(rules)


def lock_rules() -> None:
    """Lock the policies until the end of the transaction, so that two imports don't mix."""
    execute("LOCK TABLE datasets_app_retentionpolicy IN SHARE ROW EXCLUSIVE MODE")


@contextmanager
def preserve_activation() -> Iterator[None]:
    """Wrap a change of policies, in a transaction: those that may stay active do, the others don't."""
    before = lock_rule_states()
    yield
    restore_activation(before)


RuleStates = list[tuple[RetentionRule, bool, datetime | None]]


def lock_rule_states() -> RuleStates:
    """Lock the policies before a change; returns each with whether it is active and since when."""
    lock_rules()
    return [(row.as_rule(), row.active, row.activated_at) for row in RetentionPolicy.objects.all()]


def restore_activation(before: RuleStates) -> None:
    """Set which policies are active after a change."""
    since = {(rule.pattern, rule.retention): at for rule, active, at in reversed(before) if active}
    rows = list(RetentionPolicy.objects.all())
    still_active = find_rules_still_active(
        [(rule, active) for rule, active, _ in before], [row.as_rule() for row in rows]
    )
    for row, active in zip(rows, still_active, strict=True):
        at = since.get((row.pattern, row.retention)) if active else None
        if (row.active, row.activated_at) != (active, at):
            RetentionPolicy.objects.filter(pk=row.pk).update(active=active, activated_at=at)


def replace_rules(rules: Sequence[RetentionRule]) -> int:
    """Replace all policies with ``rules``; returns how many there were."""
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
    """Record the exact rules, so that the log shows which applied when. They hold nothing private."""
    audit.record(
        "import_retention_rules",
        actor=actor,
        policies=[[rule.pattern, rule.retention] for rule in rules],
        replaced=replaced,
    )


def datasets_by_policy(user: Any) -> dict[int, list[str]]:
    """Names of the datasets that each policy applies to, by its position, without those hidden from
    ``user``."""
    hidden = set(Dataset.objects.hidden_from(user).values_list("pk", flat=True))
    applied: dict[int, list[str]] = {}
    for item in decide_all():
        if item.policy and item.dataset.pk not in hidden:
            applied.setdefault(item.policy.position, []).append(item.dataset.name)
    return applied


def export_retention_rules() -> str:
    """All policies as ``retention.yaml``."""
    return dump_retention_rules(policy.as_rule() for policy in RetentionPolicy.objects.all())
