"""Agreement on the criteria of a schema: each on its own scale, as the peer package has it."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotations_app.agreement.criteria import measure_criteria
from annotations_app.criteria.schemas import import_schema
from annotations_app.labeling.lease_next import lease_next
from annotations_app.models import Campaign
from tests.api.calls import Caller, make_user
from tests.campaigns import get_user, make_campaign, make_replies, submit
from tests.everything import make_user_with

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("peers")]

SCHEMA = """\
schema: mixed
criteria:
  - {key: safe, question: Is it safe?, kind: yes_no}
  - {key: kind, question: Which?, kind: choice, answers: [a, b, c]}
  - {key: tone, question: How kind?, kind: ordinal, answers: [1, 2, 3, 4, 5]}
  - {key: faults, question: Faults?, kind: tags, answers: [facts, length]}
  - {key: minutes, question: Minutes?, kind: number, optional: true}
  - {key: why, question: Why?, kind: text, optional: true}
"""
PEOPLE = ("ana", "ben", "cy")


def answer(chance: random.Random, truth: int) -> dict[str, Any]:
    """Mostly as the truth says."""
    near = min(5, max(1, truth + chance.choice((-1, 0, 0, 0, 1))))
    faults = [tag for tag in ("facts", "length") if chance.random() < truth / 6]
    answers = {"safe": int(near > 2), "kind": "abc"[near % 3], "tone": near, "faults": faults}
    return {**answers, "minutes": near * 1.5, **({"why": "So."} if near == 1 else {})}


@pytest.fixture
def judged(tmp_path: Path) -> tuple[Campaign, dict[str, dict[int, dict[str, Any]]]]:
    schema = import_schema(SCHEMA).schema
    campaign = make_campaign(make_replies(tmp_path, 25), *PEOPLE, overlap=3, schema=schema)
    chance, said = random.Random(7), {name: {} for name in PEOPLE}
    for name in PEOPLE:
        for _ in range(25 - 3 * PEOPLE.index(name)):  # some replies have fewer labels
            current = lease_next(campaign, get_user(name)).current
            assert current is not None
            said[name][current.item_id] = answer(chance, current.item_id % 5 + 1)
            submit(current, label=None, answers=said[name][current.item_id])
    return campaign, said


def test_alpha_is_that_of_the_peer_package(judged: Any) -> None:
    import krippendorff
    import numpy as np

    campaign, said = judged
    items = sorted(said["ana"])
    measured = {
        (one.criterion.key, one.tag): one for one in measure_criteria(campaign, resamples=50).criteria
    }
    assert list(measured) == [
        ("safe", ""), ("kind", ""), ("tone", ""), ("faults", ""), ("faults", "Facts"), ("faults", "Length"),
        ("minutes", ""), ("why", ""),
    ]  # fmt: skip

    def alpha(level: str, read: Any) -> float:
        rows = [
            [read(said[name][item]) if item in said[name] else np.nan for item in items] for name in PEOPLE
        ]
        return float(krippendorff.alpha(reliability_data=np.array(rows, float), level_of_measurement=level))

    for place, level, read in (
        (("safe", ""), "nominal", lambda one: one["safe"]),
        (("kind", ""), "nominal", lambda one: "abc".index(one["kind"])),
        (("tone", ""), "ordinal", lambda one: one["tone"]),
        (("faults", "Facts"), "nominal", lambda one: int("facts" in one["faults"])),
        (("faults", "Length"), "nominal", lambda one: int("length" in one["faults"])),
        (("minutes", ""), "interval", lambda one: one["minutes"]),
        (("minutes", ""), "ratio", lambda one: one["minutes"]),
    ):
        found = measured[place]
        assert found.report is not None
        assert level in ("ratio", found.scale)
        statistic = (
            found.alphas[0].statistic if level == "ratio" else found.report.headline.krippendorff_alpha
        )
        assert statistic.value == pytest.approx(alpha(level, read), abs=1e-9), place
        assert statistic.low is not None
        assert sum(answer.labels for answer in found.answers) == found.report.headline.labels == 66
    why = measured["why", ""]
    assert (why.report, why.note) == (None, "texts can't be compared")
    tone = measured["tone", ""]
    assert tone.confusion.sum() == 2 * sum(pair.comparison.n for pair in tone.report.pairs)  # type: ignore[union-attr]


@pytest.mark.django_db(transaction=True)
def test_by_page_and_command(judged: Any, manage: Any, client: Client) -> None:
    campaign, _ = judged
    said = json.loads(manage("agreement", "--campaign", campaign.name, "--format", "json").stdout)
    assert said["schema"] == "mixed@1"
    assert [one["criterion"] for one in said["criteria"]].count("faults") == 3
    text = manage("agreement", "--campaign", campaign.name, "--resamples", 20).stdout
    assert "How kind? (ordinal)" in text
    assert "Why?\n" in text
    assert manage("agreement", "--campaign", campaign.name, "--by", "tag").returncode == 2
    client.force_login(make_user_with(name="lena", excluded=("nothing",)))
    html = client.get(reverse("admin:annotations_app_campaign_measured", args=[campaign.pk])).content.decode()
    assert html.count("Krippendorff’s alpha") == 9
    assert "Gwet’s AC2" in html
    assert "Weighted kappa, quadratic" in html
    assert html.index("agreement.") < html.index("Measured on")  # the verdict comes first
    assert html.count("Confusion of annotators</h4>") == 6
    assert f"{said['criteria'][2]['krippendorff_alpha']['value']:.3f}" in html
    route = Caller(make_user("lead"))("GET", f"/campaigns/{campaign.name}/agreement")
    assert route.json()["report"] == said


def test_more_numbers_than_a_scale_has_levels(tmp_path: Path) -> None:
    schema = import_schema("schema: n\ncriteria: [{key: minutes, question: How long?, kind: number}]").schema
    campaign = make_campaign(make_replies(tmp_path, 60), "ana", "ben", overlap=2, schema=schema)
    for sign, name in ((1, "ana"), (-1, "ben")):
        for number in range(60):
            current = lease_next(campaign, get_user(name)).current
            submit(current, label=None, answers={"minutes": current.item_id + sign * number / 100})  # type: ignore
    [measured] = measure_criteria(campaign).criteria
    assert [one.key for one in measured.statistics] == ["krippendorff_alpha", "ratio_alpha"]
    assert measured.alpha is not None
    assert measured.alpha.value is not None
    assert measured.alpha.value > 0.9
    assert measured.note


def test_no_answers_one_number_and_one_annotator(tmp_path: Path) -> None:
    schema = import_schema(SCHEMA).schema
    campaign = make_campaign(make_replies(tmp_path, 3), "ana", "ben", overlap=2, schema=schema)
    assert all(
        one.report is None or not one.report.headline.labels for one in measure_criteria(campaign).criteria
    )
    chance = random.Random(1)
    for name in ("ana", "ben"):
        current = lease_next(campaign, get_user(name)).current
        submit(current, label=None, answers={**answer(chance, 3), "minutes": 2})  # type: ignore[arg-type]
        notes = [
            one.report.headline.krippendorff_alpha.note
            for one in measure_criteria(campaign).criteria
            if one.report
        ]
        assert all(note.startswith("undefined") for note in notes[-1:])
