"""Campaigns that compare the replies of two datasets: what is paired, what is shown, who wins."""

import json
import re
from io import BytesIO
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.test import Client
from django.urls import reverse

from alignmenter_site.keys.hash_key import hash_key
from annotations_app.agreement.adjudicate import adjudicate
from annotations_app.agreement.criteria import measure_criteria
from annotations_app.campaigns.create import create_campaign
from annotations_app.campaigns.settings import InvalidSetting
from annotations_app.criteria.schemas import import_schema, preference_schema
from annotations_app.domain.answer_files.formats import FORMATS
from annotations_app.labeling.lease_next import lease_next
from annotations_app.labels.export_annotations import export_annotations
from annotations_app.labels.import_annotations import import_annotations
from annotations_app.models import Assignment, Campaign, CampaignItem, Judgment, PairedReply
from datasets_app.access import limit_access
from datasets_app.catalog import text_gates
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.session_ids import hash_session_id
from datasets_app.models import Dataset, Release, Session
from datasets_app.releasing.load_release import load_release
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.retention.delete_contents import delete_dataset_rows, delete_sessions
from tests.api.calls import Caller, make_user
from tests.campaigns import (
    find_inconsistencies,
    get_user,
    make_annotators,
    make_campaign,
    make_persona,
    submit,
)
from tests.everything import make_user_with
from tests.factories import make_dataset, make_session, make_sessions

pytestmark = pytest.mark.django_db


def make_version(path: Path, name: str, lines: list[Any]) -> Dataset:
    dataset = make_dataset(path, lines, name)
    text_gates.scan_and_describe(dataset)
    return dataset


def answered(lines: list[Any], how: str) -> list[Any]:
    """The same conversations with replies of another assistant."""
    return [line if line["role"] == "user" else {**line, "text": f"{how}: {line['text']}"} for line in lines]


@pytest.fixture
def versions(tmp_path: Path) -> tuple[Dataset, Dataset]:
    lines = make_sessions(12, 4)
    return (
        make_version(tmp_path, "june", answered(lines, "Junewise")),
        make_version(tmp_path, "may", answered(lines, "Maywise")),
    )


def compare(versions: tuple[Dataset, Dataset], *names: str, **options: Any) -> Campaign:
    june, may = versions
    options = {"overlap": len(names), "schema": preference_schema(), **options}
    return make_campaign(june, *names, other_dataset=may, **options)


def test_exports_name_what_was_chosen(versions: tuple[Dataset, Dataset], tmp_path: Path) -> None:
    campaign = compare(versions, "ana")
    while current := lease_next(campaign, get_user("ana")).current:
        current.annotator = get_user("ana")
        # The campaign's own reply, wherever it is.
        better = "b" if current.item.pair.swapped else "a"
        submit(current, label=None, answers={campaign.schema.content.criteria[0].key: better})
    for labels in ("all", "majority"):
        lines = export_pairs(campaign, labels=labels)
        assert len(lines) == 24
        assert {(line["chosen"], line["rejected"]) for line in lines} == {("june", "may")}
        assert all(line["pair"][line["value"]] == "june" for line in lines)
        assert len({line["value"] for line in lines}) == 2
    # Who doesn't see the other dataset doesn't learn its name; what is read again says the same.
    limit_access.restrict_dataset(versions[1], actor=None)
    limited = make_user_with(excluded=("datasets_app.limit_access",))
    hidden = export_pairs(campaign, actor=limited)
    assert {(line["chosen"], line["rejected"]) for line in hidden} == {("june", "another dataset")}
    make_version(tmp_path, "copy", make_sessions(12, 4))
    for format in FORMATS:
        path = tmp_path / f"file.{FORMATS[format].ending}"
        path.write_bytes(export_lines(campaign, format=format))
        added = import_annotations(path, dataset_name="copy").saved.added
        assert added == (24 if format == "jsonl" else 0), format
    copied = Dataset.objects.get(name="copy")
    export_annotations(copied, schema=campaign.schema, out=(out := BytesIO()))
    again = [json.loads(line) for line in out.getvalue().splitlines()]
    assert [(line["pair"], line["chosen"]) for line in again] == [
        (line["pair"], line["chosen"]) for line in export_pairs(campaign)
    ]


def export_pairs(campaign: Campaign, **options: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in export_lines(campaign, **options).splitlines()]


def export_lines(campaign: Campaign, **options: Any) -> bytes:
    export_annotations(
        campaign.dataset, schema=campaign.schema, campaign=campaign, out=(out := BytesIO()), **options
    )
    return out.getvalue()


def test_what_has_no_pair_is_counted_and_said(tmp_path: Path) -> None:
    lines = make_sessions(5, 4)
    june = make_version(tmp_path, "june", answered(lines, "June"))
    other = [line for line in answered(lines, "May") if line["session_id"] != "s5"]
    for line in other:
        place = line["session_id"], line["turn_index"]
        if place == ("s1", 2):
            line["text"] = "June: " + line["text"].removeprefix("May: ")  # equal
        if place == ("s2", 3):
            line["text"] = "Another question."
        if place == ("s3", 4):
            line["role"] = "user"  # no reply there
    may = make_version(tmp_path, "may", other)
    campaign = compare((june, may), "ana")
    assert campaign.unpaired == {
        "equal": {"replies": 1, "sessions": 1},
        "no_reply": {"replies": 1, "sessions": 1},
        "no_session": {"replies": 2, "sessions": 1},
        "other_questions": {"replies": 1, "sessions": 1},
    }
    assert campaign.item_count == 5
    pairs = PairedReply.objects.select_related("item__turn__session", "turn__session")
    for pair in pairs:
        assert pair.turn.session.session_id == pair.item.turn.session.session_id
        assert (pair.turn.turn_index, pair.turn.dataset) == (pair.item.turn.turn_index, may)
    places = {(pair.turn.session.session_id, pair.turn.turn_index) for pair in pairs}
    assert places == {("s1", 4), ("s2", 2), ("s3", 2), ("s4", 2), ("s4", 4)}


def test_sides_are_drawn_by_the_seed(versions: Any) -> None:
    def sides(name: str, seed: int) -> dict[int, bool]:
        campaign = compare(versions, "ana", name=name, seed=seed)
        return dict(PairedReply.objects.filter(item__campaign=campaign).values_list("turn", "swapped"))

    first = sides("first", 42)
    assert len(first) == 24
    assert 5 <= sum(first.values()) <= 19
    assert sides("again", 42) == first
    assert sides("other", 43) != first


@pytest.mark.parametrize("case", ["itself", "no schema", "no other", "no pair", "gold", "disputed"])
def test_what_can_not_be_compared_is_refused(case: str, versions: Any, tmp_path: Path) -> None:
    june, may = versions
    if case == "itself":
        with pytest.raises(InvalidSetting, match="itself"):
            compare((june, june), "ana")
    elif case == "no schema":
        with pytest.raises(InvalidSetting, match="kind preference"):
            compare(versions, "ana", schema=None)
    elif case == "no other":
        with pytest.raises(InvalidSetting, match="choose a dataset"):
            make_campaign(june, "ana", schema=preference_schema())
    elif case == "gold":
        with pytest.raises(InvalidSetting, match="no gold answers"):
            compare(versions, "ana", gold_share=0.1)
    elif case == "disputed":
        with pytest.raises(InvalidSetting, match="no earlier labels"):
            compare(versions, "ana", order="disputed")
    else:
        equal = make_version(tmp_path, "equal", answered(make_sessions(12, 4), "Junewise"))
        with pytest.raises(UserError, match="24 replies of 12 sessions are equal"):
            compare((june, equal), "ana")


def test_nothing_on_the_page_tells_the_source(versions: Any) -> None:
    campaign = compare(versions, "ana")
    lease_next(campaign, get_user("ana"))
    client = Client()
    client.force_login(get_user("ana"))
    html = client.get(reverse("annotate:queue", args=[campaign.name])).content.decode()
    pages = [html]
    assignments = list(Assignment.objects.select_related("item__pair", "item__turn__session"))
    assert len(assignments) > 1
    for assignment in assignments:
        part = re.search(rf'<article class="q-item" id="a{assignment.pk}".*?</article>', html, re.DOTALL)
        assert part is not None
        replies = re.findall(r"(Junewise|Maywise): What assistant says as number (\d)", part[0])
        shown = [name for name, _ in replies]
        assert shown == (["Maywise", "Junewise"] if assignment.item.pair.swapped else ["Junewise", "Maywise"])
        # No earlier reply, which would be one of them, and nothing after it.
        assert {int(index) for _, index in replies} == {assignment.item.turn.turn_index}
        assert "What user says as number 1" in part[0]
        around = reverse("annotate:turns", args=[campaign.name, assignment.pk])
        pages += [client.get(around, {side: 3}).content.decode() for side in ("before", "after")]
        assert "wise" not in "".join(pages[-2:])
        whole = reverse(
            "annotate:whole_turn", args=[campaign.name, assignment.pk, assignment.item.turn.turn_index]
        )
        sides = [client.get(whole, {"side": side}).content.decode() for side in ("a", "b")]
        assert [name in side for name, side in zip(shown, sides, strict=True)] == [True, True]
        assert client.get(whole).status_code == 404
    submit(assignments[0], label=None, answers={"better": "a"})
    pages.append(client.get(reverse("annotate:queue", args=[campaign.name])).content.decode())
    for text in pages:
        assert "june" not in text
        assert "may" not in re.sub(r"\bmay\b (?!be)", "", text).replace("maybe", "").replace("Maywise", "")
    assert 'data-key="1"' in html
    recent = re.findall(r'data-snippet="([^"]*)"', pages[-1])
    assert recent
    assert not [snippet for snippet in recent if "wise" in snippet]


def label_by(campaign: Campaign, name: str, choose: Any) -> None:
    while current := lease_next(campaign, get_user(name)).current:
        swapped = PairedReply.objects.get(item=current.item_id).swapped
        submit(current, label=None, answers={"better": choose(swapped, current.item_id)})


@pytest.mark.django_db(transaction=True)
def test_who_wins_by_page_command_and_api(versions: Any, manage: Any, client: Client) -> None:
    campaign = compare(versions, "ana", "ben")
    # Ana prefers june, ben takes what is shown as A.
    label_by(campaign, "ana", lambda swapped, _: "b" if swapped else "a")
    label_by(campaign, "ben", lambda swapped, item: "a" if item % 4 else "tie")
    [measured] = measure_criteria(campaign).criteria
    found = measured.preference
    assert found is not None
    swapped = set(PairedReply.objects.filter(swapped=True).values_list("item", flat=True))
    kept = set(CampaignItem.objects.values_list("pk", flat=True)) - swapped
    taken = [item for item in kept if item % 4], [item for item in swapped if item % 4]
    assert (found.wins, found.losses) == (24 + len(taken[0]), len(taken[1]))
    assert found.wins + found.losses + found.ties == 48
    assert found.win_rate.value == pytest.approx((found.wins + found.ties / 2) / 48)
    assert found.win_rate.low is not None
    assert found.win_rate.low > 0.5
    assert found.is_side_biased
    assert measured.report is not None
    assert measured.scale == "nominal"
    said = json.loads(manage("agreement", "--campaign", campaign.name, "--format", "json").stdout)
    assert said["criteria"][0]["preference"]["wins"] == found.wins
    text = manage("agreement", "--campaign", campaign.name).stdout
    assert "This dataset wins: a win rate of" in text
    assert "Side bias: annotators prefer the reply shown as A" in text
    report = Caller(make_user("lead"))("GET", f"/campaigns/{campaign.name}/agreement").json()["report"]
    assert report == said
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    html = client.get(reverse("admin:annotations_app_campaign_measured", args=[campaign.pk])).content.decode()
    assert html.index("This dataset wins") < html.index("Krippendorff’s alpha")
    html = client.get(reverse("admin:annotations_app_campaign_change", args=[campaign.pk])).content.decode()
    assert "Annotators choose the better of two replies" in html
    assert ">may</a>" in html
    # Rates of replies and adjudication are of single replies.
    address = reverse("admin:annotations_app_campaign_agreement", args=[campaign.pk])
    html = client.get(address).content.decode()
    assert "How good is the assistant" not in html
    assert "Resolve disagreements" not in html


@pytest.mark.django_db(transaction=True)
def test_who_wins_by_tag(tmp_path: Path, manage: Any, client: Client) -> None:
    lines = make_sessions(12, 4)
    for line in lines:
        line["tags"] = ["scenario:billing" if int(line["session_id"][1:]) % 2 else "scenario:refund"]
    june = make_version(tmp_path, "june", answered(lines, "Junewise"))
    campaign = compare((june, make_version(tmp_path, "may", answered(lines, "Maywise"))), "ana")
    of_refunds = set(CampaignItem.objects.filter(turn__tags=["scenario:refund"]).values_list("pk", flat=True))
    # June is better at refunds, and not at bills.
    label_by(campaign, "ana", lambda swapped, item: "b" if swapped == (item in of_refunds) else "a")
    said = json.loads(manage("agreement", "--campaign", campaign.name, "--format", "json").stdout)
    by_tag = said["criteria"][0]["preference_by_tag"]
    wins = {tag: (found["wins"], found["losses"]) for tag, found in by_tag.items()}
    assert wins == {"scenario:billing": (0, 12), "scenario:refund": (12, 0)}
    assert "scenario:refund" in manage("agreement", "--campaign", campaign.name).stdout
    report = Caller(make_user("lead"))("GET", f"/campaigns/{campaign.name}/agreement").json()["report"]
    assert report == said
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    html = client.get(reverse("admin:annotations_app_campaign_measured", args=[campaign.pk])).content.decode()
    assert "Who wins, by tag" in html


@pytest.mark.django_db(transaction=True)
def test_by_command(versions: Any, manage: Any) -> None:
    make_annotators("ana")
    make_persona()
    done = manage(
        "create_campaign", "june-or-may", "--dataset", "june", "--compare", "may", "--persona", "warm_v1",
        "--annotators", "ana", "--overlap", 1,
    )  # fmt: skip
    assert done.returncode == 0
    assert "24 replies" in done.stdout
    assert Campaign.objects.get().schema.full_name == "preference@1"  # type: ignore[union-attr]


@pytest.mark.parametrize("page", ["calibration", "notes"])
def test_leads_see_both_replies_as_annotators_did(page: str, versions: Any, client: Client) -> None:
    campaign = compare(versions, "ana", "ben", calibration_replies=2)
    for name, answer in (("ana", "a"), ("ben", "b")):
        while current := lease_next(campaign, get_user(name)).current:
            submit(current, label=None, answers={"better": answer}, notes="A note.")
    lead = make_user_with(name="lena", excluded=("datasets_app.limit_access",))
    client.force_login(lead)
    address = reverse(f"admin:annotations_app_campaign_{page}", args=[campaign.pk])
    html = client.get(address).content.decode()
    for pair in PairedReply.objects.filter(item__calibration=True).select_related("item__turn", "turn"):
        texts = [pair.item.turn.text, pair.turn.text]
        first, second = reversed(texts) if pair.swapped else texts
        shown = " ".join(re.sub("<[^>]+>", " ", html).split())
        assert f"A {first} B {second}" in shown
    # Who doesn't see the other dataset reads neither.
    limit_access.restrict_dataset(versions[1], actor=None)
    hidden = client.get(address).content.decode()
    assert "wise:" not in hidden


@pytest.fixture
def released(versions: Any, tmp_path: Path) -> tuple[Release, Release]:
    """Two releases of one dataset: in the second all replies say something else."""
    june, _ = versions
    first = release_dataset(june, folder=tmp_path, actor=None)
    for turn in june.turns.filter(role="assistant"):
        june.turns.filter(pk=turn.pk).update(text=turn.text.replace("Junewise", "Julywise"))
    second = release_dataset(june, folder=tmp_path, actor=None)
    older, newer = (Release.objects.get(pk=one.release) for one in (first, second))
    return older, newer


@pytest.mark.django_db(transaction=True)
def test_two_releases_by_command_api_and_page(released: Any, manage: Any, client: Client) -> None:
    older, newer = (f"june@{release.version}" for release in released)
    [ana] = make_annotators("ana")
    persona = make_persona()
    command = ("create_campaign", "first", "--persona", "warm_v1", "--annotators", "ana", "--overlap", 1)
    made = manage(*command, "--dataset", newer, "--compare", older)
    assert made.returncode == 0, made.stderr
    campaign = Campaign.objects.get(name="first")
    texts = {pair.item.turn.text.split(":")[0] for pair in PairedReply.objects.select_related("item__turn")}
    assert texts == {"Julywise"}
    assert {pair.turn.text.split(":")[0] for pair in PairedReply.objects.select_related("turn")} == {
        "Junewise"
    }
    names = [dataset.name for dataset in campaign.datasets]
    assert names == [f"june-{release.version}" for release in reversed(released)]
    # What is loaded is taken, by whoever sees it; the dataset as it is now is another side.
    body = {"name": "second", "dataset": newer, "compare": older, "persona": "warm_v1", "annotators": ["ana"]}
    answer = Caller(make_user("lead"))("POST", "/campaigns", body | {"overlap": 1})
    assert answer.status_code == 201, answer.content
    assert Campaign.objects.get(name="second").datasets == campaign.datasets
    client.force_login(make_user("curator"))
    answers = {
        "dataset": released[0].dataset_id, "release": released[1].pk, "other_release": released[0].pk,
        "persona": persona.pk, "name": "third", "annotators": [ana.pk], "overlap": 1, "gold": 0, "repeats": 0,
        "order": "random", "lease_minutes": 15, "seed": 42,
    }  # fmt: skip
    client.post(reverse("admin:annotations_app_campaign_add"), answers)
    assert Campaign.objects.get(name="third").datasets == campaign.datasets
    assert Dataset.objects.count() == 4


def test_a_release_is_loaded_by_who_may_read_and_import(released: Any) -> None:
    older, newer = released
    lead, curator = make_user("lead"), make_user("curator")
    with pytest.raises(UserError, match="permission to import"):
        load_release(older, actor=lead)
    limit_access.restrict_dataset(older.dataset, actor=None)
    limit_access.grant_access(older.dataset, curator, actor=None)
    loaded = load_release(older, actor=curator)
    assert loaded.restricted
    assert list(Dataset.objects.visible_to(curator).filter(pk=loaded.pk)) == [loaded]
    with pytest.raises(UserError, match="with the access that you have here"):
        load_release(older, actor=lead)
    Dataset.objects.create(name=f"june-{newer.version}")
    with pytest.raises(UserError, match="choose it by its own name"):
        load_release(newer, actor=None)


def test_the_test_split_of_a_dataset_stays_locked_in_its_releases(released: Any, tmp_path: Path) -> None:
    june = released[0].dataset
    june.sessions.filter(session_id__in=["s1", "s2", "s3"]).update(split="test")
    june.sessions.filter(session_id="s4").update(split="train")
    loaded = load_release(released[0], actor=None)
    campaign = make_campaign(loaded, "ana")
    labeled = set(campaign.items.values_list("turn__session__session_id", "turn__session__split"))
    assert ("s4", "train") in labeled
    assert {name for name, _ in labeled} == {f"s{number}" for number in range(4, 13)}
    with pytest.raises(UserError, match="test split of june-1.0.0 is locked"):
        make_campaign(loaded, "ana", name="test", split="test")
    # What is split later, and what the dataset knows by a hash or not at all.
    june.sessions.filter(session_id="s5").update(split="test")
    june.sessions.filter(session_id="s4").update(split="test")  # the loaded dataset has one of its own
    load_release(released[0], actor=None)
    assert list_splits(loaded) == dict.fromkeys(("s1", "s2", "s3", "s5"), "test") | {"s4": "train"}
    third = Release.objects.get(pk=release_dataset(june, folder=tmp_path, actor=None).release)
    hashed = hash_session_id("s1", hash_key())
    june.sessions.filter(session_id="s1").update(session_id=hashed, id_hashed=True)
    june.sessions.filter(session_id="s6").update(session_id="unknown")
    held = ("s1", "s2", "s3", "s4", "s5", "s6")
    assert list_splits(load_release(third, actor=None)) == dict.fromkeys(held, "test")


def list_splits(dataset: Dataset) -> dict[str, str]:
    return dict(dataset.sessions.exclude(split=None).values_list("session_id", "split"))


def test_a_token_that_is_limited_to_datasets_loads_no_release(released: Any) -> None:
    curator: Any = make_user("curator")
    curator.token_datasets = frozenset([released[0].dataset_id])
    with pytest.raises(UserError, match="with the access that you have here"):
        load_release(released[0], actor=curator)
    assert Dataset.objects.count() == 2


def test_a_release_for_a_campaign_that_is_refused_does_not_stay(released: Any) -> None:
    make_annotators("ana")
    make_persona()
    body = {
        "name": "c",
        "dataset": f"june@{released[0].version}",
        "persona": "warm_v1",
        "annotators": ["ana"],
    }
    answer = Caller(make_user("curator"))("POST", "/campaigns", body | {"overlap": 3})
    assert answer.status_code == 409, answer.content
    assert Dataset.objects.count() == 2


def test_a_release_that_cant_be_split_is_not_loaded(released: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("datasets_app.releasing.load_release.write_splits", Mock(side_effect=UserError("no")))
    released[0].dataset.sessions.update(split="test")
    with pytest.raises(UserError):
        load_release(released[0], actor=None)
    assert not Dataset.objects.filter(name__startswith="june-").exists()


def test_a_release_of_production_data_is_seen_by_the_same_people(released: Any) -> None:
    source = released[0].dataset
    Dataset.objects.filter(pk=source.pk).update(origin="production")
    lead, curator = make_user("lead"), make_user("curator")
    limit_access.restrict_dataset(source, actor=None)
    for person in (lead, curator):
        limit_access.grant_access(source, person, actor=None)
    loaded = load_release(Release.objects.get(pk=released[0].pk), actor=curator)
    assert (loaded.origin, loaded.restricted) == ("production", True)
    assert set(loaded.grants.values_list("user", flat=True)) == {lead.pk, curator.pk}
    with pytest.raises(UserError, match="scrub"):
        make_campaign(loaded, "ana")


@pytest.mark.parametrize("whole", [False, True])
def test_what_was_compared_with_deleted_text_goes_with_it(whole: bool, versions: Any) -> None:
    _, may = versions
    campaign = compare(versions, "ana")
    label_by(campaign, "ana", lambda swapped, item: "a")
    assert Judgment.objects.count() == 24
    if whole:
        Dataset.objects.filter(pk=may.pk).update(status=Dataset.Status.EXPIRED)
        delete_dataset_rows(may)
    else:
        delete_sessions(may, list(Session.objects.filter(dataset=may).values_list("pk", flat=True)[:1]))
    campaign.refresh_from_db()
    left = 0 if whole else 22
    counts = [model.objects.count() for model in (Judgment, CampaignItem, PairedReply, Assignment)]
    assert [*counts, campaign.item_count] == [left] * 5
    assert find_inconsistencies() == []


def test_pairs_are_not_adjudicated(versions: Any) -> None:
    campaign = compare(versions, "ana")
    with pytest.raises(UserError, match="aren't adjudicated"):
        adjudicate(
            CampaignItem.objects.earliest("pk").turn,
            "warm_v1",
            campaign=campaign,
            answers={"better": "a"},
            reason="It is.",
            actor=None,
        )


def test_a_schema_may_ask_several_things_of_a_pair(versions: Any) -> None:
    schema = import_schema(
        "schema: two\ncriteria:\n"
        "- {key: better, question: Better?, kind: preference}\n"
        "- {key: kinder, question: Kinder?, kind: preference}\n"
        "- {key: why, question: Why?, kind: text, optional: true}\n"
    ).schema
    keys = [level.key for criterion in schema.content.criteria[:2] for level in criterion.levels]
    assert len(set(keys)) == 8
    campaign = compare(versions, "ana", schema=schema)
    current = lease_next(campaign, get_user("ana")).current
    assert current is not None
    submit(current, label=None, answers={"better": "both_bad", "kinder": "b", "why": "Short."})
    assert Judgment.objects.get().codes == {"better": 3, "kinder": 1}


def test_answers_of_a_preference_are_fixed() -> None:
    with pytest.raises(UserError, match="the answers of a preference are a, b, tie, both_bad"):
        import_schema(
            "schema: x\ncriteria: [{key: k, question: Q?, kind: preference, answers: [b, a, tie, bad]}]"
        )


def test_raw_text_of_the_other_dataset_is_refused(tmp_path: Path) -> None:
    june = make_version(tmp_path, "june", answered(make_session("s1"), "June"))
    written = "Write to ada.lovelace@example.org or call +49 30 901820"
    raw = make_version(tmp_path, "may", answered(make_session("s1"), written))
    make_annotators("ana")
    campaign = Campaign(
        name="x",
        dataset=june,
        persona=make_persona(),
        schema=preference_schema(),
        other_dataset=raw,
        overlap=1,
    )
    with pytest.raises(UserError, match="may"):
        create_campaign(campaign, ["ana"])


@pytest.mark.django_db(transaction=True)
def test_two_answers_of_one_file_are_compared(tmp_path: Path, manage: Any) -> None:
    file = tmp_path / "pairs.csv"
    rows = [f"q{number},Is it open on day {number}?,Yes it is.,No.\n" for number in range(4)]
    file.write_text("id,prompt,response_a,response_b\n" + "".join(rows))
    for name, answer in (("one", "response_a"), ("two", "response_b")):
        columns = ("--map", "question=prompt", "--map", f"answer={answer}")
        done = manage("import_dataset", file, "--name", name, "--origin", "synthetic", *columns)
        assert "8 turns in 4 sessions" in done.stdout, done.stderr
    make_persona()
    make_annotators("ana", "ben")
    done = manage(
        "create_campaign", "best", "--dataset", "one", "--compare", "two", "--persona", "warm_v1",
        "--annotators", "ana,ben",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert PairedReply.objects.count() == 4
