"""Settling disputes under a schema: which come first, what is seen, and what a decision leaves behind."""

from pathlib import Path
from typing import Any

import pytest

from annotations_app.agreement.adjudicate import adjudicate, count_disputed, list_disputed
from annotations_app.criteria.schemas import import_schema
from annotations_app.models import Annotation, Campaign, Judgment
from datasets_app.core.errors import UserError
from datasets_app.models import AuditEvent, Turn
from tests.campaigns import get_user, lease_for, make_campaign, make_replies, submit
from tests.operations.test_judgments import QUALITY
from tests.web.test_adjudication import begin, turn_of
from tests.web.test_campaign_pages import address, words

pytestmark = pytest.mark.django_db

RIGHT: dict[str, Any] = {"correct": 1, "helpful": 3}
WRONG: dict[str, Any] = {"correct": 0, "faults": ["tone"], "helpful": 3, "why": "Too loud."}


@pytest.fixture
def disputed(tmp_path: Path) -> Campaign:
    """Of four replies all say the same of the first, one of three differs on the second, two of two on the
    third; of the fourth only words differ."""
    schema = import_schema(QUALITY).schema
    own = make_campaign(
        make_replies(tmp_path, 4), "ana", "ben", "cy", overlap=3, order="session", schema=schema
    )
    said = {
        "ana": [RIGHT, RIGHT, RIGHT, WRONG],
        "ben": [RIGHT, WRONG, WRONG, {**WRONG, "why": "Too long."}],
        "cy": [RIGHT, RIGHT],
    }
    for name, given in said.items():
        for answers in given:
            submit(lease_for(own, name).current, label=None, answers=answers)
    return own


def test_the_most_disputed_come_first(disputed: Campaign) -> None:
    found = list_disputed(disputed.dataset, "warm_v1", campaign=disputed)
    items = list(disputed.items.order_by("position").values_list("turn", flat=True))
    assert [(row.turn, row.labels, row.dispute) for row in found] == [
        (items[2], 2, 1_000_000), (items[1], 3, 666_666),
    ]  # fmt: skip
    assert count_disputed(disputed.dataset, "warm_v1", campaign=disputed) == (2, 0)
    later = list_disputed(disputed.dataset, "warm_v1", campaign=disputed, after=(1_000_000, items[2]))
    assert [row.turn for row in later] == [items[1]]


def test_they_come_one_by_one_until_all_are_settled(sign_in: Any, disputed: Campaign) -> None:
    client = sign_in("lead")
    where, seen = begin(client, disputed), []
    for _ in range(2):
        page = client.get(where)
        text = words(page.content.decode())
        for told in ("Is it correct? disputed", "No ×1", "ben", "Too loud.", "Tone"):
            assert told in text
        seen.append(turn_of(where))
        where = client.post(
            where,
            {"chosen.correct": "0", "chosen.faults": ["1"], "chosen.helpful": "2", "reason": "Heard it."},
        )["Location"]
        where = client.get(where, follow=False).headers.get("Location", where)
    assert "All 2 adjudicated" in client.get(where).content.decode()
    settled = Judgment.objects.filter(kind="adjudicated")
    assert set(settled.values_list("turn", flat=True)) == set(seen)
    assert not Annotation.objects.exists()
    for row in settled:
        assert (row.codes, row.texts) == ({"correct": 0, "faults": 2, "helpful": 2}, None)
        assert (row.rater.kind, row.rater.name, row.notes) == ("person", "lead", "Heard it.")
        assert (row.campaign, row.schema, row.persona_digest) == (
            disputed, disputed.schema, disputed.persona.digest,
        )  # fmt: skip
    assert Judgment.objects.filter(kind="label").count() == 10
    assert AuditEvent.objects.filter(action="adjudicate", details__schema="quality@1").count() == 2
    told = words(client.get(address("counted"), {"campaign": disputed.pk}).content.decode())
    assert "2 of 2 disputed replies adjudicated" in told


def test_what_all_agree_on_is_chosen_and_what_is_refused_stays(sign_in: Any, disputed: Campaign) -> None:
    client = sign_in("lead")
    where = begin(client, disputed)
    html = client.get(where).content.decode()
    chosen = [line for line in html.replace("\n", " ").split("<input") if " checked" in line.split(">")[0]]
    assert len(chosen) == 1
    assert 'name="chosen.helpful" value="2"' in chosen[0]
    page = client.post(where, {"chosen.correct": "1", "typed.why": "Fine.", "reason": ""})
    html = page.content.decode()
    assert "Helpful has no answer" in html
    assert ">Fine.</textarea>" in html
    assert not Judgment.objects.filter(kind="adjudicated").exists()


def test_a_decision_against_the_majority_needs_a_reason(disputed: Campaign) -> None:
    turn = Turn.objects.get(pk=list(disputed.items.order_by("position"))[1].turn_id)
    given: dict[str, Any] = {"campaign": disputed, "actor": get_user("ana")}
    with pytest.raises(UserError, match="otherwise: Is it correct. How helpful is it. Explain"):
        adjudicate(turn, "warm_v1", answers={**WRONG, "helpful": 1}, reason="", **given)
    first = adjudicate(turn, "warm_v1", answers=RIGHT, reason="", **given)
    second = adjudicate(turn, "warm_v1", answers=WRONG, reason="I asked.", **given)
    first.refresh_from_db()
    assert (first.kind, second.kind) == ("withdrawn", "adjudicated")
    assert second.rater.kind == "person"
