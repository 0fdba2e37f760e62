"""The agreement page: its numbers are those of the measuring operation, and each is told with its n."""

import re
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from annotations_app.agreement.adjudicate import adjudicate, count_disputed, list_disputed
from annotations_app.agreement.charts import (
    build_drift_table,
    build_heat_map,
    chart_drift,
    chart_parts,
    kappa_shade,
)
from annotations_app.agreement.measure import measure_agreement
from annotations_app.criteria.schemas import import_schema
from annotations_app.domain.agreement.agreement_report import (
    Comparison,
    DriftPoint,
    HeadlineStats,
    PairComparison,
    Statistic,
)
from annotations_app.domain.agreement.agreement_text import judge_alpha
from annotations_app.labels.export_annotations import export_annotations
from annotations_app.models import Annotation, Campaign
from annotations_app.templatetags.annotations_display import (
    MINUS_SIGN,
    format_statistic,
    format_statistic_short,
)
from datasets_app.models import Dataset, Turn
from tests.campaigns import label_all_replies, lease_for, make_campaign, make_replies, submit
from tests.web.test_campaign_pages import address, html_of, words

pytestmark = pytest.mark.xdist_group("agreement page")


def said(turn: Turn, **names: int) -> None:
    """Labels of a turn as an import leaves them, one by each name."""
    for name, label in names.items():
        Annotation.objects.create(
            dataset=turn.session.dataset,
            turn=turn,
            persona_id="warm_v1",
            annotator=name,
            label=label,
            timestamp="2026-05-01" if turn.pk // 2 % 2 else "2026-06-01",
        )


@pytest.fixture(scope="module")
def labelled_rows(rows_of_module: None, tmp_path_factory: pytest.TempPathFactory) -> int:
    """Twenty replies of three annotators, who do not agree on all of them."""
    dataset = make_replies(tmp_path_factory.mktemp("labelled"), 20, tags=["scenario:<i>tag</i>"])
    turns = Turn.objects.filter(role="assistant").select_related("session__dataset").order_by("id")
    for number, turn in enumerate(turns):
        said(turn, ada=number % 2, ben=int(number % 3 > 0), chioma=number % 2 if number < 15 else 1)
    return dataset.pk


@pytest.fixture
def labelled(labelled_rows: int, db: None) -> Dataset:
    return Dataset.objects.get(pk=labelled_rows)


def test_the_most_disputed_replies_lead_to_where_they_are_settled(sign_in: Any, labelled: Dataset) -> None:
    html = html_of(sign_in("lead"), "dataset_measured", labelled.pk, persona="warm_v1")
    first = list_disputed(labelled, "warm_v1", include_adjudicated=True)[0]
    turn = Turn.objects.get(pk=first.turn)
    assert f"turn={first.turn}" in html
    assert turn.text in html
    assert html.count("not yet") == min(10, count_disputed(labelled, "warm_v1").disputed)
    adjudicate(turn, "warm_v1", label=1, reason="It is warm.", actor=None)
    html = html_of(sign_in("superuser"), "dataset_measured", labelled.pk, persona="warm_v1")
    assert html.count(">yes</td>") == 1
    # Who can't resolve them reads them in their conversations.
    html = html_of(sign_in("curator"), "dataset_measured", labelled.pk, persona="warm_v1")
    session = reverse("admin:datasets_app_session_change", args=[turn.session_id])
    assert f'href="{session}?turn=2#turn-2"' in html
    assert "Resolve disagreements" not in html
    assert 'href="#disputed"' in html


def test_the_numbers_are_those_measured(sign_in: Any, labelled: Dataset) -> None:
    report = measure_agreement(dataset=labelled, persona_id="warm_v1", by=("tag", "month"))
    html = html_of(sign_in("lead"), "dataset_measured", labelled.pk, persona="warm_v1")
    text = words(html)
    assert "Measured on 20 replies with two or more labels" in text
    for name in ("raw_agreement", "krippendorff_alpha", "gwet_ac1", "fleiss_kappa", "prevalence"):
        statistic = getattr(report.headline, name)
        told = (
            f"{format_statistic(statistic.value)} {format_statistic(statistic.low)} "
            f"to {format_statistic(statistic.high)}"
        )
        assert told in text, name
    assert re.findall(r"to \S+ (\d+) ", text.split("All statistics", 1)[1])[:5] == ["20"] * 4 + ["60"]
    for pair in report.pairs:
        kappa = format_statistic_short(pair.comparison.cohen_kappa.value)
        cell = f"<b>{kappa}</b><small>{pair.comparison.n}</small>"
        assert html.count(cell) >= 2
    assert len(report.pairs) == 3
    for person in report.annotators:
        assert format_statistic(person.others.raw_agreement.value) in text
    assert f'hx-get="{address("dataset_parts", labelled.pk)}?persona=warm_v1"' in html
    parts = html_of(sign_in("curator"), "dataset_parts", labelled.pk, persona="warm_v1")
    assert "ad-dot-2" in parts
    for month in ("2026-05", "2026-06"):
        assert month in parts
        assert format_statistic(report.by["month"][month].krippendorff_alpha.value) in parts
    assert "By tag" not in parts  # all labels have the one


def test_a_crowd_of_annotators_has_a_page_of_the_largest(sign_in: Any, labelled: Dataset) -> None:
    turn = Turn.objects.filter(role="assistant").latest("pk")
    said(turn, **{f"worker{number}": number % 2 for number in range(60)})
    html = words(html_of(sign_in("lead"), "dataset_measured", labelled.pk, persona="warm_v1"))
    assert "Below are the 50 annotators with the most labels; the command prints the other 13, too." in html
    assert "chioma" in html
    assert "worker59" not in html


def test_no_statistic_gets_a_verdict_in_words(sign_in: Any, labelled: Dataset) -> None:
    html = html_of(sign_in("lead"), "dataset_measured", labelled.pk, persona="warm_v1").lower()
    for verdict in ("substantial", "moderate", "excellent", "poor", "almost perfect", "good agreement"):
        assert verdict not in html


def test_what_is_undefined_is_said(sign_in: Any, tmp_path: Path) -> None:
    dataset = make_replies(tmp_path, 3, name="unanimous")
    for turn in dataset.turns.filter(role="assistant").select_related("session__dataset"):
        said(turn, ada=1, ben=1)
    text = words(html_of(sign_in("lead"), "dataset_measured", dataset.pk, persona="warm_v1"))
    note = measure_agreement(dataset=dataset, persona_id="warm_v1").headline.krippendorff_alpha.note
    assert "all labels agree" in note
    assert note in text
    exported = export_annotations(dataset, persona="warm_v1", out=BytesIO(), labels="majority", actor=None)
    assert exported.labels == 3
    assert "Too few labels: 3 of the 50 that a calibration needs." in text
    assert "Out of balance" in text
    assert not re.search(r"\bnan\b", text, re.IGNORECASE)


def test_the_page_is_there_before_it_is_measured(sign_in: Any, labelled: Dataset) -> None:
    html = html_of(sign_in("lead"), "dataset_agreement", labelled.pk)
    measured = f"{address('dataset_measured', labelled.pk)}?persona=warm_v1"
    assert f'hx-get="{measured}"' in html
    assert "Measuring …" in html
    assert f'<a href="{measured}">' in html
    response = sign_in("curator").get(measured)
    assert "no-store" in response["Cache-Control"]
    assert "Resolve disagreements" not in response.content.decode()


@pytest.mark.parametrize("page", ["dataset_measured", "dataset_parts", "measured", "parts", "quality"])
def test_links_without_scripts_lead_to_whole_pages(sign_in: Any, labelled: Dataset, page: str) -> None:
    campaign = make_campaign(labelled, "ana", "ben", overlap=2)
    label_all_replies(campaign, "ana", 1)
    client, pk = sign_in("lead"), labelled.pk if page.startswith("dataset") else campaign.pk
    url = f"{address(page, pk)}?persona=warm_v1"
    part = client.get(url, headers={"HX-Request": "true"}).content.decode()
    whole = client.get(url).content.decode()
    assert "<html" not in part
    assert whole.count("<html") == 1
    assert "ad-tabs" in whole
    heading = re.search(r"<h3[^>]*>.*?</h3>", part, re.DOTALL)
    assert heading
    assert heading.group() in whole


def test_without_labels_it_says_so(sign_in: Any, tmp_path: Path) -> None:
    dataset = make_replies(tmp_path, 2, name="unlabeled")
    client = sign_in("lead")
    assert "No labels yet" in html_of(client, "dataset_agreement", dataset.pk)
    assert "Nothing to measure yet" in html_of(client, "dataset_measured", dataset.pk, persona="x\0")


def test_labels_under_a_schema_are_said_to_be_measured_elsewhere(sign_in: Any, tmp_path: Path) -> None:
    schema = import_schema("schema: s\ncriteria: [{key: tone, question: Warm?, kind: yes_no}]\n").schema
    campaign = make_campaign(
        make_replies(tmp_path, 2, name="answered"), "ana", "Ana", schema=schema, overlap=2
    )
    for name in ("ana", "Ana"):
        submit(lease_for(campaign, name).current, label=None, answers={"tone": 1})
    client = sign_in("lead")
    said = "2 labels under schemas are not counted here"
    assert said in html_of(client, "dataset_agreement", campaign.dataset_id)
    assert said in html_of(client, "dataset_measured", campaign.dataset_id, persona="warm_v1")
    assert "the names of 2 annotators differ from" in html_of(client, "measured", campaign.pk)


def test_a_persona_is_chosen(sign_in: Any, labelled: Dataset) -> None:
    turn = Turn.objects.filter(role="assistant").first()
    Annotation.objects.create(dataset=labelled, turn=turn, persona_id="p/&?=1", annotator="ada", label=1)
    client = sign_in("lead")
    html = html_of(client, "dataset_agreement", labelled.pk)
    assert 'href="?persona=p%2F%26%3F%3D1"' in html
    chosen = html_of(client, "dataset_agreement", labelled.pk, persona="p/&?=1")
    assert f'hx-get="{address("dataset_measured", labelled.pk)}?persona=p%2F%26%3F%3D1"' in chosen
    assert "from 1 label of 1 reply" in words(
        html_of(client, "dataset_measured", labelled.pk, persona="p/&?=1")
    )


def test_of_a_campaign_only_its_labels_count(sign_in: Any, labelled: Dataset) -> None:
    own: Campaign = make_campaign(labelled, "ana", "ben", overlap=2)
    label_all_replies(own, "ana", 1, limit=5)
    for number in range(4):
        submit(lease_for(own, "ben").current, label=number % 2, seconds=8.0)
    client = sign_in("lead")
    html = html_of(client, "measured", own.pk)
    assert "from 9 labels of" in words(html)
    assert re.search(r"ben.*?8\.0 s", words(html))
    assert f'href="{address("adjudicate")}?campaign={own.pk}"' in html
    assert "ada" not in words(html)
    assert f'hx-get="{address("measured", own.pk)}"' in html_of(client, "agreement", own.pk)


def test_the_list_of_campaigns_has_the_alpha_that_the_page_has(sign_in: Any, labelled: Dataset) -> None:
    measured: Campaign = make_campaign(labelled, "ana", "ben", overlap=2)
    label_all_replies(measured, "ana", 1, limit=5)
    for number in range(5):
        submit(lease_for(measured, "ben").current, label=int(number > 0))
    empty = make_campaign(labelled, "ana", "ben", name="empty")
    alpha = measure_agreement(campaign=measured).headline.krippendorff_alpha.value
    client = sign_in("lead")
    listed = html_of(client, "changelist")
    assert f'id="alpha-{measured.pk}"' in listed
    assert f"{address('alphas')}?" in listed
    asked = {"campaign": [measured.pk, empty.pk, 999_999, "x"]}
    cells = client.get(address("alphas"), asked).content.decode()
    assert f"α {format_statistic_short(alpha)}" in re.sub(r"\s+", " ", cells)
    assert set(re.findall(r'id="alpha-(\d+)"', cells)) == {str(measured.pk), str(empty.pk)}
    assert sign_in("annotator").get(address("alphas"), asked).status_code == 403


@pytest.mark.django_db
def test_a_dataset_that_may_not_be_seen_has_no_page(sign_in: Any) -> None:
    client = sign_in("lead")
    assert client.get(address("dataset_agreement", 10**15)).status_code == 404
    assert client.get(address("agreement", 10**15)).status_code == 404
    assert client.get(reverse("admin:annotations_app_campaign_change", args=[10**15])).status_code == 404


# --- what is drawn ---


def compared(n: int, kappa: float | None) -> Comparison:
    return Comparison(n, Statistic(0.5), Statistic(kappa), ((0, 0), (0, 0)))


def test_the_map_has_each_pair_twice_and_shades_that_tell_less_than_chance() -> None:
    found = build_heat_map(
        [PairComparison("a", "b", compared(4, 0.95)), PairComparison("b", "c", compared(3, -0.2))]
    )
    assert found.names == ["a", "b", "c"]
    assert [[cell.shade for cell in cells] for _, cells in found.rows] == [
        ["none", "9", "none"],
        ["9", "none", "below"],
        ["none", "below", "none"],
    ]
    assert [cells[at].own for at, (_, cells) in enumerate(found.rows)] == [True] * 3
    assert (kappa_shade(0.0), kappa_shade(1.0), kappa_shade(None)) == ("0", "9", "none")


def test_parts_with_the_most_disagreement_come_first() -> None:
    def part(alpha: float | None) -> HeadlineStats:
        return HeadlineStats(9, 4, 1, 2, 0, 2, *[Statistic(alpha)] * 5)

    chart = chart_parts("tag", [("a", part(None)), ("b", part(0.5)), ("c", part(-0.25)), ("", part(1.0))])
    assert [row.label for row in chart.rows] == ["c", "b", "", "a"]
    assert [row.n for row in chart.rows] == [3] * 4
    assert format_statistic(-0.25) == chart.rows[0].cells[0].text == f"{MINUS_SIGN}0.250"


def test_a_month_without_pairs_is_left_out_of_the_line() -> None:
    def month(name: str, value: float | None, annotator: str | None = None) -> DriftPoint:
        return DriftPoint(
            name,
            annotator,
            5,
            Statistic(0.5),
            Comparison(3, Statistic(value), Statistic(None), ((0, 0), (0, 0))),
        )

    points = [
        month("2026-01", 1.0),
        month("2026-02", None),
        month("2026-03", 0.5),
        month("2026-03", 1, "ada"),
    ]
    drawn = chart_drift(points)
    assert drawn is not None
    assert [[cell.at for cell in row.cells] for row in drawn.rows] == [
        ["100.00", "50.00"],
        ["", "50.00"],
        ["50.00", "50.00"],
    ]
    assert chart_drift(points[:1]) is None
    months, rows = build_drift_table(points)
    assert months == ["2026-01", "2026-02", "2026-03"]
    assert [name for name, _ in rows] == [None, "ada"]
    assert rows[1][1][:2] == [None, None]


@pytest.mark.parametrize(
    ("alpha", "verdict"),
    [
        (Statistic(None, note="why"), ""),
        (Statistic(0.5, 0.4, 0.6), "Too low to rely on"),
        (Statistic(0.7, 0.6, 0.9), "tentative conclusions only"),
        (Statistic(0.85, 0.7, 0.9), "the interval reaches below 0.80"),
        (Statistic(0.9, 0.82, 0.95), "these labels can be relied on"),
    ],
)
def test_alpha_is_judged_by_krippendorffs_limits(alpha: Statistic, verdict: str) -> None:
    judged = judge_alpha(alpha)
    assert verdict in judged
    assert bool(judged) == (alpha.value is not None)
