"""A rule acts once someone has seen what it would delete; a change of rules deletes nothing more."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from datasets_app.core.errors import UserError
from datasets_app.models import AuditEvent, Dataset, RetentionPolicy
from datasets_app.retention.activate import (
    activate_retention,
    deactivate_retention,
    find_policies,
)
from datasets_app.retention.dry_run import preview_retention
from datasets_app.retention.rules import import_retention_rules
from tests.factories import import_file, make_dataset, make_sessions, write_jsonl

pytestmark = pytest.mark.django_db

TWO = 'policies: [{pattern: "keep_*", retention: indefinite}, {pattern: "*", retention: 1 year}]'


def active() -> list[tuple[str, bool]]:
    return list(RetentionPolicy.objects.order_by("position").values_list("pattern", "active"))


def test_what_was_shown_is_what_is_activated(tmp_path: Path) -> None:
    make_dataset(tmp_path, make_sessions(2))
    Dataset.objects.update(created_at=timezone.now() - timedelta(days=400))
    import_retention_rules(TWO)
    rules = find_policies([2])
    seen = preview_retention(rules)
    assert [(going.dataset, going.when) for going in seen.deletions] == [("support", "now")]
    import_file(write_jsonl(tmp_path / "more.jsonl", make_sessions(3)[4:]))
    with pytest.raises(UserError, match="would delete other data"):
        activate_retention(rules, expected_digest=seen.digest)
    assert active() == [("keep_*", False), ("*", False)]
    activate_retention(rules, expected_digest=preview_retention(rules).digest)
    assert active() == [("keep_*", False), ("*", True)]
    event = AuditEvent.objects.get(action="activate_retention")
    assert event.details["datasets_due_now"] == 1
    deactivate_retention(rules)
    assert active()[1] == ("*", False)
    with pytest.raises(UserError, match="no retention rule at position 7"):
        find_policies([7])


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (TWO, [True, True]),
        # A reason says nothing of what is deleted.
        (TWO.replace("1 year", "1 year, reason: long enough"), [True, True]),
        (TWO.replace("1 year", "2 years"), [True, False]),
        # What came before it kept datasets from it.
        ('policies: [{pattern: "*", retention: 1 year}]', [False]),
        (TWO.replace("keep_*", "stay_*"), [False, False]),
        # One more rule before it takes datasets from it at most.
        (
            TWO.replace("policies: [", 'policies: [{pattern: "demo_*", retention: 1 day}, '),
            [False, True, True],
        ),
        (
            'policies: [{pattern: "*", retention: 1 year}, {pattern: "keep_*", retention: indefinite}]',
            [False, True],
        ),
    ],
)
def test_a_file_leaves_active_what_can_delete_nothing_new(file: str, expected: list[bool]) -> None:
    import_retention_rules(TWO)
    RetentionPolicy.objects.update(active=True, activated_at=timezone.now())
    import_retention_rules(file)
    assert [is_active for _, is_active in active()] == expected
    assert not RetentionPolicy.objects.filter(active=True, activated_at=None).exists()
