"""Variants that a model writes: of scrubbed text alone, and nothing before a person has kept them."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotations_app.cases.draft_variants import draft_variants
from annotations_app.cases.drafts import decide_draft, list_drafts
from annotations_app.cases.make_case import CaseOptions, make_case
from annotations_app.cases.send_case import send_case
from annotations_app.models import Campaign
from datasets_app.catalog.edit import edit_dataset
from datasets_app.checking.check_dataset import check_dataset
from datasets_app.core.errors import UserError
from datasets_app.domain.generation.families import Variant
from datasets_app.exporting.export_dataset import export_to_path
from datasets_app.jobs.perform import perform
from datasets_app.model_calls.parameters import ModelParameters
from datasets_app.models import AuditEvent, Dataset, JobRun, Session, Turn
from tests import factories
from tests.api.calls import Caller, make_user
from tests.campaigns import make_annotators, make_persona
from tests.everything import make_user_with
from tests.llm_server import LlmServer, RecordedRequest

pytestmark = pytest.mark.django_db(transaction=True)

ASKED = "I am Maria Fontane, my mail is maria.fontane@example.org. Why did it come 3 weeks late?"


def answer(request: RecordedRequest) -> str:
    """Another text for each kind."""
    asked = request.body["messages"][1]["content"].rpartition("\n")[2]
    return json.dumps({"text": f"Why was it so late, and who pays for it?{' Please.' * (len(asked) % 17)}"})


def make_source(tmp_path: Path, name: str, reply: str) -> Dataset:
    known = {"session_id": f"{name}-1", "persona_id": "warm_v1"}
    spoken = (("user", ASKED), ("assistant", reply))
    lines = [
        {**known, "turn_index": index, "role": role, "text": text}
        for index, (role, text) in enumerate(spoken, 1)
    ]
    return factories.make_dataset(tmp_path, lines, name=name, origin="production")


@pytest.fixture
def cases(tmp_path: Path) -> Dataset:
    source = make_source(tmp_path, "prod", "No idea, Maria Fontane.")
    make_persona()
    make_annotators("ana", "ben")
    variants = [Variant("rephrase", "same", "Where was it all the time?")]
    made = make_case(
        Session.objects.get(dataset=source), 2, "cases", CaseOptions(1, "Apologizes", "", variants)
    )
    send_case(made.dataset, made.family, ["ana"])
    return Dataset.objects.get(name="cases")


def allow(dataset: Dataset, server: LlmServer) -> None:
    edit_dataset(dataset.pk, {"judge_endpoints": [server.url]}, actor=None)


def draft(server: LlmServer, **options: Any) -> None:
    call_command("draft_variants", "cases", model="openai:tiny", base_url=server.url, **options)


def list_exported(dataset: Dataset, path: Path) -> set[str]:
    export_to_path(dataset, path)
    return {json.loads(line).get("case_id", "").rpartition("-")[2] for line in path.open()} - {""}


def test_a_draft_counts_once_a_person_has_kept_it(
    cases: Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Session.objects.filter(dataset=cases).update(split="validation")
    with LlmServer(answer=answer) as server:
        with pytest.raises(CommandError, match="doesn't allow its texts to be sent"):
            draft(server)
        allow(cases, server)
        draft(server, kinds="language,changed_fact,rephrase")
        # What a person wrote is there already; and the model sees scrubbed text.
        assert len(server.asked) == 2
        assert "[EMAIL]" in server.asked[0].prompt
        assert "Fontane" not in str([asked.body for asked in server.asked])
        draft(server, kinds="language,changed_fact")
        assert len(server.asked) == 2
    said = capsys.readouterr().out
    assert "2 variants drafted" in said
    assert "0 variants drafted, 0 tokens; 2 to be reviewed." in said
    cases.refresh_from_db()
    assert cases.status == Dataset.Status.SCRUBBED
    before = list_exported(cases, tmp_path / "before.jsonl")
    assert "rephrase" in before
    assert not before & {"language", "changed_fact"}
    call_command("review_variants", "cases")
    assert "another language, answer: same" in capsys.readouterr().out
    fact, language = sorted(list_drafts(cases), key=lambda one: one.kind)
    assert (language.kind, language.answer, fact.answer) == ("language", "same", "change")
    assert (language.message, language.text[:14]) == (fact.message, "Why was it so ")
    call_command("review_variants", "cases", change=[fact.session], discard=[language.session])
    assert "2 drafts decided.\n0 drafts to be reviewed." in capsys.readouterr().out
    with pytest.raises(UserError, match="isn't waiting any more"):
        decide_draft(cases, fact.session, "same")

    assert list_exported(cases, tmp_path / "after.jsonl") == before | {"changed_fact"}
    kept = Session.objects.get(pk=fact.session)
    assert kept.split == "validation"
    reply = Turn.objects.get(session=kept, role="assistant")
    assert {"answer:change", "variant:changed_fact"} < set(reply.tags)
    assert not [tag for tag in reply.tags if tag.startswith("draft")]
    assert reply.metadata["case_origin"]["written_by"] == "openai:tiny"
    check_dataset(cases, actor=None)
    assert "W214" not in cases.check_reports.get().totals
    actions = set(AuditEvent.objects.values_list("action", flat=True))
    assert {"draft_variants", "keep_variant", "discard_variant"} <= actions
    begun = AuditEvent.objects.filter(action="draft_variants").first()
    assert begun.details["endpoint"].startswith("127.0.0.1")
    # A discarded one may be asked for again.
    texts = iter(["Noch einmal: warum so spät?", "Bitte sagen Sie mir, warum es so lange dauert."])
    with LlmServer(answer=lambda request: json.dumps({"text": next(texts)})) as server:
        allow(cases, server)
        draft(server, kinds="language")
        [again] = list_drafts(cases)
        assert again.text == "Noch einmal: warum so spät?"
        # Its name is free of those that are left.
        decide_draft(cases, again.session, None)
        Session.objects.get(pk=language.session).delete()
        draft(server, kinds="language")
    assert len(list_drafts(cases)) == 1
    assert Campaign.objects.get().item_count == 2


def test_answers_that_are_no_variants_are_counted(cases: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Turn.objects.filter(dataset=cases, role="user").order_by("pk").values_list("text", flat=True)[0]
    answers = {
        "I don't know.": 'no JSON object with a "text"',
        json.dumps({"text": asked}): "the message itself or another variant",
        '{"text": "Where was it all the time?"}': "the message itself or another variant",
        '{"text": "I am [NAME_9] of [IBAN]."}': "a placeholder that the message doesn't have",
        '{"text": "\\u0000"}': "characters that are none",
    }
    for content, reason in answers.items():
        with LlmServer(answer=lambda request, content=content: content) as server:
            allow(cases, server)
            with pytest.raises(SystemExit):
                draft(server, kinds="tone")
            assert len(server.asked) == 2
            assert "That can't be used" in server.asked[1].prompt
        assert reason in capsys.readouterr().err
    assert not list_drafts(cases)
    assert cases.sessions.count() == 2
    with pytest.raises(CommandError, match="isn't a kind of variants"):
        draft(server, kinds="worse")
    with pytest.raises(CommandError, match="doesn't have the case nothing"):
        draft(server, case="nothing")


def test_a_run_that_ends_early_is_resumed(cases: Dataset, capsys: pytest.CaptureFixture[str]) -> None:
    with LlmServer(answer=answer) as server:
        allow(cases, server)
        with pytest.raises(SystemExit):
            draft(server, concurrency=1, max_tokens_total=1_000)
        said = capsys.readouterr()
        assert "The token budget is spent" in said.err
        assert 0 < len(list_drafts(cases)) < 5
        job = JobRun.objects.get(operation="draft_variants")
        assert 0 < job.parameters["used"]["prompt"] + job.parameters["used"]["completion"] <= 1_000
        draft(server)
        assert len(server.asked) == len(list_drafts(cases)) == 5


def test_a_job_whose_worker_died_goes_on(cases: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its drafts are there, and not scrubbed: no raw text is sent, and the end is scrubbed."""
    from annotations_app.cases import draft_variants as operation

    job = JobRun.objects.create(operation="draft_variants", dataset=cases, state="running")

    def run(kinds: tuple[str, ...]) -> Any:
        request = operation.ModelParameters("openai:tiny", server.url)
        return operation.draft_variants(cases, request, kinds, job_run=job)

    with LlmServer(answer=answer) as server:
        allow(cases, server)
        assert run(("tone",)).drafted == 1
        Dataset.objects.filter(pk=cases.pk).update(status=Dataset.Status.RAW)
        assert run(("tone", "language")).drafted == 1
    cases.refresh_from_db()
    assert cases.status == Dataset.Status.SCRUBBED
    assert len(list_drafts(cases)) == 2


def test_a_case_that_changes_meanwhile_gets_no_copy_of_what_it_said(cases: Dataset) -> None:
    replies = Turn.objects.filter(dataset=cases, role="assistant")

    with LlmServer(answer=answer) as server:
        allow(cases, server)
        done = draft_variants(
            cases,
            ModelParameters("openai:tiny", server.url, concurrency=1),
            ("tone", "language"),
            keep_used=lambda used: replies.update(text="Corrected.") and None,
        )
    assert (done.drafted, done.failed) == (1, {"the case was erased or changed meanwhile": 1})
    assert set(replies.values_list("text", flat=True)) == {"Corrected."}


def test_who_may_not_read_a_draft_does_not_decide_on_it(cases: Dataset, tmp_path: Path) -> None:
    with LlmServer(answer=answer) as server:
        allow(cases, server)
        draft(server, kinds="tone")
    [waiting] = list_drafts(cases)
    source = make_source(tmp_path, "more", "Ask jane.roe@example.org.")
    make_case(Session.objects.get(dataset=source), 2, "cases", CaseOptions())  # not scrubbed yet
    blind = Caller(make_user_with(name="blind", excluded=("datasets_app.read_raw",)))
    for kept in ("same", None):
        said = blind("POST", f"/datasets/cases/drafts/{waiting.session}", {"answer": kept})
        assert said.status_code == 409
    assert [one.session for one in list_drafts(cases)] == [waiting.session]


def test_page_and_api_do_the_same(cases: Dataset, client: Client, settings: Any) -> None:
    client.force_login(make_user("curator", "cleo"))
    address = reverse("admin:annotations_app_campaign_dataset_variants", args=[cases.pk])
    page = client.get(address).content.decode()
    assert "allow any endpoint yet" in page
    assert "No drafts to review" in page
    labels = client.get(reverse("admin:annotations_app_campaign_dataset_review", args=[cases.pk]))
    assert address in labels.content.decode()
    api = Caller(make_user("curator", "cora"))
    with LlmServer(answer=answer) as server:
        allow(cases, server)
        fields = {"model": "tiny", "base_url": server.url, "kinds": ["language"]}
        settings.LLM_ENDPOINTS = []
        asked = {"model": "openai:tiny", "base_url": server.url, "kinds": ["tone"]}
        assert "at the configured addresses only" in client.post(address, fields).content.decode()
        assert api("POST", "/datasets/cases/drafts", asked).status_code == 409
        settings.LLM_ENDPOINTS = [server.url]
        assert client.post(address, fields).status_code == 302
        assert api("POST", "/datasets/cases/drafts", asked).status_code == 202
        jobs = list(JobRun.objects.filter(operation="draft_variants").order_by("pk"))
        for job in jobs:
            perform(job.pk)
            job.refresh_from_db()
    assert [(job.state, job.error) for job in jobs] == [("done", "")] * 2
    shown = client.get(reverse("admin:datasets_app_jobrun_change", args=[jobs[0].pk])).content.decode()
    assert address in shown
    found = api("GET", "/datasets/cases/drafts").json()
    assert (found["total"], [one["kind"] for one in found["drafts"]]) == (2, ["language", "tone"])
    first, second = (one["session"] for one in found["drafts"])
    assert found["drafts"][0]["text"] in client.get(address).content.decode()
    kept = client.post(address, {"session": first, "answer": "change"}, follow=True)
    assert "Kept, of case-" in kept.content.decode()
    assert api("POST", f"/datasets/cases/drafts/{second}", {"answer": None}).json()["left"] == 0
    assert api("POST", f"/datasets/cases/drafts/{second}", {"answer": "same"}).status_code == 409
    assert (
        Caller(make_user("viewer"))("POST", f"/datasets/cases/drafts/{first}", {"answer": "same"}).status_code
        == 403
    )
    assert Turn.objects.filter(session=first, tags__contains=["answer:change"]).exists()
