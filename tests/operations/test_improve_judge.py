"""Better prompts from disagreements: an endpoint with a planted fault, which instructions can put right."""

import json
import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotations_app.domain.to_json import to_json
from annotations_app.judges.improve_judge import Improvement, improve_judge
from annotations_app.judges.judges import get_judge
from annotations_app.judges.parameters import ImproveParameters
from annotations_app.judges.run_judge import run_judge
from annotations_app.models import Annotation, Campaign, Judge, JudgeRun, Verdict
from datasets_app.core.errors import UserError
from datasets_app.domain.model_calls.budget import TokensUsed
from datasets_app.jobs import runs
from datasets_app.models import AuditEvent, JobRun, Session, Turn
from tests.campaigns import label_all_replies, make_campaign, make_replies
from tests.everything import make_user_with
from tests.judges import CANARY, make_judge, reply_in
from tests.llm_server import LlmServer, RecordedRequest

pytestmark = pytest.mark.django_db(transaction=True)

FIX, HARM = "Invoices are fine.", "Nothing is fine."
SPLITS = ("train", "validation", "validation", "test")


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    """80 replies: every third is off-brand; every second is about an invoice, which the judge dislikes."""
    dataset = make_replies(tmp_path, 80)
    campaign = make_campaign(dataset, "ana")
    for number, turn in enumerate(Turn.objects.filter(dataset=dataset, role="assistant").order_by("pk")):
        words = ["Sadly" if number % 3 == 0 else "Gladly", "an invoice" if number % 2 else "a letter"]
        split = SPLITS[number // 6 % 4]
        Turn.objects.filter(dataset=dataset, pk=turn.pk).update(
            text=f"{' '.join(words)} for the {split} case."
        )
        Session.objects.filter(dataset=dataset, pk=turn.session_id).update(split=split)
    label_all_replies(campaign, "ana")
    for one in Annotation.objects.filter(campaign=campaign).select_related("turn"):
        Annotation.objects.filter(pk=one.pk).update(label=int("Gladly" in one.turn.text))
    return campaign


def answers(*instructions: str) -> Any:
    """A judge that dislikes invoices unless told otherwise, and writes these instructions when asked."""
    written: Iterator[str] = iter(instructions)

    def answer(request: RecordedRequest) -> str:
        system = request.body["messages"][0]["content"]
        if system.startswith("You improve"):
            return json.dumps({"instructions": next(written)})
        text = reply_in(request)
        wrong = "invoice" in text and FIX not in system
        value = 0 if HARM in system or wrong or "Sadly" in text else 1
        return json.dumps({"rationale": "So it is.", "answers": {"on_brand": value}})

    return answer


def improve(campaign: Campaign, server: LlmServer, **options: Any) -> Improvement:
    return improve_judge(campaign, make_judge(server, allow=campaign.dataset), **options)


def test_only_a_prompt_that_surely_agrees_better_is_accepted_and_the_test_split_stays_unseen(
    campaign: Campaign,
) -> None:
    with LlmServer(answer=answers(HARM, FIX)) as server:
        found = improve(campaign, server, tries=3)
        prompts = [asked.prompt for asked in server.asked]
    assert [(one.judge, one.what, one.accepted) for one in found.proposals] == [
        ("brand.draft@1", "examples", False),
        ("brand.draft@2", "instructions", False),
        ("brand.draft@3", "instructions", True),
    ]
    assert (found.judge, found.tries) == ("brand@2", 3)
    worse, better = (one.change for one in found.proposals[1:])
    assert worse is not None
    assert better is not None
    assert worse.difference.value is not None
    assert worse.difference.value < 0
    assert better.difference.value == pytest.approx(1 / 3, abs=0.05)
    assert better.bound is not None
    assert better.difference.low is not None
    # The third try has a twelfth of the risk: all tries there will ever be have 2.5 % together.
    deviations = (better.difference.value - better.bound) / (better.difference.value - better.difference.low)
    assert deviations * 1.96 == pytest.approx(NormalDist().inv_cdf(1 - 0.025 / 12), rel=1e-3)
    assert better.bound > 0
    assert not any("for the test case" in prompt for prompt in prompts)
    # What is shown to the model is of the training split.
    asked = [prompt for prompt in prompts if prompt.startswith("You improve")]
    assert len(asked) == 2
    assert all("for the train case" in prompt and "validation" not in prompt for prompt in asked)
    assert '"people say": "On-brand", "the judge says": "Off-brand", "because": "So it is."' in asked[0]
    accepted = get_judge("brand")
    assert FIX in accepted.content.instructions
    # On the locked test, which decided nothing, it is right more often.
    replies = Turn.objects.filter(dataset=campaign.dataset, role="assistant", session__split="test")
    texts = dict(replies.values_list("pk", "text"))
    right = []
    with LlmServer(answer=answers(), port=server.port):
        for judge in (get_judge("brand@1"), accepted):
            run = JudgeRun.objects.get(pk=run_judge(campaign, judge, only=list(texts)).run)
            said = Verdict.objects.filter(run=run, turn__in=texts).values_list("turn_id", "codes")
            right.append(sum(codes["on_brand"] == int("Gladly" in texts[pk]) for pk, codes in said))
    assert right[0] < right[1] == len(texts)
    assert Verdict.objects.filter(run__judge=accepted, failure="").count() == better.replies + len(texts)
    assert AuditEvent.objects.filter(action="improve_judge").count() == 3


def test_sessions_excluded_since_the_judge_ran_count_for_no_version(campaign: Campaign) -> None:
    with LlmServer(answer=answers(f"\x00{FIX}\r")) as server:
        run_judge(campaign, make_judge(server, allow=campaign.dataset))
        letters = Turn.objects.filter(dataset=campaign.dataset, text__contains="letter for the validation")
        excluded = letters.values_list("session", flat=True)[:3]
        Session.objects.filter(dataset=campaign.dataset, pk__in=list(excluded)).update(excluded=True)
        better = improve(campaign, server, tries=2).proposals[-1]
    assert better.accepted
    assert better.instructions == FIX
    assert better.change is not None
    assert better.change.lost == 0


def test_a_name_without_room_for_its_drafts_is_refused(campaign: Campaign) -> None:
    with LlmServer(answer=answers()) as server:
        judge = make_judge(server, allow=campaign.dataset)
        judge.name = "b" * 95
        with pytest.raises(UserError, match="at most 94 characters"):
            improve_judge(campaign, judge)


def test_nothing_is_proposed_where_nobody_differs(campaign: Campaign) -> None:
    with LlmServer(answer=answers(FIX, HARM, HARM)) as server:
        first = improve(campaign, server, tries=4)
        assert [one.accepted for one in first.proposals] == [False, True, False]
        assert "differs from most people on no reply" in first.proposals[-1].problem
        with pytest.raises(UserError, match="Try 1 to 10 prompts"):
            improve(campaign, server, tries=0)
        with pytest.raises(UserError, match="offline judge has no prompt"):
            improve_judge(campaign, get_judge("offline"))
    Session.objects.filter(dataset=campaign.dataset, split="validation").update(split="train")
    with pytest.raises(UserError, match="No reply of the validation split has a label"):
        improve_judge(campaign, get_judge("brand"))


def test_a_failing_endpoint_and_a_budget_end_it_without_a_version(campaign: Campaign, settings: Any) -> None:
    settings.LLM_RETRIES = 0
    with LlmServer(answer=answers("short"), key="") as server:
        # What the judge has used under another prompt doesn't add to the budget.
        some = list(campaign.items.values_list("turn_id", flat=True)[:10])
        run_judge(campaign, make_judge(server, allow=campaign.dataset), only=some)
        used, campaign.guidelines = server.tokens, "Be kind."
        spent = improve(campaign, server, max_tokens=used)
        assert "token budget is spent" in spent.proposals[-1].problem
        assert server.tokens <= 2 * used
        server.answer = lambda request: "no JSON"
        said = improve(campaign, server, tries=1)
    assert said.judge == "brand@1"
    assert not said.proposals[0].accepted
    assert Judge.objects.filter(name="brand").count() == 1


@pytest.mark.slow
def test_a_killed_worker_is_followed_by_one_with_what_is_left_of_the_budget(
    campaign: Campaign, processes: Any, wait_until: Any
) -> None:
    """Killed while the second draft is measured: no try is lost or made twice, no token is forgotten."""
    second = count(0)

    def go_silent(request: RecordedRequest) -> str:
        """After ten judgments of the second draft, until the worker is killed: it can't be done before."""
        return "hang" if HARM in request.body["messages"][0]["content"] and next(second) >= 10 else ""

    with LlmServer(answer=answers(HARM, FIX), fault_for=go_silent) as server:
        job, worker = start_improving(campaign, server, processes, tries=3, max_tokens=1_000_000)
        verdicts = Verdict.objects.filter(run__judge__name="brand.draft", run__judge__version=2)
        wait_until(lambda: verdicts.count() == 10, 60)
        processes.kill(worker)
        server.fault_for = None
        job.refresh_from_db()
        assert job.parameters["state"]["done"] == 1
        assert job.parameters["state"]["draft"] == ["brand.draft@2", "instructions"]
        resume(job, processes, wait_until)
    assert (job.state, job.error) == ("done", "")
    assert (job.result["before"], job.result["judge"], job.result["tries"]) == (1, "brand@2", 3)
    assert [one["judge"] for one in job.result["proposals"]] == ["brand.draft@2", "brand.draft@3"]
    state = job.parameters["state"]
    used = [TokensUsed(**run.used).total for run in JudgeRun.objects.all()]
    assert state["earlier"] == 0
    # What was on its way at the kill counts as spent.
    assert sum(used) + state["written"] >= server.tokens


@pytest.mark.slow
def test_a_worker_killed_while_nobody_writes_instructions_is_followed_by_one(
    campaign: Campaign, processes: Any, wait_until: Any
) -> None:
    with LlmServer(answer=answers(*[FIX] * 9), fault_for=fail_to_write("hang")) as server:
        processes.environment |= {"OPENAI_API_KEY": CANARY}
        job, worker = start_improving(campaign, server, processes, tries=2, max_tokens=1_000_000)
        wait_until(lambda: JobRun.objects.get(pk=job.pk).parameters.get("state", {}).get("written"), 60)
        processes.kill(worker)
        server.fault_for = None
        answered = server.tokens
        resume(job, processes, wait_until)
        assert server.tokens > answered
    assert (job.state, job.error) == ("done", "")
    assert (job.result["before"], job.result["judge"], job.result["tries"]) == (1, "brand@2", 2)
    used = [TokensUsed(**run.used).total for run in JudgeRun.objects.all()]
    # The call that got no answer counts with what it may have cost.
    assert sum(used) + job.parameters["state"]["written"] >= server.tokens
    assert CANARY not in processes.log.read_text() + read_rows()


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ("hang", "no answer in time"),
        ("429", "too many requests (429)"),
        ("500", "errors of the server (500)"),
        ("cut", "the connection broke"),
        ("refusal", "the model declined to answer"),
        ("not_json", "the model wrote no instructions that can be read"),
        ("prose", "the model wrote no instructions that can be read"),
    ],
)
def test_where_no_instructions_come_nothing_is_lost_and_the_next_run_goes_on(
    campaign: Campaign,
    fault: str,
    problem: str,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    settings.LLM_TIMEOUT, settings.LLM_RETRIES = 1, 1
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)
    caplog.set_level(logging.DEBUG)
    with LlmServer(answer=answers(*[FIX] * 9), fault_for=fail_to_write(fault)) as server:
        kept: list[dict[str, Any]] = []
        failed = improve(campaign, server, tries=3, keep_state=kept.append)
        assert [one.judge for one in failed.proposals] == ["brand.draft@1", "brand@1"]
        assert failed.proposals[-1].problem == problem
        assert (failed.judge, failed.tries, failed.is_complete) == ("brand@1", 1, False)
        used = sum(TokensUsed(**run.used).total for run in JudgeRun.objects.all())
        assert used + kept[-1]["written"] >= server.tokens
        judged = Verdict.objects.count()
        server.fault_for = None
        asked = len(server.asked)
        [better] = improve(campaign, server, tries=1).proposals
    assert (better.judge, better.accepted) == ("brand.draft@2", True)
    # The instructions and what they judge: nothing that was judged before.
    assert len(server.asked) - asked == 1 + Verdict.objects.count() - judged
    said = json.dumps(to_json([failed, better])) + read_rows() + caplog.text
    assert CANARY not in said
    assert "sk-shown-by-the-server" not in said


def fail_to_write(fault: str) -> Callable[[RecordedRequest], str]:
    """Judges are answered, and who asks for instructions isn't."""
    return lambda request: fault if request.prompt.startswith("You improve") else ""


def read_rows() -> str:
    rows = [one.objects.values() for one in (JobRun, Judge, JudgeRun, AuditEvent, Verdict)]
    return json.dumps([list(one) for one in rows], default=str)


def start_improving(
    campaign: Campaign, server: LlmServer, processes: Any, **options: Any
) -> tuple[JobRun, Any]:
    """(the job, the worker)"""
    processes.environment |= {"ALIGNMENTER_LLM_ENDPOINTS": server.url}
    judge = make_judge(server, allow=campaign.dataset)
    parameters = ImproveParameters(campaign=campaign.name, judge=judge.full_name, **options)
    processes.start("scheduler")
    worker = processes.start("worker")
    actor = make_user_with(name="lena", excluded=("nothing",))
    job = runs.start_job("improve_judge", actor=actor, dataset=campaign.dataset, parameters=parameters)
    return job, worker


def resume(job: JobRun, processes: Any, wait_until: Any) -> None:
    """As after a time without a heartbeat: another worker takes the job."""
    late = timezone.now() - timedelta(seconds=16)
    JobRun.objects.filter(state="running").update(heartbeat_at=late)
    processes.start("worker")
    wait_until(lambda: JobRun.objects.get(pk=job.pk).is_finished, 90)
    job.refresh_from_db()


def test_a_budget_counts_what_was_used_before_an_interruption(campaign: Campaign) -> None:
    with LlmServer(answer=answers(HARM)) as server:
        kept: list[dict[str, Any]] = []
        improve(campaign, server, tries=1, keep_state=kept.append)
        assert kept[-1]["done"] == 1
        asked = len(server.asked)
        again = improve(campaign, server, tries=2, max_tokens=server.tokens, state=kept[-1])
        assert len(server.asked) == asked
    assert again.before == 1
    assert "token budget is spent" in again.proposals[0].problem
    assert again.sentences[0] == "1 prompt was tried before an interruption."


def test_command_and_page_propose_and_say_the_same(campaign: Campaign, client: Client, manage: Any) -> None:
    with LlmServer(answer=answers(FIX)) as server:
        make_judge(server, allow=campaign.dataset)
        told = manage("improve_judge", campaign.name, "--judge", "brand", "--tries", "2")
        assert told.returncode == 0, told.stderr
        assert "brand.draft@2 (instructions): accepted" in told.stdout
        assert "Best now: brand@2, of 2 tries." in told.stdout
        client.force_login(make_user_with(name="lena", excluded=("nothing",)))
        address = reverse("admin:annotations_app_campaign_judges", args=[campaign.pk])
        run = JudgeRun.objects.get(judge=get_judge("brand"))
        page = client.get(f"{address}?run={run.pk}").content.decode()
        assert "2 tries so far" in page
        assert FIX in page
        again = manage("improve_judge", campaign.name, "--judge", "brand")
        assert again.returncode == 1
        assert "differs from most people on no reply" in again.stdout
        assert 'name="tries"' in page
        post = partial(client.post, reverse("admin:annotations_app_campaign_improve", args=[campaign.pk]))
        form = {"judge": run.judge_id, "tries": "2", "max_tokens": "5000"}
        assert post(form).status_code == 302
        refused = post(form | {"tries": "11"}, follow=True).content.decode()
        assert "Ensure this value is less than or equal to 10." in refused
        assert 'value="11"' in refused
        job = JobRun.objects.filter(operation="improve_judge").latest("created_at")
        assert (job.parameters["tries"], job.parameters["max_tokens"]) == (2, 5000)
    assert JobRun.objects.filter(operation="improve_judge").count() == 3


def test_instructions_that_quote_a_conversation_or_hold_personal_data_are_kept_nowhere(
    campaign: Campaign,
) -> None:
    quote = "Like: GLADLY an invoice\nfor the train case."
    mail = "Ask ana.ruiz@harbour.com about invoices."
    with LlmServer(answer=answers(quote, mail)) as server:
        first = improve(campaign, server, tries=2).proposals[-1]
        second = improve(campaign, server, tries=1).proposals[-1]
    assert first.problem == "the model wrote instructions that quote a reply"
    assert second.problem == "the model wrote instructions with what looks like personal data"
    kept = json.dumps([*to_json([first, second]), *Judge.objects.values("document")])
    assert "GLADLY" not in kept
    assert mail not in kept
