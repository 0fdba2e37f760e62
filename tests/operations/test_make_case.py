"""A reply becomes a scrubbed case with variants, which two people judge and the real Alignmenter takes."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotations_app.cases.make_case import CaseOptions, make_case
from annotations_app.cases.send_case import send_case
from annotations_app.labeling.lease_next import lease_next
from annotations_app.models import Campaign, LabelSchema
from datasets_app.catalog import raw_access
from datasets_app.checking.check_dataset import check_dataset
from datasets_app.core.errors import UserError
from datasets_app.domain.generation.families import KINDS, Variant, draft_variant
from datasets_app.domain.splits.splits import SplitSettings
from datasets_app.exporting.export_dataset import export_to_path
from datasets_app.jobs.perform import perform
from datasets_app.models import AuditEvent, Dataset, DatasetGrant, JobRun, Persona, Session, Turn
from datasets_app.retention.erase_session import erase_session, erase_session_by_id
from datasets_app.retention.erasure_preview import preview_erasure
from datasets_app.splitting.split_dataset import split_dataset
from tests import factories
from tests.alignmenter_tool import run_alignmenter, run_code_with_alignmenter
from tests.api.calls import Caller, make_user
from tests.campaigns import get_user, make_annotators, make_persona, submit
from tests.operations.test_scrub_canaries import rows_of_all_tables

ASKED = "Hello, I am Maria Fontane, my mail is maria.fontane@example.org. Why did it come 3 weeks late?"
ANSWERED = "No idea, Maria Fontane. Ask somebody else."
RUBRIC = "Apologizes, and explains the second delivery"


# Two runs of a suite on the same cases, compared.
COMPARE = """
import json, sys
from pathlib import Path
from alignmenter.execution.comparison import compare_saved
from alignmenter.execution.suite import run_suite
one, two = (run_suite(sys.argv[1], out_dir=Path(name))["run_dir"] for name in ("one", "two"))
print(json.dumps(compare_saved(Path(one), Path(two)), default=str))
"""
SPOKEN = (
    ("user", "Hi there."),
    ("assistant", "Hi, how can I help?"),
    ("user", ASKED),
    ("assistant", ANSWERED),
    ("user", "Thanks for nothing."),
    ("assistant", "Bye."),
)


@pytest.fixture
def session(tmp_path: Path) -> Session:
    known = {"session_id": "trace-1", "tags": ["scenario:support"], "persona_id": "warm_v1"}
    lines = [
        {**known, "turn_index": index, "role": role, "text": text, "metadata": {"model": "m"}}
        for index, (role, text) in enumerate(SPOKEN, 1)
    ]
    dataset = factories.make_dataset(tmp_path, lines, name="prod", origin="production")
    make_persona()
    make_annotators("ana", "ben")
    return Session.objects.get(dataset=dataset)


VARIANTS = [
    Variant("typos", "same", draft_variant("typos", ASKED)),
    Variant("distraction", "same", draft_variant("distraction", ASKED)),
    Variant("changed_fact", "change", draft_variant("changed_fact", ASKED)),
]
OPTIONS = CaseOptions(3, RUBRIC, "no apology", VARIANTS)


def test_drafts_differ_and_are_the_same_each_time() -> None:
    drafts = {kind: draft_variant(kind, ASKED) for kind in KINDS}
    assert drafts == {kind: draft_variant(kind, ASKED) for kind in KINDS}
    assert [kind for kind, text in drafts.items() if not text] == ["rephrase", "language"]
    assert len(set(drafts.values())) == len(KINDS) - 1
    assert "10 weeks late" in drafts["changed_fact"]
    assert sorted(drafts["typos"]) == sorted(ASKED)
    assert all(not draft_variant(kind, "Hm?") for kind in ("typos", "changed_fact"))


@pytest.mark.django_db(transaction=True)
def test_a_case_is_cut_scrubbed_and_sent_to_two_people(session: Session, tmp_path: Path) -> None:
    raw_access.record_access(
        session.dataset, make_user("curator", "cleo"), place="session", session=session.pk
    )
    # As a browser sends lines.
    made = make_case(session, 4, "prod-cases", OPTIONS._replace(rubric=RUBRIC.replace(", ", ",\r\n")))
    assert (made.sessions, made.seen_by) == (4, ["cleo"])
    with pytest.raises(UserError, match="already has a case of this reply"):
        make_case(session, 4, "prod-cases", OPTIONS)
    campaign, alike = send_case(made.dataset, made.family, ["ana", "ben"])
    assert campaign is not None
    assert alike == 0
    assert (campaign.item_count, campaign.overlap, campaign.status) == (4, 2, Campaign.Status.OPEN)
    # The rubric is seen with the dataset only; schemas are seen by everybody who labels.
    assert (campaign.schema.full_name, RUBRIC in campaign.guidelines) == ("rubrics.1@1", True)
    assert not LabelSchema.objects.filter(document__icontains=RUBRIC).exists()
    assert send_case(made.dataset, made.family, ["ana", "ben"]).campaign == campaign
    elsewhere = make_case(session, 4, "other-cases", OPTIONS)
    other = send_case(elsewhere.dataset, elsewhere.family, ["ana", "ben"]).campaign
    assert other is not None
    assert other.name == f"{campaign.name}.{elsewhere.dataset.pk}"
    assert send_case(elsewhere.dataset, elsewhere.family, ["ana", "ben"]).campaign == other
    cases = Dataset.objects.get(name="prod-cases")
    assert (cases.origin, cases.status, cases.session_count, cases.turn_count) == (
        "production", Dataset.Status.SCRUBBED, 4, 8,
    )  # fmt: skip
    stored = json.dumps(list(Turn.objects.filter(dataset=cases).values("text", "metadata", "tags", "extra")))
    assert "Fontane" not in stored
    assert "example.org" not in stored
    assert "Thanks for nothing" not in stored
    event = AuditEvent.objects.get(action="make_case", dataset_name="prod-cases")
    assert event.details["seen_by"] == ["cleo"]
    assert "Fontane" not in json.dumps(event.details)
    assert "trace-1" not in json.dumps(event.details) + stored
    assert check_dataset(cases, actor=None).error_count == 0
    assert "W214" not in cases.check_reports.get().totals
    assert "trace-1" not in json.dumps(list(JobRun.objects.values("parameters", "result")))


@pytest.mark.django_db(transaction=True)
def test_erased_with_a_person_are_the_cases_of_their_conversations(
    session: Session, tmp_path: Path, client: Client
) -> None:
    """Also those made of such cases; none of another conversation with the same id."""
    canary = "speckled teapot lid"
    told = OPTIONS._replace(rubric=f"Mentions the {canary}", failure_mode=canary)
    made = make_case(session, 4, "prod-cases", told)
    send_case(made.dataset, made.family, ["ana", "ben"])
    again = Session.objects.filter(dataset=made.dataset).order_by("pk")[0]
    make_case(again, again.turn_count, "cases-of-cases", CaseOptions())
    lines = [
        factories.make_turn("trace-1", 1, "user", text="Hi"),
        factories.make_turn("trace-1", 2, text="Yes?"),
    ]
    other = factories.make_dataset(tmp_path, lines, name="other", origin="production")
    make_case(other.sessions.get(), 2, "other-cases", CaseOptions())
    client.force_login(make_user("privacy officer", "otto"))
    address = reverse("admin:datasets_app_dataset_erase_person")
    page = client.post(address, {"person": "Fontane", "do": "find"}).content.decode()
    assert page.count("made of their conversations") == 2
    assert {place for place, rows in rows_of_all_tables() if canary.encode() in rows} != set()
    assert "Erase 6 sessions" in page
    client.post(address, {"person": "Fontane", "do": "erase", "reason": "Request of 3 May"})
    factories.run_task(JobRun.objects.get(operation="erase_session"))
    left = Session.objects.values_list("dataset__name", flat=True).order_by("dataset__name")
    assert list(left) == ["other", "other-cases"]
    assert [place for place, rows in rows_of_all_tables() if canary.encode() in rows] == []


@pytest.mark.django_db(transaction=True)
def test_erased_everywhere_a_conversation_takes_its_cases_along(session: Session) -> None:
    made = make_case(session, 4, "prod-cases", OPTIONS)
    send_case(made.dataset, made.family, ["ana", "ben"])
    cases = Dataset.objects.get(name="prod-cases")
    assert preview_erasure(session)["also_in"] == ["prod-cases"]
    erase_session_by_id("prod", session.session_id, "Request of 3 May", everywhere=True)
    assert not Session.objects.filter(dataset__in=[session.dataset_id, cases.pk]).exists()


@pytest.mark.django_db(transaction=True)
def test_the_real_tool_splits_and_compares_a_family(session: Session, tmp_path: Path) -> None:
    made = make_case(session, 4, "prod-cases", OPTIONS)
    other = make_case(session, 2, "prod-cases", OPTIONS._replace(first=1, variants=VARIANTS[:1]))
    send_case(made.dataset, made.family, [])
    cases = Dataset.objects.get(name="prod-cases")
    split_dataset(cases, SplitSettings.parse("50,50", 1, "none", 0.9))
    data = tmp_path / "cases.jsonl"
    export_to_path(cases, data)
    lines = [json.loads(line) for line in data.read_text().splitlines()]
    places = dict(Session.objects.filter(dataset=cases).values_list("session_id", "split"))
    for family in (made.family, other.family):
        of_family = [line for line in lines if line["metadata"]["split_group"] == family]
        assert len({places[line["session_id"]] for line in of_family}) == 1
    replies = [line for line in lines if "case_id" in line]
    assert sorted(line["case_id"] for line in replies if line["case_id"].startswith(made.family)) == [
        made.family, f"{made.family}-changed_fact", f"{made.family}-distraction", f"{made.family}-typos",
    ]  # fmt: skip
    assert {line["case_id"] for line in lines if f"case:{made.family}" in line["tags"]} == {
        line["case_id"] for line in replies if line["case_id"].startswith(made.family)
    }
    answers = {tag for line in replies for tag in line["tags"] if tag.startswith("answer:")}
    assert answers == {"answer:same", "answer:change"}
    questions = [line for line in lines if "rubrics" in line["metadata"]]
    assert {line["metadata"]["rubrics"][0]["criterion"] for line in questions} == {RUBRIC}

    run_alignmenter(tmp_path, "dataset", "validate", data, "--strict")
    for by in ("split_group", "group"):
        run_alignmenter(
            tmp_path, "dataset", "split", data, "--holdout", "0.5", "--by", by, "--out", f"by-{by}"
        )
        sides = [
            {json.loads(line)["metadata"]["split_group"] for line in (tmp_path / f"by-{by}" / name).open()}
            for name in ("train.jsonl", "holdout.jsonl")
        ]
        assert not sides[0] & sides[1]
        assert sides[0] | sides[1] == {made.family, other.family}
    # Two runs on the family are compared case by case, and by what is expected of the answer.
    suite = {
        "schema_version": 1, "id": "cases", "revision": "v1", "dataset": "cases.jsonl",
        "evaluation": {"schema_version": 1, "id": "cases", "revision": "v1",
                       "criteria": [{"id": "grounded", "revision": "v1", "evaluator": "grounding"}]},
    }  # fmt: skip
    (tmp_path / "suite.yaml").write_text(yaml.safe_dump(suite))
    compared = json.loads(run_code_with_alignmenter(tmp_path, COMPARE, "suite.yaml").stdout)
    assert (len(compared["details"]), compared["added"], compared["mismatched"]) == (6, [], [])
    groups = {pair["case_id"]: pair["split_group"] for pair in compared["details"]}
    assert groups[f"{made.family}-typos"] == groups[made.family] == made.family
    assert compared["tags"]["answer:change"]["pairs"] == 1
    assert compared["tags"]["answer:same"]["pairs"] == 3


@pytest.mark.django_db(transaction=True)
def test_rubrics_are_compared_for_the_campaign_of_a_case(session: Session, capsys: Any) -> None:
    made = make_case(session, 4, "prod-cases", OPTIONS)
    campaign = send_case(made.dataset, made.family, ["ana", "ben"]).campaign
    assert campaign is not None
    current = lease_next(campaign, get_user("ana")).current
    assert current is not None
    submit(current, label=None, answers={"rubric_1": 1})
    call_command("create_rubrics", "prod-cases", persona="warm_v1", annotators="ana")
    assert "0 campaigns created, 0 with changed rubrics, 1 as before" in capsys.readouterr().out
    call_command("compare_rubrics", "prod-cases", format="json")
    rows = json.loads(capsys.readouterr().out)["rubrics"]
    assert sorted((row["met"], row["campaign"]) for row in rows) == [(0, made.family)] * 3 + [
        (1, made.family)
    ]


@pytest.mark.django_db(transaction=True)
def test_variants_that_the_scrub_makes_alike_are_counted(session: Session) -> None:
    mails = [ASKED.replace("maria.fontane", name) for name in ("m.fontane", "m.f")]
    made = make_case(
        session, 4, "c", CaseOptions(3, "", "", [Variant("changed_fact", "change", m) for m in mails])
    )
    assert send_case(made.dataset, made.family, []) == (None, 2)


@pytest.mark.django_db(transaction=True)
def test_the_command_takes_variants_of_people(session: Session, tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "variants.json"
    file.write_text(json.dumps([{"kind": "rephrase", "answer": "same", "text": "Where did it go?"}]))
    options = {"turn": 4, "into": "cases", "variants": file, "annotators": "ana,ben", "rubric": RUBRIC}
    call_command("make_case", "prod", "trace-1", **options)
    said = capsys.readouterr().out
    assert "is in cases, with 1 variant." in said
    campaign = Campaign.objects.get()
    assert f"The campaign {campaign.name} is open." in said
    assert campaign.item_count == 2
    assert "Where did it go?" in Turn.objects.filter(dataset__name="cases").values_list("text", flat=True)
    job = JobRun.objects.get(operation="send_case")
    assert (job.state, job.parameters["case"]) == ("done", campaign.name)
    file.write_text('[{"kind": "rephrase"}]')
    with pytest.raises(CommandError, match="is no list of variants"):
        call_command("make_case", "prod", "trace-1", **options)


@pytest.mark.django_db(transaction=True)
def test_the_api_makes_the_same_case(session: Session) -> None:
    api = Caller(make_user("curator", "cleo"))
    path = f"/datasets/prod/sessions/{session.pk}/cases"
    options = {"turn": 4, "first": 3, "into": "cases", "rubric": RUBRIC, "annotators": ["ana", "ben"]}
    made = api("POST", path, options)
    assert made.status_code == 201, made.content
    assert (made.json()["dataset"], made.json()["sessions"]) == ("cases", 5)
    perform(made.json()["job"]["id"])
    campaign = Campaign.objects.get()
    assert (campaign.name, campaign.item_count) == (made.json()["case"], 5)
    again = api("POST", path, options)
    assert (again.status_code, "already has a case" in again.json()["detail"]) == (409, True)
    own = {"kind": "rephrase", "answer": "same", "text": "Where did it go?"}
    assert api("POST", path, {"turn": 2, "into": "cases", "variants": [own]}).json()["sessions"] == 2
    assert Caller(make_user("viewer"))("POST", path, options).status_code == 403
    # Who may not start campaigns makes cases alone.
    scopes = ["datasets:read", "imports:write"]
    cora = Caller(make_user("curator", "cora"), scopes)
    assert cora("POST", path, options | {"turn": 6}).json()["scope"] == "campaigns:write"
    api_without_raw = cora("POST", path, {"turn": 6, "into": "cases"})
    assert api_without_raw.status_code == 409


@pytest.mark.django_db
def test_what_is_no_case(session: Session) -> None:
    for turn, options, message in (
        (3, OPTIONS, "ends with a reply"),
        (4, OPTIONS._replace(first=4), "ends with a reply"),
        (4, OPTIONS._replace(variants=[Variant("typos", "same", ASKED)]), "the same as the message"),
        (4, OPTIONS._replace(variants=[Variant("typos", "maybe", "Hi")]), "what is expected"),
    ):
        with pytest.raises(UserError, match=message):
            make_case(session, turn, "prod-cases", options)
    with pytest.raises(UserError, match="Choose another dataset"):
        make_case(session, 4, "prod", OPTIONS)
    with pytest.raises(UserError, match="There is no user zoe"):
        make_case(session, 4, "prod-cases", OPTIONS._replace(annotators=["ana", "zoe"]))
    Persona.objects.all().delete()
    with pytest.raises(UserError, match="isn't in the list of personas"):
        make_case(session, 4, "prod-cases", OPTIONS._replace(annotators=["ana"]))
    assert Session.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_only_datasets_of_cases_are_added_to_and_scrubbed(session: Session, tmp_path: Path) -> None:
    asked = {"session_id": "other", "turn_index": 1, "role": "user", "text": ASKED}
    other = factories.make_dataset(tmp_path, [asked], name="other", origin="production")
    with pytest.raises(UserError, match="holds other sessions than test cases"):
        make_case(session, 4, "other", OPTIONS)
    made = make_case(session, 4, "prod-cases", OPTIONS)
    send_case(made.dataset, made.family, [])
    again = make_case(session, 2, "prod-cases", CaseOptions())
    factories.make_dataset(tmp_path, [asked], name="prod-cases", origin="production")
    with pytest.raises(UserError, match="holds other sessions than test cases"):
        send_case(again.dataset, again.family, [])
    other.refresh_from_db()
    assert (other.status, other.session_count) == (Dataset.Status.RAW, 1)
    assert Turn.objects.filter(text=ASKED, session__session_id="other").count() == 2


@pytest.mark.django_db(transaction=True)
def test_an_erased_case_does_not_come_back(session: Session) -> None:
    made = make_case(session, 2, "prod-cases", CaseOptions())
    erase_session(Session.objects.get(dataset=made.dataset), "Asked for")
    with pytest.raises(UserError, match="was erased"):
        make_case(session, 2, "prod-cases", CaseOptions())


@pytest.mark.django_db
def test_a_case_is_seen_by_nobody_who_does_not_see_its_conversation(session: Session) -> None:
    cleo = make_user("curator", "cleo")
    make_case(session, 4, "prod-cases", OPTIONS, actor=cleo)
    Dataset.objects.filter(pk=session.dataset_id).update(restricted=True)
    DatasetGrant.objects.create(dataset=session.dataset, user=cleo)
    with pytest.raises(UserError, match="is seen by people who don't see prod"):
        make_case(session, 2, "prod-cases", CaseOptions(), actor=cleo)
    made = make_case(session, 2, "own-cases", CaseOptions(), actor=cleo).dataset
    DatasetGrant.objects.create(dataset=made, user=make_user("viewer", "vic"))
    with pytest.raises(UserError, match="is seen by people who don't see prod"):
        make_case(session, 4, "own-cases", OPTIONS, actor=cleo)
    DatasetGrant.objects.filter(dataset=made).delete()
    with pytest.raises(UserError, match="You can't add cases to own-cases"):
        make_case(session, 4, "own-cases", OPTIONS, actor=cleo)
    assert make_case(session, 4, "own-cases", OPTIONS).sessions == 4


@pytest.mark.django_db
def test_the_page_proposes_what_it_can(session: Session, client: Any) -> None:
    client.force_login(make_user("curator", "cleo"))
    page = reverse("admin:annotations_app_campaign_case", args=[session.pk])
    shown = client.get(reverse("admin:datasets_app_session_change", args=[session.pk])).content.decode()
    assert f'data-key="t"\n            href="{page}"' in shown
    palette = reverse("palette")
    found = client.get(
        palette,
        {"q": "make test"},
        headers={"Referer": f"http://testserver/admin/datasets_app/session/{session.pk}/change/"},
    )
    assert page in found.content.decode()
    assert page not in client.get(palette, {"q": "make test"}).content.decode()
    form = client.get(f"{page}?turn=4").context["form"]
    filled = {field.name: field.value() for field in form}
    assert (filled["reply"], filled["dataset"]) == (4, "prod-cases")
    chosen = User.objects.filter(pk__in=filled["annotators"]).order_by("username")
    assert [user.username for user in chosen] == ["ana", "ben"]
    assert filled["text_typos"] == draft_variant("typos", ASKED)
    answer = client.post(page, {**filled, "rubric": RUBRIC, "failure_mode": "no apology"}, follow=True)
    assert "with 4 variants. Its raw text was seen by cleo." in answer.content.decode()
    job = JobRun.objects.get(operation="send_case")
    assert job.parameters.keys() == {"case", "annotators"}
    case = Session.objects.filter(dataset__name="prod-cases").first()
    assert case is not None
    of_case = client.get(reverse("admin:datasets_app_session_change", args=[case.pk])).content.decode()
    assert "turn 4 of a conversation of prod</dd>" in " ".join(of_case.split())
    assert "1 person, whom the audit log names" in " ".join(of_case.split())
    viewer = make_user("viewer", "vic")
    client.force_login(viewer)
    assert client.get(page).status_code == 403
