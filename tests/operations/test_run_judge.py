"""A judge answers for every reply, or says why not; whatever the endpoint does, nothing is lost."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from annotations_app.campaigns.edit import edit_campaign
from annotations_app.criteria.schemas import import_schema
from annotations_app.judges.judges import get_judge, import_judge
from annotations_app.judges.measure import measure_judge
from annotations_app.judges.parameters import JudgeOptions
from annotations_app.judges.run_judge import run_judge
from annotations_app.models import Annotation, Campaign, JudgeRun, Judgment, Verdict
from datasets_app.core.errors import UserError
from datasets_app.core.progress import OperationCanceled
from datasets_app.models import AuditEvent, Dataset, Session, Turn
from tests.campaigns import PERSONA_YAML, label_all_replies, make_campaign, make_persona, make_replies
from tests.factories import make_dataset, make_sessions
from tests.judges import CANARY, answer_on_brand, make_judge, reply_in
from tests.llm_server import LlmServer, RecordedRequest

pytestmark = pytest.mark.django_db(transaction=True)

FAULTS = ("429", "500", "hang", "cut", "not_json", "wrong_schema", "no_choices", "refusal", "prose")


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return make_replies(tmp_path, 40)


@pytest.fixture
def campaign(dataset: Dataset) -> Campaign:
    return make_campaign(dataset, "ana")


@pytest.fixture(autouse=True)
def _calls(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.LLM_TIMEOUT, settings.LLM_RETRIES = 5, 3
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    monkeypatch.setattr(
        "datasets_app.domain.model_calls.retry_rules.RetryPolicy.compute_wait", lambda *_: 0.0
    )


def judged_values(**of: Any) -> dict[int, int]:
    return {one.turn_id: one.codes["on_brand"] for one in Verdict.objects.filter(failure="", **of)}


# --- without a network -----------------------------------------------------------------------------


def test_the_offline_judge_goes_by_lexicon_and_style(dataset: Dataset) -> None:
    yaml = PERSONA_YAML.replace("voice:", "lexicon: {preferred: [gladly], avoid: [sadly]}\nvoice:")
    yaml += "style_rules: {contractions: {allowed: false}}\n"
    campaign = make_campaign(dataset, "ana", persona=make_persona("strict", yaml))
    turns = list(Turn.objects.filter(dataset=dataset, role="assistant").order_by("pk")[:3])
    for turn, text in zip(turns, ("Sadly, no.", "It's here.", "Gladly: here."), strict=True):
        Turn.objects.filter(dataset=dataset, pk=turn.pk).update(text=text)
    outcome = run_judge(campaign, get_judge("offline"))
    assert (outcome.judged, outcome.before, outcome.not_judged, outcome.is_complete) == (40, 0, {}, True)
    values = judged_values()
    assert [values[turn.pk] for turn in turns] == [0, 0, 1]
    assert Verdict.objects.get(turn_id=turns[0].pk).rationale == "Avoided words: Sadly."
    assert run_judge(campaign, get_judge("offline")).before == 40
    assert Verdict.objects.count() == 40
    assert JudgeRun.objects.get().sent == 0
    # No label of a person, and nothing that is counted as one.
    assert not Annotation.objects.exists()
    assert not Judgment.objects.exists()


def test_the_offline_judge_answers_a_criterion_that_it_is_given(dataset: Dataset) -> None:
    text = """\
schema: two
criteria:
  - {key: voice, question: Is it?, kind: yes_no}
  - {key: why, question: Which?, kind: choice, answers: [a, b]}
"""
    campaign = make_campaign(dataset, "ana", schema=import_schema(text).schema)
    with pytest.raises(UserError, match="one yes/no criterion"):
        run_judge(campaign, get_judge("offline"))
    judge = import_judge("judge: voice\nmodel: offline\ncriteria: [voice]\n").judge
    assert run_judge(campaign, judge).judged == 40
    assert {tuple(one.codes) for one in Verdict.objects.all()} == {("voice",)}


# --- gates -----------------------------------------------------------------------------------------


def test_nothing_is_sent_unless_the_dataset_names_the_endpoint(campaign: Campaign) -> None:
    with LlmServer(answer=answer_on_brand) as server:
        judge = make_judge(server)
        with pytest.raises(UserError, match="doesn't allow its texts to be sent to"):
            run_judge(campaign, judge)
        assert not server.asked
        make_judge(server, allow=campaign.dataset)
        assert run_judge(campaign, judge).judged == 40
    begun, ended = AuditEvent.objects.filter(action="judge").order_by("pk")
    assert begun.details["missing"] == 40
    assert (ended.details["sent"], ended.details["judged"]) == (40, 40)
    assert ended.details["endpoint"] == server.url.split("/")[2]


def test_raw_text_is_sent_only_by_an_override(tmp_path: Path) -> None:
    lines = make_sessions(3, text="Write to ana.ruiz@harbour.com, please.")
    raw = make_dataset(tmp_path, lines)
    campaign = make_campaign(raw, "ana", override="The annotators are the support team.")
    with LlmServer(answer=answer_on_brand) as server:
        judge = make_judge(server, allow=raw)
        with pytest.raises(UserError, match="can't be sent to a model"):
            run_judge(campaign, judge)
        assert not server.asked
        assert run_judge(campaign, judge, override="It is a test.").judged == 3
    purposes = AuditEvent.objects.filter(action="override").order_by("pk").values_list("details", flat=True)
    assert [details["purpose"] for details in purposes] == ["annotate", "judge"]


def test_excluded_sessions_are_left_out_and_counted(campaign: Campaign) -> None:
    excluded = list(Session.objects.filter(dataset=campaign.dataset).values_list("pk", flat=True)[:3])
    Session.objects.filter(dataset=campaign.dataset, pk__in=excluded).update(excluded=True)
    outcome = run_judge(campaign, get_judge("offline"))
    assert (outcome.judged, outcome.excluded) == (37, 3)


# --- endpoints that fail ---------------------------------------------------------------------------


def test_whatever_an_endpoint_does_nothing_is_lost_and_a_failure_is_no_judgment(
    campaign: Campaign, caplog: pytest.LogCaptureFixture, settings: Any
) -> None:
    settings.LLM_TIMEOUT, settings.LLM_RETRIES = 2, 1
    caplog.set_level(logging.DEBUG)
    with LlmServer(answer=answer_on_brand, faults=FAULTS, share=0.09, seed=5) as server:
        judge = make_judge(server, allow=campaign.dataset)
        first = run_judge(campaign, judge)
        missing = sum(first.not_judged.values())
        assert first.judged + missing == 40
        assert missing
        failed = Verdict.objects.exclude(failure="")
        assert failed.count() == missing
        assert all(one.codes == {} for one in failed)
        server.faults = ()
        asked = len(server.asked)
        again = run_judge(campaign, judge)
        assert (again.judged, again.before, again.is_complete) == (missing, 40 - missing, True)
        assert len(server.asked) == asked + missing
    assert len(judged_values()) == 40
    texts = dict(Turn.objects.filter(dataset=campaign.dataset).values_list("pk", "text"))
    assert judged_values() == {pk: 1 - len(texts[pk]) % 2 for pk in judged_values()}
    stored = [*Verdict.objects.values(), *JudgeRun.objects.values(), *AuditEvent.objects.values("details")]
    assert CANARY not in json.dumps(stored, default=str) + caplog.text
    assert "sk-shown-by-the-server" not in json.dumps(stored, default=str) + caplog.text


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("refusal", "the model declined to answer"),
        ("prose", "the answer isn't the requested JSON"),
        ("not_json", "the answer isn't the requested JSON"),
        ("wrong_schema", "the answer to on_brand is missing"),
        ("500", "errors of the server (500)"),
    ],
)
def test_what_is_not_judged_says_why(campaign: Campaign, fault: str, reason: str, settings: Any) -> None:
    settings.LLM_RETRIES = 1
    with LlmServer(answer=answer_on_brand, first=[fault] * 2) as server:
        judge = make_judge(server, allow=campaign.dataset)
        outcome = run_judge(campaign, judge, JudgeOptions(concurrency=1))
    assert outcome.not_judged == {reason: 1}
    assert outcome.judged == 39


def test_a_budget_in_tokens_and_one_in_money_hold(campaign: Campaign) -> None:
    with LlmServer(answer=answer_on_brand, latency=0.01) as server:
        judge = make_judge(server, allow=campaign.dataset, prices={"prompt": 1000, "answer": 2000})
        first = run_judge(campaign, judge, JudgeOptions(max_tokens=6000))
        assert "The token budget is spent" in first.stopped
        assert 0 < first.judged < 40
        assert first.left == 40 - first.judged
        assert server.tokens <= 6000
        assert first.tokens == server.tokens
        spent = first.cost
        assert spent is not None
        second = run_judge(campaign, judge, JudgeOptions(max_cost=spent + 3))
        assert second.cost is not None
        assert spent < second.cost <= spent + 3
        assert second.before == first.judged
        assert run_judge(campaign, judge).is_complete
        assert sum(asked.answered for asked in server.asked) == 40
    with pytest.raises(UserError, match="needs the judge's prices"):
        run_judge(campaign, make_judge(server, judge="free"), JudgeOptions(max_cost=1))


def test_a_canceled_run_keeps_what_came(campaign: Campaign) -> None:
    def cancel(done: int, total: int | None = None) -> None:
        if done >= 10:
            raise OperationCanceled

    with LlmServer(answer=answer_on_brand, latency=0.02) as server:
        judge = make_judge(server, allow=campaign.dataset)
        with pytest.raises(OperationCanceled):
            run_judge(campaign, judge, JudgeOptions(concurrency=2), report_progress=cancel)
        kept = Verdict.objects.count()
        assert 10 <= kept <= 14
        assert run_judge(campaign, judge).before == kept
        assert sum(asked.answered for asked in server.asked) == 40


# --- what is asked ---------------------------------------------------------------------------------


def test_examples_are_of_the_training_split_and_are_not_judged(campaign: Campaign) -> None:
    sessions = Session.objects.filter(dataset=campaign.dataset).order_by("pk")
    for place, session in enumerate(sessions):
        Session.objects.filter(dataset=campaign.dataset, pk=session.pk).update(
            split=("train", "validation")[place % 2]
        )
    label_all_replies(campaign, "ana")
    for place, one in enumerate(Annotation.objects.order_by("turn_id")):
        Annotation.objects.filter(pk=one.pk).update(label=place % 4 // 2)
    with LlmServer(answer=answer_on_brand) as server:
        judge = make_judge(server, allow=campaign.dataset, examples=6)
        outcome = run_judge(campaign, judge)
        system = server.asked[0].body["messages"][0]["content"]
    assert (outcome.judged, outcome.examples) == (34, 6)
    assert system.count('"on_brand": 1') == system.count('"on_brand": 0') == 3
    shown = Turn.objects.filter(dataset=campaign.dataset, pk__in=JudgeRun.objects.get().examples)
    assert set(shown.values_list("session__split", flat=True)) == {"train"}
    assert not Verdict.objects.filter(turn_id__in=[turn.pk for turn in shown]).exists()


def test_another_prompt_is_another_run_and_repeats_are_asked_once_each(campaign: Campaign) -> None:
    with LlmServer(answer=answer_on_brand) as server:
        judge = make_judge(server, allow=campaign.dataset)
        assert run_judge(campaign, judge, JudgeOptions(repeats=3)).judged == 120
        assert run_judge(campaign, judge).before == 40
        assert len(server.asked) == 120
        Campaign.objects.filter(pk=campaign.pk).update(guidelines="Read twice.")
        changed = Campaign.objects.get(pk=campaign.pk)
        assert run_judge(changed, judge).judged == 40
        assert "Read twice." in server.asked[-1].body["messages"][0]["content"]
    assert JudgeRun.objects.count() == 2


def test_all_kinds_of_criteria_are_read(dataset: Dataset) -> None:
    text = """\
schema: kinds
criteria:
  - {key: correct, question: Is it?, kind: yes_no}
  - {key: faults, question: Which?, kind: tags, answers: [facts, tone], when: {correct: 0}}
  - {key: helpful, question: How?, kind: ordinal, answers: [1, 2, 3]}
  - {key: minutes, question: Long?, kind: number, optional: true}
  - {key: why, question: Why?, kind: text}
"""
    said = iter(
        [
            {"correct": "0", "faults": ["tone"], "helpful": "3"},
            {"correct": True, "faults": None, "helpful": 2, "minutes": 1.5},
            {"correct": 1, "faults": ["tone"], "helpful": 1},
            {"correct": 2, "helpful": 1},
        ]
    )

    def answer(request: RecordedRequest) -> str:
        assert reply_in(request)
        answers = next(said, {"correct": 1, "helpful": 2})
        return f"<think>{{}}</think>Sure: {json.dumps({'answers': answers})}"

    campaign = make_campaign(dataset, "ana", schema=import_schema(text).schema)
    with LlmServer(answer=answer) as server:
        judge = make_judge(server, allow=dataset)
        run_judge(campaign, judge, JudgeOptions(concurrency=1))
        system = server.asked[0].body["messages"][0]["content"]
    codes = [one.codes for one in Verdict.objects.order_by("pk")[:4]]
    assert codes[:3] == [
        {"correct": 0, "faults": 2, "helpful": 2},
        {"correct": 1, "helpful": 1, "minutes": 1.5},
        {"correct": 1, "helpful": 0},
    ]
    assert codes[3] == {"correct": 1, "helpful": 1}  # of its second try
    assert "why" not in system


def test_a_judge_of_one_criterion_answers_it_though_it_is_asked_after_another(dataset: Dataset) -> None:
    text = """\
schema: warmth
criteria:
  - {key: relevant, question: Is it?, kind: yes_no}
  - {key: warm, question: Is it warm?, kind: yes_no, when: {relevant: 1}}
"""
    campaign = make_campaign(dataset, "ana", schema=import_schema(text).schema)
    with LlmServer(answer=lambda _: json.dumps({"answers": {"warm": 1}})) as server:
        outcome = run_judge(campaign, make_judge(server, allow=dataset, criteria=["warm"]))
        assert "Only if" not in server.asked[0].body["messages"][0]["content"]
    assert (outcome.judged, outcome.not_judged) == (40, {})


def test_a_criterion_that_changes_though_its_prompt_does_not_is_asked_again(dataset: Dataset) -> None:
    """The same answers, in an order: another criterion, of which the prompt says the same."""
    text = "schema: moods\ncriteria:\n  - {key: mood, question: Which?, kind: choice, answers: [low, high]}\n"
    campaign = make_campaign(dataset, "ana", schema=import_schema(text).schema)
    with LlmServer(answer=lambda _: json.dumps({"answers": {"mood": "high"}})) as server:
        judge = make_judge(server, allow=dataset)
        assert run_judge(campaign, judge).judged == 40
        ordered = import_schema(text.replace("choice", "ordinal")).schema
        edit_campaign(campaign, changes={"schema": ordered}, actor=None)
        changed = Campaign.objects.get(pk=campaign.pk)
        assert measure_judge(JudgeRun.objects.get()).outdated == ["mood"]
        again = run_judge(changed, judge)
        assert (again.judged, again.before) == (40, 0)
        assert (
            server.asked[-1].prompt.split("Conversation")[0]
            == server.asked[0].prompt.split("Conversation")[0]
        )
        assert run_judge(changed, judge).before == 40
    latest = JudgeRun.objects.get(pk=again.run)
    assert measure_judge(latest).outdated == []
    assert JudgeRun.objects.count() == 2
