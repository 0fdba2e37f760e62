"""Questions about a whole session beside those about a reply: answered together, counted by session."""

import json
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations_app.agreement.criteria import measure_criteria
from annotations_app.campaigns.add_replies import add_replies
from annotations_app.campaigns.edit import edit_campaign
from annotations_app.campaigns.settings import InvalidSetting
from annotations_app.criteria.schemas import import_schema
from annotations_app.labels.export_annotations import export_annotations
from annotations_app.models import Campaign, CampaignItem, Judgment
from datasets_app.core.errors import UserError
from datasets_app.domain.labels.schema_document import InvalidSchema, dump_schema, parse_schema
from datasets_app.models import Dataset
from tests.campaigns import find_inconsistencies, lease_for, make_campaign, make_replies, submit

pytestmark = pytest.mark.django_db

SCHEMA = """\
schema: both
criteria:
  - {key: right, question: Right?, kind: yes_no}
  - {key: solved, question: Was it solved?, kind: yes_no, of: session}
  - {key: faults, question: Faults?, kind: tags, answers: [loop, tone], of: session, when: {solved: 0}}
"""


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return make_replies(tmp_path, 3, turns=6)


@pytest.fixture
def campaign(dataset: Dataset) -> Campaign:
    return make_campaign(dataset, "ana", "ben", overlap=2, schema=import_schema(SCHEMA).schema)


def judge_all(campaign: Campaign, name: str, solved: int = 1) -> int:
    about = {"solved": solved, **({} if solved else {"faults": ["loop"]})}
    done = 0
    while current := lease_for(campaign, name).current:
        answers = {"right": 1, **(about if current.item.asks_session else {})}
        submit(current, label=None, answers=answers)
        done += 1
    return done


def test_asked_once_and_counted_by_session(campaign: Campaign) -> None:
    asking = CampaignItem.objects.filter(asks_session=True)
    assert sorted(asking.values_list("turn__turn_index", flat=True)) == [6, 6, 6]
    assert judge_all(campaign, "ana") == judge_all(campaign, "ben", solved=0) == 9
    assert not find_inconsistencies()
    measured = {one.criterion.key + one.tag: one for one in measure_criteria(campaign, resamples=0).criteria}
    assert measured["right"].report is not None
    assert measured["right"].report.headline.items == 9
    solved = measured["solved"]
    assert ({one.name: one.labels for one in solved.answers}, solved.title) == (
        {"No": 3, "Yes": 3},
        "Was it solved? (whole sessions, nominal)",
    )
    assert solved.report is not None
    assert (solved.report.headline.items, solved.report.headline.raw_agreement.value) == (3, 0)
    assert solved.as_json()["of"] == "session"
    export_annotations(campaign.dataset, schema=campaign.schema, campaign=campaign, out=(out := BytesIO()))
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    about = [(line["session_id"], line["annotator"]) for line in lines if line["criterion"] == "solved"]
    assert len(about) == len(set(about)) == 6
    assert {(line["criterion"], line.get("of")) for line in lines} == {
        ("right", None), ("solved", "session"), ("faults", "session"),
    }  # fmt: skip


def test_all_or_nothing(campaign: Campaign) -> None:
    leased = lease_for(campaign, "ana").leased
    while not any(one.item.asks_session for one in leased):
        submit(leased[0], label=None, answers={"right": 1})
        leased = lease_for(campaign, "ana").leased
    asking = next(one for one in leased if one.item.asks_session)
    with pytest.raises(UserError, match="Solved has no answer"):
        submit(asking, label=None, answers={"right": 1})
    assert not Judgment.objects.filter(assignment=asking).exists()
    submit(asking, label=None, answers={"right": 1, "solved": 0, "faults": []})
    submit(asking, "undo")
    leased = lease_for(campaign, "ana").leased
    while not (plain := next((one for one in leased if not one.item.asks_session), None)):
        submit(leased[0], label=None, answers={"right": 1, "solved": 1})
        leased = lease_for(campaign, "ana").leased
    with pytest.raises(UserError, match="asked of the session, with another"):
        submit(plain, label=None, answers={"right": 1, "solved": 1})


def test_replies_that_are_added_later_ask_no_session_again(campaign: Campaign, dataset: Dataset) -> None:
    few = make_campaign(
        dataset, "ana", name="few", schema=import_schema(SCHEMA).schema, order="session", max_replies=2
    )
    [first] = CampaignItem.objects.filter(campaign=few, asks_session=True)
    sessions = list(dataset.sessions.values_list("pk", flat=True))
    assert add_replies(few, sessions)["replies"] == 7
    asking = CampaignItem.objects.filter(campaign=few, asks_session=True)
    assert asking.count() == 3
    assert first in asking


def test_only_of_sessions(dataset: Dataset) -> None:
    """One reply of each session, the last, is given to annotators."""
    text = "schema: whole\ncriteria:\n  - {key: solved, question: Solved?, kind: yes_no, of: session}\n"
    campaign = make_campaign(dataset, "ana", schema=import_schema(text).schema, max_replies=2)
    assert (campaign.item_count, campaign.items.filter(turn__turn_index=6, asks_session=True).count()) == (
        2,
        2,
    )
    assert add_replies(campaign, list(dataset.sessions.values_list("pk", flat=True)))["replies"] == 1
    submit(lease_for(campaign, "ana").current, label=None, answers={"solved": 1})
    assert campaign.items.count() == 3


def test_a_version_that_asks_of_sessions_too(dataset: Dataset) -> None:
    plain = SCHEMA.split("  - {key: solved")[0]
    campaign = make_campaign(dataset, "ana", schema=import_schema(plain).schema)
    assert not CampaignItem.objects.filter(asks_session=True).exists()
    edit_campaign(campaign, changes={"schema": import_schema(SCHEMA).schema}, actor=None)
    assert CampaignItem.objects.filter(asks_session=True).count() == 3
    only = SCHEMA.replace("  - {key: right, question: Right?, kind: yes_no}\n", "")
    with pytest.raises(InvalidSetting, match="only of sessions"):
        edit_campaign(campaign, changes={"schema": import_schema(only).schema}, actor=None)


def test_other_schemas_cost_nothing(dataset: Dataset) -> None:
    counts = []
    plain = import_schema(SCHEMA.replace("schema: both", "schema: one").split("  - {key: solved")[0]).schema
    for number, schema in enumerate((plain, import_schema(SCHEMA).schema)):
        campaign = make_campaign(dataset, "ana", name=f"c{number}", schema=schema)
        for counted in (False, True):
            current = lease_for(campaign, "ana").current
            answers = {"right": 1, **({"solved": 1} if current.item.asks_session else {})}
            with CaptureQueriesContext(connection) as queries:
                submit(current, label=None, answers=answers)
            if counted:
                counts.append(len(queries))
    assert counts[1] == counts[0] + 1


def test_the_file() -> None:
    schema = parse_schema(SCHEMA)
    assert parse_schema(dump_schema(schema)) == schema
    plain = parse_schema(SCHEMA.replace(", of: session", ""))
    assert plain.digest != schema.digest
    for wrong, sentence in (
        (SCHEMA.replace("of: session,", "of: turn,"), "of must be reply or session"),
        (SCHEMA.replace("when: {solved: 0}", "when: {right: 0}"), "also asked of the session"),
    ):
        with pytest.raises(InvalidSchema, match=sentence):
            parse_schema(wrong)


def test_without_scripts(campaign: Campaign, client: Client) -> None:
    state = lease_for(campaign, "ana")
    client.force_login(state.leased[0].annotator)
    queue = reverse("annotate:queue", args=[campaign.name])
    seen = set()
    while current := lease_for(campaign, "ana").current:
        page = client.get(queue).content.decode()
        asks = current.item.asks_session
        assert ('name="asks_session"' in page) == asks
        assert ("hidden disabled" in " ".join(page.split())) != asks
        form: dict[str, Any] = {
            "assignment": current.pk, "key": f"00000000-0000-4000-8000-{current.pk:012d}",
            "decision": "label", "chosen.right": "1", "schema": "both@1",
        }  # fmt: skip
        if asks:
            form |= {"asks_session": "1", "chosen.solved": "0", "chosen.faults": ["1"]}
        assert client.post(reverse("annotate:decide", args=[campaign.name]), form).status_code == 302
        seen.add((asks, tuple(sorted(Judgment.objects.latest("pk").codes))))
    assert seen == {(False, ("right",)), (True, ("faults", "right", "solved"))}
