"""Judges of pairs of replies: what they are shown, both ways round, and what counts of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotations_app.criteria.schemas import preference_schema
from annotations_app.estimates.measure import estimate_quality
from annotations_app.judges.improve_judge import improve_judge
from annotations_app.judges.judge_rows import read_verdicts
from annotations_app.judges.judges import get_judge
from annotations_app.judges.measure import measure_judge
from annotations_app.judges.parameters import JudgeOptions
from annotations_app.judges.run_judge import run_judge
from annotations_app.labeling.lease_next import lease_next
from annotations_app.models import Campaign, JudgeRun, PairedReply, Verdict
from datasets_app.catalog.edit import edit_dataset
from datasets_app.core.errors import UserError
from datasets_app.jobs.perform import perform
from datasets_app.models import AuditEvent, Dataset, JobRun, Session
from datasets_app.retention.delete_contents import delete_sessions
from tests.api.calls import Caller, make_user
from tests.campaigns import get_user, make_campaign, submit
from tests.everything import make_user_with
from tests.factories import make_dataset, make_sessions
from tests.judges import make_judge
from tests.llm_server import LlmServer, RecordedRequest
from tests.operations.test_pairs import answered, make_version

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def versions(tmp_path: Path) -> tuple[Dataset, Dataset]:
    return make_versions(tmp_path, 30)


def make_versions(tmp_path: Path, count: int) -> tuple[Dataset, Dataset]:
    """June's replies are longer in every second session; users' turns are the same."""
    lines = make_sessions(count, 2)
    june = answered(lines, "June")
    for number, line in enumerate(line for line in june if line["role"] == "assistant"):
        line["text"] += " and so on" * (number % 2)
    return make_version(tmp_path, "june", june), make_version(tmp_path, "may", answered(lines, "A May"))


@pytest.fixture
def campaign(versions: tuple[Dataset, Dataset]) -> Campaign:
    return compare(versions)


def compare(versions: tuple[Dataset, Dataset]) -> Campaign:
    june, may = versions
    return make_campaign(june, "ana", other_dataset=may, schema=preference_schema(), overlap=1)


def replies_in(request: RecordedRequest) -> dict[str, str]:
    said = request.body["messages"][1]["content"]
    replies: dict[str, str] = json.loads(said[said.rindex("{") :])
    return replies


def prefer(side: str) -> str:
    return json.dumps({"rationale": f"{side}.", "answers": {"better": side}})


def prefer_june(request: RecordedRequest) -> str:
    return prefer("a" if replies_in(request)["A"].startswith("June") else "b")


def prefer_first_where_june_is_short(request: RecordedRequest) -> str:
    replies = replies_in(request)
    if any("so on" in text for text in replies.values()):
        return prefer("a" if "so on" in replies["A"] else "b")
    return prefer("a")


def allow(campaign: Campaign, server: LlmServer) -> Any:
    for dataset in campaign.datasets:
        edit_dataset(dataset.pk, {"judge_endpoints": [server.url]}, actor=None)
    return make_judge(server)


def test_both_replies_are_shown_as_people_see_them_and_nothing_tells_whose_they_are(
    campaign: Campaign,
) -> None:
    with LlmServer(answer=prefer_june) as server:
        judge = allow(campaign, server)
        outcome = run_judge(campaign, judge)
        asked = server.asked[:]
    assert (outcome.judged, outcome.changed, outcome.is_complete) == (30, 0, True)
    swapped = dict(PairedReply.objects.values_list("item__turn", "swapped"))
    assert 0 < sum(swapped.values()) < 30
    # In people's sides: the reply of the campaign's dataset, wherever it is.
    codes = {one.turn_id: one.codes["better"] for one in Verdict.objects.all()}
    assert codes == {turn: int(is_swapped) for turn, is_swapped in swapped.items()}
    system, said = (asked[0].body["messages"][place]["content"] for place in (0, 1))
    assert "Which of them is called A means nothing" in system
    assert "judge that last reply alone" not in system
    turns = json.loads(said[said.index("[") : said.index("\n")])
    assert [turn["role"] for turn in turns] == ["user"]
    details = AuditEvent.objects.filter(action="judge").latest("pk").details
    assert (details["sent"], details["compared_with"]) == (30, "may")


def test_both_datasets_must_allow_the_endpoint_and_excluded_sessions_of_both_stay(campaign: Campaign) -> None:
    with LlmServer(answer=prefer_june) as server:
        judge = make_judge(server, allow=campaign.dataset)
        with pytest.raises(UserError, match="may doesn't allow its texts"):
            run_judge(campaign, judge)
        assert not server.asked
        edit_dataset(campaign.other_dataset_id, {"judge_endpoints": [server.url]}, actor=None)
        excluded = Session.objects.filter(dataset__name="may").order_by("pk").first()
        Session.objects.filter(dataset__name="may", pk=excluded.pk).update(excluded=True)  # type: ignore[union-attr]
        outcome = run_judge(campaign, judge)
    assert (outcome.judged, outcome.excluded) == (29, 1)
    with pytest.raises(UserError, match="one yes/no criterion"):
        run_judge(campaign, get_judge("offline"))


def label_june(campaign: Campaign) -> None:
    """Ana prefers June's reply, but for every fifth pair."""
    number = 0
    while current := lease_next(campaign, get_user("ana")).current:
        number += 1
        current.annotator = get_user("ana")
        is_june = number % 5 > 0
        submit(current, label=None, answers={"better": "b" if current.item.pair.swapped is is_june else "a"})


def test_an_answer_that_changes_with_the_sides_is_not_judged_and_counted_at_every_door(
    campaign: Campaign, client: Client, manage: Any
) -> None:
    with LlmServer(answer=prefer_first_where_june_is_short) as server:
        allow(campaign, server)
        told = manage("run_judge", campaign.name, "--judge", "brand", "--swap")
        assert told.returncode == 1
        assert "brand@1: 60 judgments" in told.stdout
        assert "Not judged: 15 pairs of which the answer changes with the sides." in told.stdout
        # Nothing is missing, so nothing is asked again.
        assert run_judge(campaign, get_judge("brand")).judged == 0
        assert len(server.asked) == 60
    run = JudgeRun.objects.get()
    [criterion] = campaign.schema.content.criteria  # type: ignore[union-attr]
    turns, said = read_verdicts(run, criterion)
    swapped = dict(PairedReply.objects.values_list("item__turn", "swapped"))
    assert len(turns) == 15
    assert dict(zip(turns.tolist(), said.tolist(), strict=True)) == {
        turn: int(swapped[turn]) for turn in turns
    }
    label_june(campaign)
    [measured] = measure_judge(run).criteria
    sides = measured.sides
    assert sides is not None
    assert (sides.both_ways, sides.first, sides.second, sides.other) == (30, 15, 0, 0)
    assert sides.side_a.value == pytest.approx(0.75)
    assert sides.is_biased
    assert measured.judged == measured.whole.comparison.n == 15
    [rate] = estimate_quality(campaign).rates
    assert rate.of_pairs
    assert rate.people.value == pytest.approx(24 / 30)
    assert rate.judges is not None
    assert rate.answer == "The reply of june wins"
    assert any("15 pairs of which the answer changed" in note for note in estimate_quality(campaign).notes)
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    page = client.get(reverse("admin:annotations_app_campaign_judges", args=[campaign.pk])).content.decode()
    assert "15 got another" in page
    assert "prefers a side" in page
    assert measured.as_json()["sides"]["changes"] == 15
    reply = client.get(
        reverse("admin:annotations_app_campaign_judged", args=[campaign.pk, run.pk])
        + "?criterion=better&judge=0&people=0"
    ).content.decode()
    assert "A May" in reply
    assert "June" in reply


def test_a_judge_that_prefers_long_replies_is_found_out(tmp_path: Path) -> None:
    """People see no difference. More than half a hundred pairs: which side is the longer one is drawn."""
    campaign = compare(make_versions(tmp_path, 60))

    def prefer_long(request: RecordedRequest) -> str:
        replies = replies_in(request)
        return prefer("a" if len(replies["A"]) > len(replies["B"]) else "b")

    with LlmServer(answer=prefer_long) as server:
        run_judge(campaign, allow(campaign, server), JudgeOptions(swap=True))
    while current := lease_next(campaign, get_user("ana")).current:
        current.annotator = get_user("ana")
        submit(current, label=None, answers={"better": "tie"})
    [measured] = measure_judge(JudgeRun.objects.get()).criteria
    assert measured.sides is not None
    assert measured.sides.changes == 0
    assert not measured.sides.is_biased
    bias = measured.length_bias
    assert bias is not None
    assert bias.value == 1


def test_the_form_starts_a_run_both_ways_round_with_its_calls_and_its_reason(
    tmp_path: Path, client: Client, settings: Any
) -> None:
    lines = make_sessions(8, 2)
    for line in lines:
        line["text"] = f"Write to ana.ruiz@harbour.com: {line['text']}"
    raw = [make_dataset(tmp_path, answered(lines, how), how.lower()) for how in ("June", "May")]
    june, may = raw
    campaign = make_campaign(
        june, "ana", other_dataset=may, schema=preference_schema(), override="They are the support team."
    )
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    page = reverse("admin:annotations_app_campaign_judges", args=[campaign.pk])
    form = {"judge": "brand@1", "repeats": "1", "concurrency": "2", "swap": "on"}
    with LlmServer(answer=prefer_june, latency=0.02) as server:
        settings.LLM_ENDPOINTS = [server.url]
        allow(campaign, server)
        assert client.post(page, form).status_code == 302
        refused = JobRun.objects.get(operation="run_judge")
        perform(refused.pk)
        refused.refresh_from_db()
        assert (refused.state, len(server.asked)) == ("failed", 0)
        assert "can't be sent to a model" in refused.error
        assert client.post(page, form | {"override": "It is a test."}).status_code == 302
        job = JobRun.objects.filter(operation="run_judge").latest("created_at")
        assert (job.parameters["swap"], job.parameters["concurrency"]) == (True, 2)
        perform(job.pk)
        job.refresh_from_db()
        assert (job.state, job.error) == ("done", "")
        assert server.max_in_flight == 2
    run = JudgeRun.objects.get()
    assert (run.swap, run.verdicts.filter(swapped=True).count(), run.verdicts.count()) == (True, 8, 16)
    reasons = AuditEvent.objects.filter(action="override", details__purpose="judge")
    assert {one.details["reason"] for one in reasons} == {"It is a test."}
    assert "concurrency" in client.post(page, form | {"concurrency": "0"}).content.decode()


def test_erasing_one_reply_erases_what_a_judge_said_of_the_pair(campaign: Campaign) -> None:
    with LlmServer(answer=prefer_june) as server:
        run_judge(campaign, allow(campaign, server), JudgeOptions(swap=True))
    may = campaign.other_dataset
    assert may is not None
    session = Session.objects.filter(dataset=may).order_by("pk").first()
    delete_sessions(may, [session.pk])  # type: ignore[union-attr]
    assert Verdict.objects.count() == 58
    assert campaign.items.count() == 29


def test_a_better_prompt_is_compared_both_ways_round_like_the_judge_before(campaign: Campaign) -> None:
    label_june(campaign)
    for number, session in enumerate(campaign.dataset.sessions.order_by("pk")):
        split = ("train", "validation")[number // 6 % 2]
        Session.objects.filter(dataset=campaign.dataset, pk=session.pk).update(split=split)
    with LlmServer(answer=prefer_june) as server:
        judge = allow(campaign, server)
        run_judge(campaign, judge, JudgeOptions(swap=True))
        [proposal] = improve_judge(campaign, judge, tries=1).proposals
    assert not proposal.problem
    assert JudgeRun.objects.get(judge__name="brand.draft").swap


def test_only_pairs_have_sides(versions: tuple[Dataset, Dataset]) -> None:
    june, _ = versions
    with LlmServer(answer=prefer_june) as server:
        judge = make_judge(server, allow=june)
        with pytest.raises(UserError, match="no sides to swap"):
            run_judge(make_campaign(june, "ana"), judge, JudgeOptions(swap=True))


def test_who_has_no_access_to_the_other_dataset_reads_and_sends_nothing_of_it(campaign: Campaign) -> None:
    curator = Caller(make_user("lead"))
    Dataset.objects.filter(pk=campaign.other_dataset_id).update(restricted=True)
    path = f"/campaigns/{campaign.name}"
    assert curator("GET", f"{path}/notes").status_code == 409
    assert curator("GET", f"{path}/failure-modes").status_code == 409
    with LlmServer() as server:
        judge = make_judge(server, allow=campaign.dataset)
        edit_dataset(campaign.other_dataset_id, {"judge_endpoints": [server.url]}, actor=None)  # type: ignore[arg-type]
        with pytest.raises(UserError, match="no access to a dataset"):
            run_judge(campaign, judge, actor=curator.user)
        assert not server.asked
