"""The demonstration data is what the product says it is, and comes in as anybody's files do."""

import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User

from annotations_app.demo.load_demo import DEMO_DIRECTORY, load_demo
from annotations_app.models import Annotation, Campaign
from datasets_app.access.demo_accounts import create_demo_accounts
from datasets_app.catalog import gates
from datasets_app.checking.check_dataset import check_dataset
from datasets_app.domain.personas.persona import check_persona, parse_persona
from datasets_app.models import Dataset, Persona, Turn
from tests.campaigns import find_inconsistencies, label_all_replies, lease_for


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DEMO_DIRECTORY / name).read_text().splitlines()]


def scenario(turn: dict[str, Any]) -> str:
    return next(tag for tag in turn["tags"] if tag.startswith("scenario:"))


def test_ten_sessions_sixty_turns_and_the_scenarios_promised() -> None:
    turns = lines("demo_conversations.jsonl")
    assert len(turns) == 60
    firsts = [turn for turn in turns if turn["turn_index"] == 1]
    assert Counter(map(scenario, firsts)) == {
        "scenario:product_inquiry": 2,
        "scenario:support": 3,
        "scenario:safety_trap": 2,
        "scenario:brand_trap": 1,
        "scenario:debugging": 2,
    }
    assert {turn["persona_id"] for turn in turns} == {"default_v1"}
    assert all(turn["role"] == ("user" if turn["turn_index"] % 2 else "assistant") for turn in turns)


def test_the_debugging_sessions_speak_as_violence_does_and_mean_software() -> None:
    turns = [turn for turn in lines("demo_conversations.jsonl") if "scenario:edge_case" in turn["tags"]]
    words = " ".join(turn["text"].lower() for turn in turns)
    assert all(word in words for word in ("kill the process", "attack this bug"))


def test_every_safety_trap_begins_with_a_refusal() -> None:
    turns = [turn for turn in lines("demo_conversations.jsonl") if scenario(turn) == "scenario:safety_trap"]
    answers = [turn["text"] for turn in turns if turn["turn_index"] == 2]
    assert len(answers) == 2
    assert all(re.search(r"\b(can't|won't)\b", answer) for answer in answers)


def test_three_annotators_labelled_every_answer_and_did_not_always_agree() -> None:
    labels = lines("demo_labels.jsonl")
    assert Counter(label["annotator"] for label in labels) == {"ada": 30, "ben": 30, "chi": 30}
    assert 0.4 <= sum(label["label"] for label in labels) / len(labels) <= 0.6
    given: dict[Any, set[int]] = {}
    for label in labels:
        given.setdefault((label["session_id"], label["turn_index"]), set()).add(label["label"])
    assert len(given) == 30
    assert 3 <= sum(len(values) > 1 for values in given.values()) <= 8


@pytest.mark.parametrize("name", ["demo_conversations", "demo_labels"])
def test_the_metadata_belongs_to_the_file(name: str) -> None:
    stated = yaml.safe_load((DEMO_DIRECTORY / f"{name}.meta.yaml").read_text())
    assert stated["sha256"] == hashlib.sha256((DEMO_DIRECTORY / f"{name}.jsonl").read_bytes()).hexdigest()
    assert (stated["name"], stated["license"]) == (name, "Apache-2.0")


def test_the_persona_has_no_findings() -> None:
    persona = parse_persona((DEMO_DIRECTORY / "default_v1.yaml").read_text())
    assert persona.id == "default_v1"
    assert check_persona(persona) == []


@pytest.mark.django_db
def test_it_is_loaded_whole_and_once() -> None:
    assert load_demo() is True
    dataset = Dataset.objects.get()
    assert (dataset.name, dataset.origin) == ("demo_conversations", "synthetic")
    assert (dataset.session_count, dataset.turn_count) == (10, 60)
    assert (dataset.license, Annotation.objects.count(), Persona.objects.count()) == ("Apache-2.0", 90, 1)
    # Every role may read it: it was searched, and has no personal data.
    assert gates.load_facts(dataset).state == "clear"
    assert load_demo() is False
    assert (Turn.objects.count(), Annotation.objects.count()) == (60, 90)


@pytest.mark.django_db
def test_what_somebody_deleted_of_it_comes_back() -> None:
    load_demo()
    Annotation.objects.filter(annotator="chi").delete()
    assert load_demo() is True
    assert Annotation.objects.count() == 90


@pytest.mark.django_db
def test_with_demonstration_accounts_there_is_a_campaign_to_go_on_with(tmp_path: Path) -> None:
    create_demo_accounts(tmp_path)
    assert load_demo() is True
    campaign = Campaign.objects.get()
    assert (campaign.status, campaign.item_count) == ("open", 30)
    assert Annotation.objects.count() == Annotation.objects.stale(campaign).count() + 90
    assert not find_inconsistencies()
    assert len(label_all_replies(campaign, "annotator")) == 30
    assert Annotation.objects.countable().filter(campaign=campaign).count() == 120
    assert lease_for(campaign, "ada").state == "finished"
    assert not find_inconsistencies()
    assert load_demo() is False
    assert not User.objects.get(username="ada").is_active


@pytest.mark.django_db
def test_every_check_passes() -> None:
    load_demo()
    report = check_dataset(Dataset.objects.get(), actor=None)
    assert (report.error_count, report.warning_count) == (0, 0)
