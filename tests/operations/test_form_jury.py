"""A jury: weights from labels of people outside of the test split; costly members are spared."""

import json
import re
import zlib
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotations_app.estimates.measure import estimate_quality
from annotations_app.judges.certify import certify_judge, list_changes
from annotations_app.judges.form_jury import form_jury
from annotations_app.judges.improve_judge import improve_judge
from annotations_app.judges.judges import get_judge, import_judge
from annotations_app.judges.measure import measure_judge
from annotations_app.judges.parameters import JudgeOptions
from annotations_app.judges.run_jury import NOBODY, run_rater
from annotations_app.models import Annotation, Campaign, JudgeCertificate, JudgeRun, Verdict
from datasets_app.core.errors import UserError
from datasets_app.jobs.perform import perform
from datasets_app.models import AuditEvent, JobRun, Session, Turn
from tests.api.calls import Caller
from tests.campaigns import label_all_replies, make_campaign, make_replies
from tests.everything import make_user_with
from tests.judges import make_judge, reply_in
from tests.llm_server import LlmServer, RecordedRequest

pytestmark = pytest.mark.django_db(transaction=True)

REPLIES = 160
SPLITS = ("train", "validation", "train", "test")
# Of a hundred replies that a model judges wrong.
FAULTS = {"small": 30, "large": 5}
PRICES = {"small": {"prompt": 1, "answer": 1}, "large": {"prompt": 100, "answer": 100}}


def draw(model: str, text: str) -> int:
    """From 0 to 99, always the same."""
    return zlib.crc32(f"{model} {text}".encode()) % 100


def answer(request: RecordedRequest) -> str:
    """Sadly is off-brand: a model that says otherwise is wrong."""
    model, text = request.body["model"], reply_in(request)
    value = int(("Gladly" in text) != (draw(model, text) < FAULTS[model]))
    return json.dumps({"rationale": "So it is.", "answers": {"on_brand": value}})


@pytest.fixture
def campaign(tmp_path: Path) -> Campaign:
    return make_labeled(tmp_path)


def make_labeled(tmp_path: Path) -> Campaign:
    dataset = make_replies(tmp_path, REPLIES)
    campaign = make_campaign(dataset, "ana")
    for number, turn in enumerate(Turn.objects.filter(dataset=dataset, role="assistant").order_by("pk")):
        text = f"{'Sadly' if number % 3 == 0 else 'Gladly'} {'an invoice' if number % 2 else 'a letter'}."
        Turn.objects.filter(dataset=dataset, pk=turn.pk).update(text=f"{text} Number {number}.")
        Session.objects.filter(dataset=dataset, pk=turn.session_id).update(split=SPLITS[number // 6 % 4])
    label_rightly(campaign)
    return campaign


def label_rightly(campaign: Campaign) -> None:
    label_all_replies(campaign, "ana")
    for one in Annotation.objects.filter(campaign=campaign).select_related("turn"):
        Annotation.objects.filter(pk=one.pk).update(label=int("Gladly" in one.turn.text))


def make_members(server: LlmServer, campaign: Campaign) -> list[str]:
    for name in ("small", "large"):
        fields = {"judge": name, "model": f"openai:{name}", "prices": PRICES[name]}
        make_judge(server, allow=campaign.dataset, **fields)
    return ["small", "large"]


def count_right(run: JudgeRun) -> float:
    said = Verdict.objects.filter(run=run, failure="").values_list("turn_id", "codes")
    texts = dict(Turn.objects.values_list("pk", "text"))
    return sum(codes["on_brand"] == int("Gladly" in texts[pk]) for pk, codes in said) / len(said)


def test_a_jury_is_a_judge_with_weights_of_other_conversations_and_not_of_the_test_split(
    campaign: Campaign,
) -> None:
    with LlmServer(answer=answer) as server:
        members = make_members(server, campaign)
        formed = form_jury(campaign, "panel", [*members, "offline"])
        assert len(server.asked) == 2 * REPLIES
    labeled = REPLIES - Session.objects.filter(dataset=campaign.dataset, split="test").count()
    assert (formed.judge, formed.learned) == ("panel@1", {"on_brand": labeled})
    assert (formed.left_out, formed.too_few) == ({}, {})
    assert formed.outcome.judged == REPLIES
    assert formed.is_complete
    jury = get_judge("panel").content.jury
    assert jury is not None
    assert [one.judge for one in jury.members] == ["small@1", "large@1", "offline@1"]
    runs = {run.judge.name: run for run in JudgeRun.objects.select_related("judge", "campaign")}
    assert count_right(runs["panel"]) >= count_right(runs["large"]) > count_right(runs["small"])
    # Labels of the test split change nothing.
    held_out = Annotation.objects.filter(turn__session__split="test", turn__dataset=campaign.dataset)
    held_out.update(label=0)
    with LlmServer(answer=answer, port=int(server.url.split(":")[2].split("/")[0])):
        assert form_jury(campaign, "panel", [*members, "offline"]).judge == "panel@1"
        Annotation.objects.filter(turn__session__split="train").update(label=0)
        assert form_jury(campaign, "panel", [*members, "offline"]).judge == "panel@2"
    # It is written as YAML, and read as the same.
    again = import_judge(json.dumps(get_judge("panel@2").document))
    assert again.change == "unchanged"
    # Like any other judge.
    report = measure_judge(runs["panel"]).as_json()
    assert [one["judge"] for one in report["members"]] == ["small@1", "large@1", "offline@1"]
    assert estimate_quality(campaign, judges=["panel@1"]).judges == ("panel@1",)
    with pytest.raises(UserError, match="tested once, on the test split"):
        certify_judge(runs["panel"])
    with pytest.raises(UserError, match="A jury has no prompt"):
        improve_judge(campaign, get_judge("panel"))


def test_a_costly_member_is_asked_only_where_the_cheap_one_is_unsure(campaign: Campaign) -> None:
    with LlmServer(answer=answer) as server:
        members = make_members(server, campaign)
        # Two in three replies are on-brand: where the small one says so it is right more often.
        formed = form_jury(campaign, "cascade", members, certainty=0.75)
        small, large = formed.outcome.members
        asked = [one.body["model"] for one in server.asked]
    assert small["asked"] == REPLIES
    assert 0 < large["asked"] < REPLIES
    assert large["asked"] + large["not_asked"] == REPLIES
    # Beyond those with labels, from which weights are learned, only unsure ones are sent.
    assert asked.count("small") == REPLIES
    assert asked.count("large") < REPLIES
    run = JudgeRun.objects.get(judge__name="large")
    per_reply = 100 * sum(run.used[kind] for kind in ("prompt", "completion")) / 1e6 / asked.count("large")
    assert large["saved_cost"] == pytest.approx(per_reply * large["not_asked"])
    assert formed.outcome.cost == pytest.approx(small["cost"] + large["cost"])
    spared = Verdict.objects.filter(run__judge__name="cascade", rationale__endswith="sure, by small@1.")
    assert spared.count() == large["not_asked"]
    assert all(int(one.rationale.split(" ")[0]) >= 75 for one in spared)


def test_who_didnt_judge_is_counted_and_counts_for_nothing(campaign: Campaign) -> None:
    def decline(request: RecordedRequest) -> str:
        return "no" if draw("", reply_in(request)) < 10 else answer(request)

    with LlmServer(answer=decline) as server:
        members = make_members(server, campaign)
        formed = form_jury(campaign, "panel", [*members, "offline"])
        failed = Verdict.objects.filter(run__judge__name="small").exclude(failure="").count()
        assert failed
        assert [one["missing"] for one in formed.outcome.members] == [failed, failed, 0]
        assert formed.outcome.not_judged == {}
        alone = form_jury(campaign, "pair", members)
    assert alone.outcome.not_judged == {NOBODY: failed}
    assert not alone.is_complete
    assert Verdict.objects.filter(run__judge__name="pair", failure=NOBODY, codes={}).count() == failed


def test_a_budget_is_for_all_members_and_a_jury_that_was_stopped_goes_on(campaign: Campaign) -> None:
    with LlmServer(answer=answer) as server:
        members = make_members(server, campaign)
        with pytest.raises(UserError, match="hasn't judged all labeled replies. The token budget is spent"):
            form_jury(campaign, "panel", members, options=JudgeOptions(max_tokens=10_000))
        assert server.tokens <= 10_000
        form_jury(campaign, "panel", members)
        assert len(server.asked) == 2 * REPLIES
        # Another prompt asks both anew.
        Campaign.objects.filter(pk=campaign.pk).update(guidelines="Be strict.")
        changed, before = Campaign.objects.get(pk=campaign.pk), server.tokens
        options = JudgeOptions(max_tokens=before + 20_000)
        stopped = run_rater(changed, get_judge("panel"), options)
        assert "token budget is spent" in stopped.stopped
        assert server.tokens <= before + 20_000
        assert stopped.left > 0
        assert stopped.judged + stopped.left == REPLIES
        assert run_rater(changed, get_judge("panel")).is_complete
        assert sum(one.answered for one in server.asked) == 4 * REPLIES


def test_what_no_jury_can_be_made_of_is_refused(campaign: Campaign) -> None:
    with pytest.raises(UserError, match="2 to 9 different judges"):
        form_jury(campaign, "panel", ["offline"])
    with pytest.raises(UserError, match="2 to 9 different judges"):
        form_jury(campaign, "panel", ["offline", "offline@1"])
    with LlmServer(answer=answer) as server:
        members = make_members(server, campaign)
        with pytest.raises(UserError, match="offline is another judge"):
            form_jury(campaign, "offline", members)
        with pytest.raises(UserError, match="from 0.5 to below 1"):
            form_jury(campaign, "panel", members, certainty=1.5)
        form_jury(campaign, "panel", members)
        with pytest.raises(UserError, match="panel@1 is a jury itself"):
            form_jury(campaign, "more", ["panel", "offline"])
        with pytest.raises(UserError, match="judges each reply once"):
            run_rater(campaign, get_judge("panel"), JudgeOptions(repeats=2))
    document = get_judge("panel").document
    document["jury"]["members"][0]["digest"] = "another"
    other = import_judge(json.dumps({**document, "judge": "copied"})).judge
    with pytest.raises(UserError, match="isn't the judge that the weights were learned for"):
        run_rater(campaign, other)
    Annotation.objects.filter(turn__session__split__in=("train", "validation")).delete()
    with pytest.raises(UserError, match="0 labeled replies outside of the test split"):
        form_jury(campaign, "panel", members)


def test_what_would_stop_any_member_is_refused_before_the_first_is_paid(campaign: Campaign) -> None:
    budget = JudgeOptions(max_cost=5)
    with LlmServer(answer=answer) as server, LlmServer(answer=answer) as other:
        make_members(server, campaign)
        make_judge(server, judge="unpriced", model="openai:large")
        with pytest.raises(UserError, match="needs the judge's prices"):
            form_jury(campaign, "panel", ["small", "unpriced"], options=budget)
        make_judge(other, judge="elsewhere", model="openai:large", prices=PRICES["large"])
        with pytest.raises(UserError, match="doesn't allow its texts to be sent to"):
            form_jury(campaign, "panel", ["small", "elsewhere"])
        import_judge("judge: strange\nmodel: openai:tiny\ncriteria: [unknown]\n")
        with pytest.raises(UserError, match="has no criterion 'unknown'"):
            form_jury(campaign, "panel", ["small", "strange"])
        assert not server.asked
        form_jury(campaign, "panel", ["small", "unpriced"])
        # Another prompt asks both anew.
        Campaign.objects.filter(pk=campaign.pk).update(guidelines="Be strict.")
        with pytest.raises(UserError, match="needs the judge's prices"):
            run_rater(Campaign.objects.get(pk=campaign.pk), get_judge("panel"), budget)
        assert len(server.asked) == 2 * REPLIES


def test_the_page_lists_members_by_price_and_those_without_one_last(
    campaign: Campaign, client: Client
) -> None:
    with LlmServer(answer=answer) as server:
        make_members(server, campaign)
        make_judge(server, judge="a_model", model="openai:large")
    run_rater(campaign, get_judge("offline"))
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    page = client.get(reverse("admin:annotations_app_campaign_judges", args=[campaign.pk])).content.decode()
    listed = re.findall(r'name="members"[^>]*value="([^"]*)"|value="([^"]*)"[^>]*name="members"', page)
    assert ["".join(one) for one in listed] == ["offline@1", "small@1", "large@1", "a_model@1"]


def test_command_page_and_api_form_the_same(
    campaign: Campaign, client: Client, manage: Any, settings: Any
) -> None:
    with LlmServer(answer=answer) as server:
        make_members(server, campaign)
        settings.LLM_ENDPOINTS = [server.url]
        told = manage("form_jury", campaign.name, "--name", "panel", "--members", "small,large",
                      "--certainty", "0.8")  # fmt: skip
        assert told.returncode == 0, told.stderr
        assert "on_brand: weights from " in told.stdout
        assert f"panel@1: {REPLIES} judgments" in told.stdout
        assert "small@1: asked about 160 replies" in told.stdout
        assert " spared: about " in told.stdout
        assert "certainty: 0.8" in manage("export_judge", "panel").stdout
        assert manage("run_judge", campaign.name, "--judge", "panel").returncode == 0
        user = make_user_with(name="lena", excluded=("nothing",))
        client.force_login(user)
        address = reverse("admin:annotations_app_campaign_judges", args=[campaign.pk])
        run = JudgeRun.objects.get(judge=get_judge("panel"))
        page = client.get(f"{address}?run={run.pk}").content.decode()
        assert "small@1" in page
        assert "Try better prompts" not in page
        assert all(page.count(f'id="{form}_max_cost"') == 1 for form in ("id", "jury"))
        form = {"name": "other", "members": ["small@1", "large@1"], "certainty": "0.8", "max_cost": "50"}
        form["concurrency"] = "2"
        posted = client.post(reverse("admin:annotations_app_campaign_jury", args=[campaign.pk]), form)
        assert posted.status_code == 302, posted.content.decode()
        asked = Caller(user)(
            "POST", f"/campaigns/{campaign.name}/juries", {"name": "third", "members": ["small", "large"]}
        )
        assert asked.status_code == 202
        assert JobRun.objects.get(parameters__name="other").parameters["max_cost"] == 50
        assert JobRun.objects.get(parameters__name="other").parameters["concurrency"] == 2
        for job in JobRun.objects.filter(operation="form_jury").exclude(state="done"):
            perform(job.pk)
            job.refresh_from_db()
            assert (job.state, job.error) == ("done", "")
    digests = {name: get_judge(name).digest for name in ("panel", "other", "third")}
    assert digests["panel"] == digests["other"] != digests["third"]
    assert AuditEvent.objects.filter(action="judge", details__judge="other@1").exists()


def test_a_jury_is_tested_once_and_its_certificate_ends_when_a_member_changes(
    campaign: Campaign, client: Client, capsys: Any
) -> None:
    # A certificate needs 30 replies of each kind.
    most = Session.objects.filter(
        dataset=campaign.dataset,
        pk__in=list(
            Session.objects.filter(dataset=campaign.dataset).order_by("pk").values_list("pk", flat=True)[70:]
        ),
    )
    most.update(split="test")
    locked = make_campaign(campaign.dataset, "ana", name="locked", split="test", override="A test of juries.")
    label_rightly(locked)
    with LlmServer(answer=answer) as server:
        members = make_members(server, campaign)
        for name, order in (("panel", members), ("again", members[::-1])):
            form_jury(campaign, name, order)
            run_rater(locked, get_judge(name))
        client.force_login(make_user_with(name="lena", excluded=("nothing",)))
        address = reverse("admin:annotations_app_campaign_judges", args=[locked.pk])
        run = locked.judge_runs.get(judge__name="panel")
        url = reverse("admin:annotations_app_campaign_certify", args=[locked.pk, run.pk])
        form = {"criterion": "on_brand", "threshold": 50}
        said = client.post(url, form, follow=True).content.decode()
        assert "was tested, and is certified for “Does the reply sound like the persona?”" in said, (
            JudgeCertificate.objects.get().result
        )
        assert "has been tested for on_brand before" in client.post(url, form, follow=True).content.decode()
        call = Caller(make_user_with(name="api", excluded=("nothing",)))
        again = call("POST", "/campaigns/locked/certificates", {"judge": "panel"})
        assert (again.status_code, "has been tested" in again.content.decode()) == (409, True)

        def stated() -> list[tuple[str, bool, bool, list[str]]]:
            """What the API says of each certificate."""
            certificates = call("GET", f"/datasets/{campaign.dataset.name}/quality").json()["certificates"]
            found = [(one["judge"], one["certified"], one["holds"], one["changed"]) for one in certificates]
            return sorted(found, key=lambda one: one[0], reverse=True)

        with pytest.raises(SystemExit) as exit_code:
            call_command("certify_judge", "locked", judge="again", threshold=0.99)
        assert exit_code.value.code == 1
        assert capsys.readouterr().out.startswith("again@1 is not certified for on_brand.")
        for name in ("again", "panel"):
            with pytest.raises(CommandError, match="has been tested for on_brand before"):
                call_command("certify_judge", "locked", judge=name)
        certificate = JudgeCertificate.objects.get(certified=True)
        assert list_changes(certificate) == []
        assert stated() == [("panel@1", True, True, []), ("again@1", False, False, [])]
        make_judge(server, judge="small", model="openai:small", instructions="Judge strictly.")
    assert get_judge("small").version == 2
    assert list_changes(certificate) == ["a member"]
    assert stated() == [("panel@1", True, False, ["a member"]), ("again@1", False, False, ["a member"])]
    assert (
        "It holds no longer: a member changed since."
        in client.get(f"{address}?run={run.pk}").content.decode()
    )
