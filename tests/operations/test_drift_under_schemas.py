"""A change of checks under a schema, where each criterion counts."""

import pytest

from annotations_app.campaigns.edit import edit_campaign
from annotations_app.criteria.schemas import import_schema
from annotations_app.labeling import drift
from annotations_app.labeling.drift import find_drifts, pause_and_requeue
from annotations_app.labeling.lease_next import lease_next
from annotations_app.models import Campaign, Judgment
from datasets_app.core.errors import UserError
from tests.campaigns import (
    find_inconsistencies,
    get_user,
    make_annotators,
    make_campaign,
    make_replies,
    submit,
)

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("drift under a schema")]

SCHEMA = """\
schema: quality
criteria:
  - {key: correct, question: Is it correct?, kind: yes_no}
  - {key: tone, question: Which tone?, kind: choice, answers: [cold, warm]}
  - {key: why, question: Why?, kind: text}
"""


@pytest.fixture(scope="module")
def judged(rows_of_module: None, tmp_path_factory: pytest.TempPathFactory) -> int:
    """Ana repeats half of 160 replies; in the last, every second answer to one criterion changes."""
    schema = import_schema(SCHEMA).schema
    replies = make_replies(tmp_path_factory.mktemp("judged"), 40, turns=8)
    made = make_campaign(replies, "ana", overlap=1, repeat_share=0.5, schema=schema)
    repeats = 0
    while current := lease_next(made, get_user("ana")).current:
        repeats += current.repeat
        tone = "warm" if current.repeat and repeats > 55 and repeats % 2 else "cold"
        submit(current, label=None, answers={"correct": 1, "tone": tone, "why": f"{repeats}"})
    assert repeats > 70
    return made.pk


@pytest.fixture
def quality(judged: int) -> Campaign:
    return Campaign.objects.get(pk=judged)


def test_a_change_is_found_under_a_schema(quality: Campaign) -> None:
    [found] = find_drifts(quality)
    assert (found.user.username, found.kind, found.before) == ("ana", drift.REPEAT, 1.0)
    assert found.after < 0.8
    with pytest.raises(UserError, match="Each reply needs 1 annotator"):
        pause_and_requeue(quality, get_user("ana"), actor=None)
    make_annotators("ben")
    edit_campaign(quality, changes={"annotators": ["ana", "ben"]}, actor=None)
    assert pause_and_requeue(quality, get_user("ana"), actor=None) == found.labels
    assert Judgment.objects.filter(kind="withdrawn", assignment=None).count() == found.labels
    assert find_inconsistencies() == []
    assert find_drifts(quality) == []


def test_answers_under_two_versions_of_a_schema_are_not_compared(quality: Campaign) -> None:
    """First labels that were asked again, of which codes mean something else now."""
    Judgment.objects.filter(assignment__repeat=True).update(codes={"correct": 1, "tone": 0})
    later = import_schema(SCHEMA.replace("[cold, warm]", "[warm, cold]")).schema
    first = Judgment.objects.filter(assignment__repeat=False).order_by("-assignment__decided_at")
    keys = list(first.values_list("pk", flat=True)[:80])
    Judgment.objects.filter(pk__in=keys).update(schema=later, codes={"correct": 1, "tone": 1})
    assert find_drifts(quality) == []
