"""Juries for criteria of a schema: those asked only after another, optional ones, and those of pairs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotations_app.criteria.schemas import import_schema
from annotations_app.judges.costs import compute_cost
from annotations_app.judges.form_jury import form_jury
from annotations_app.judges.parameters import JudgeOptions
from annotations_app.judges.run_judge import run_judge
from annotations_app.judges.run_jury import NOBODY
from annotations_app.models import Campaign, JudgeRun, Verdict
from datasets_app.catalog.edit import edit_dataset
from datasets_app.domain.model_calls.budget import TokensUsed
from datasets_app.models import Turn
from tests.campaigns import get_user, lease_for, make_campaign, make_replies, submit
from tests.judges import make_judge, reply_in
from tests.llm_server import LlmServer, RecordedRequest
from tests.operations.test_form_jury import make_members
from tests.operations.test_judge_pairs import compare, make_versions, prefer_june

pytestmark = pytest.mark.django_db(transaction=True)

REPLIES = 60
WARM_IF_RELEVANT = """\
schema: warmth
criteria:
  - {key: relevant, question: Is it?, kind: yes_no}
  - {key: warm, question: Is it warm?, kind: yes_no, when: {relevant: 1}}
"""


def make_labeled(path: Path, schema: str, read: Callable[[str], dict[str, Any]]) -> Campaign:
    """Two of three replies are sad, each twentieth an aside; ``read`` gives the answers of people."""
    dataset = make_replies(path, REPLIES)
    for number, turn in enumerate(Turn.objects.filter(dataset=dataset, role="assistant").order_by("pk")):
        text = (
            f"{'Sadly' if number % 3 else 'Gladly'}{', aside' if number % 20 == 7 else ''}. Number {number}."
        )
        Turn.objects.filter(dataset=dataset, pk=turn.pk).update(text=text)
    campaign = make_campaign(dataset, "ana", schema=import_schema(schema).schema)
    while current := lease_for(campaign, "ana").current:
        current.annotator = get_user("ana")
        submit(current, label=None, answers=read(current.item.turn.text))
    return campaign


def list_said(judge: str) -> list[tuple[str, dict[str, int], str]]:
    """(reply, answers, rationale) of what it judged."""
    said = Verdict.objects.filter(run__judge__name=judge, failure="")
    return list(said.values_list("turn__text", "codes", "rationale"))


def say(answers: dict[str, Any]) -> str:
    return json.dumps({"rationale": "So it is.", "answers": answers})


def test_a_criterion_asked_after_another_is_judged_though_the_other_has_too_few_labels(
    tmp_path: Path,
) -> None:
    def read(text: str) -> dict[str, Any]:
        return {"relevant": 0} if "aside" in text else {"relevant": 1, "warm": int("Gladly" in text)}

    campaign = make_labeled(tmp_path, WARM_IF_RELEVANT, read)
    with LlmServer(answer=lambda request: say(read(reply_in(request)))) as server:
        formed = form_jury(campaign, "panel", make_members(server, campaign))
    relevant = REPLIES - 3
    assert formed.learned == {"warm": relevant}
    assert formed.too_few == {"relevant": "fewer than 5 replies of a second answer"}
    assert not formed.is_complete
    said = list_said("panel")
    assert len(said) == formed.outcome.judged == REPLIES
    # Where it doesn't apply no answer is one: it isn't left unjudged.
    assert formed.outcome.not_judged == {}
    assert [one["missing"] for one in formed.outcome.members] == [0, 0]
    for text, codes, rationale in said:
        assert codes == ({} if "aside" in text else {"warm": int("Gladly" in text)})
        assert (rationale == "Doesn't apply, by small@1, large@1.") == ("aside" in text)


def test_who_failed_where_a_criterion_does_not_apply_is_counted_and_nobody_else_is_no_judgment(
    tmp_path: Path,
) -> None:
    def read(text: str) -> dict[str, Any]:
        return {"relevant": 0} if "aside" in text else {"relevant": 1, "warm": int("Gladly" in text)}

    def decline(request: RecordedRequest) -> str:
        text = reply_in(request)
        fails = "Number 7." in text or ("Number 27." in text and request.body["model"] == "small")
        return "no" if fails else say(read(text))

    campaign = make_labeled(tmp_path, WARM_IF_RELEVANT, read)
    with LlmServer(answer=decline) as server:
        formed = form_jury(campaign, "panel", make_members(server, campaign))
    assert [one["missing"] for one in formed.outcome.members] == [2, 1]
    assert formed.outcome.not_judged == {NOBODY: 1}
    asides = {text: codes for text, codes, _ in list_said("panel") if "aside" in text}
    assert len(asides) == 2
    assert not any(asides.values())


def test_a_judge_of_one_criterion_says_that_it_does_not_apply(tmp_path: Path) -> None:
    def read(text: str) -> dict[str, Any]:
        return {"relevant": 0} if "aside" in text else {"relevant": 1, "warm": int("Gladly" in text)}

    def answer(request: RecordedRequest) -> str:
        text = reply_in(request)
        if "Number 7." in text:
            return say({})
        if "Number 27." in text:
            return say({"warm": None})
        # Another criterion than the one that was asked is no answer.
        return say({"mood": 1} if "Number 47." in text else {"warm": read(text)["warm"]})

    campaign = make_labeled(tmp_path, WARM_IF_RELEVANT, read)
    with LlmServer(answer=answer) as server:
        outcome = run_judge(campaign, make_judge(server, allow=campaign.dataset, criteria=["warm"]))
    assert outcome.not_judged == {"no criterion has an answer": 1}
    assert [codes for text, codes, _ in list_said("brand") if "aside" in text] == [{}, {}]
    assert outcome.judged == REPLIES - 1


def test_where_a_member_said_nothing_of_an_optional_criterion_the_next_is_asked(tmp_path: Path) -> None:
    schema = """\
schema: warmth
criteria:
  - {key: warm, question: Is it warm?, kind: yes_no, optional: true}
"""

    def read(text: str) -> dict[str, Any]:
        return {"warm": int("Gladly" in text)}

    def decline(request: RecordedRequest) -> str:
        text = reply_in(request)
        return "no" if request.body["model"] == "small" and "aside" in text else say(read(text))

    campaign = make_labeled(tmp_path, schema, read)
    with LlmServer(answer=decline) as server:
        formed = form_jury(campaign, "cascade", make_members(server, campaign), certainty=0.8)
    small, large = formed.outcome.members
    assert (small["missing"], large["asked"], large["missing"]) == (3, 3, 0)
    assert formed.outcome.not_judged == {}
    said = Verdict.objects.filter(run__judge__name="cascade", turn__text__contains="aside")
    assert [one.rationale.endswith("sure, by small@1, large@1.") for one in said] == [True] * 3


def test_a_member_that_judges_pairs_both_ways_round_costs_twice_a_judgment(tmp_path: Path) -> None:
    campaign = compare(make_versions(tmp_path, REPLIES))
    for number in range(REPLIES):
        submit(lease_for(campaign, "ana").current, label=None, answers={"better": "ab"[number % 2]})
    with LlmServer(answer=prefer_june) as server:
        members = make_members(server, campaign)
        edit_dataset(campaign.other_dataset.pk, {"judge_endpoints": [server.url]}, actor=None)
        formed = form_jury(campaign, "pairs", members, options=JudgeOptions(swap=True))
        assert len(server.asked) == 2 * 2 * REPLIES
    run = JudgeRun.objects.get(judge__name="pairs")
    assert [one["asked"] for one in formed.outcome.members] == [REPLIES, REPLIES]
    assert sum(one["tokens"] for one in formed.outcome.members) == TokensUsed(**run.used).total
    costs = [compute_cost(one) for one in JudgeRun.objects.filter(judge__name__in=members).order_by("pk")]
    assert [one["cost"] for one in formed.outcome.members] == pytest.approx(costs)
    assert formed.outcome.cost == pytest.approx(sum(costs))


def test_criteria_that_no_jury_answers_are_named_and_leave_nothing_incomplete(
    tmp_path: Path, manage: Any
) -> None:
    schema = """\
schema: warmth
criteria:
  - {key: warm, question: Is it warm?, kind: yes_no}
  - {key: faults, question: Which?, kind: tags, answers: [facts, tone], optional: true}
  - {key: comment, question: What else?, kind: text, optional: true}
"""

    def read(text: str) -> dict[str, Any]:
        return {"warm": int("Gladly" in text)}

    campaign = make_labeled(tmp_path, schema, read)
    with LlmServer(answer=lambda request: say(read(reply_in(request)))) as server:
        make_members(server, campaign)
        told = manage("form_jury", campaign.name, "--name", "panel", "--members", "small,large")
    assert told.returncode == 0, told.stderr
    for key in ("faults", "comment"):
        assert f"{key}: left out, juries answer criteria with 2 to 12 answers, one of them." in told.stdout
