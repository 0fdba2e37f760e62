"""Charts of a dataset's overview and of a comparison."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from annotations_app.models import Annotation
from datasets_app.browsing import facets
from datasets_app.browsing.change_sessions import exclude_sessions
from datasets_app.catalog.rows import session_pages
from datasets_app.models import AuditEvent, Dataset, ScrubFinding, ScrubRun
from datasets_app.releasing import compare as comparing
from datasets_app.releasing.release_dataset import release_dataset
from tests import factories


def address(dataset: Dataset, page: str = "charts") -> str:
    return reverse(f"admin:datasets_app_dataset_{page}", args=[dataset.pk])


def make_varied(folder: Path, name: str = "support", count: int = 30) -> Dataset:
    """Sessions that differ in everything that is counted; some values end with a space."""
    lines = []
    for number in range(count):
        fields: dict[str, Any] = {
            "persona_id": ("warm", "formal", "warm ")[number % 3],
            "tags": [f"scenario:{number % 4}", "seen", *(["trap:legal"] if number % 7 == 0 else [])],
            "metadata": {"language": ("en", "de")[number % 5 == 0], "a=b": "c", "request": f"r{number}"},
            "text": f"{number} says this " * (number + 1),
        }
        if number % 6:
            fields["timestamp"] = f"2026-0{1 + number % 6}-1{number % 9}T10:00:00Z"
        lines += factories.make_session(f"s{number}", 2 + number % 5, **fields)
    return factories.make_dataset(folder, lines, name)


@pytest.fixture
def varied(db: None, tmp_path: Path) -> Dataset:
    dataset = make_varied(tmp_path)
    turns = dataset.turns.filter(role="assistant").order_by("session", "turn_index")
    for place, turn in enumerate(turns):
        if place % 4 < 2:
            label = {"annotator": "ada", "persona_id": turn.session.persona_id, "label": place % 4}
            Annotation.objects.create(dataset=dataset, turn=turn, **label)
    scrub = ScrubRun.objects.create(dataset=dataset, totals={}, policy={})
    finding = {
        "turn_index": 1,
        "field": "text",
        "kind": "EMAIL",
        "start": 0,
        "length": 1,
        "original_length": 1,
    }
    ScrubFinding.objects.create(scrub=scrub, session=dataset.sessions.first(), score=1, **finding)
    return dataset


def test_each_bar_leads_to_as_many_sessions_as_it_says(sign_in: Any, varied: Dataset) -> None:
    client = sign_in("curator")
    exclude_sessions(varied, [varied.sessions.get(session_id="s3").pk])
    charts = client.get(address(varied)).context["charts"]
    assert [chart.title for chart in charts] == [
        "Turns per session",
        "Length of replies, in characters",
        "Time",
        "Tags",
        "Tags: scenario",
        "Tags: trap",
        "Personas",
        "Labels by persona",
        "Placeholders",
        "Metadata: language",
    ]
    followed = 0
    for chart in charts:
        for row in chart.rows:
            for cell in row.cells:
                assert bool(cell.url) == bool(cell.number and not row.label.endswith(" ")), (chart.title, row)
                if cell.url:
                    followed += 1
                    listing = client.get(cell.url)
                    assert listing.context["ignored"] == []
                    assert len(listing.context["page"].rows) == cell.number, (chart.title, row)
    assert followed > 30
    labels = next(chart for chart in charts if chart.title == "Labels by persona")
    assert [row.label for row in labels.rows] == ["All", "formal", "warm", "warm "]
    assert labels.series == ["On-brand", "Off-brand", "Not labeled"]


def test_each_chart_is_a_table(sign_in: Any, varied: Dataset) -> None:
    response = sign_in("curator").get(address(varied))
    html = response.content.decode()
    for chart in response.context["charts"]:
        table = re.search(rf"<caption[^>]*>{chart.title}</caption>(.*?)</table>", html, re.DOTALL)
        assert table is not None, chart.title
        body = table[1].partition("<tbody>")[2]
        assert body.count('<th scope="row"') == body.count("<tr") == len(chart.parts[0])
        text = re.sub(r"<svg.*?</svg>|<[^>]*>", " ", body, flags=re.DOTALL)
        for row in chart.parts[0]:
            for cell in row.cells:
                assert re.search(rf"\b{cell.number:,}\b", text), (chart.title, row)
    assert "style=" not in html
    assert "<script" not in html


def test_a_dataset_without_anything_to_count_says_so(sign_in: Any, tmp_path: Path) -> None:
    client = sign_in("curator")
    bare = factories.make_dataset(tmp_path, factories.make_sessions(3), "bare")
    response = client.get(address(bare))
    assert [(chart.title, [row.label for row in chart.rows]) for chart in response.context["charts"]] == [
        ("Turns per session", ["2"]),
        ("Length of replies, in characters", ["0–50"]),
    ]
    assert "No dates, tags, personas, labels or metadata to count." in " ".join(
        response.content.decode().split()
    )
    empty = Dataset.objects.create(name="empty")
    assert client.get(address(empty)).context["charts"] == []
    assert address(empty) not in client.get(address(empty, "change")).content.decode()
    assert address(bare) in client.get(address(bare, "change")).content.decode()


def test_charts_of_many_sessions_are_estimates(
    sign_in: Any, varied: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facets, "MAX_COUNTED", 10)
    monkeypatch.setattr(session_pages, "SAMPLE_PARTS", 10)
    response = sign_in("curator").get(address(varied))
    html = " ".join(response.content.decode().split())
    assert "about 30 sessions, estimated from 10 spread over them." in html
    assert all(
        cell.is_estimate for chart in response.context["charts"] for row in chart.rows for cell in row.cells
    )
    assert html.count("≈") == sum(
        len(row.cells) for chart in response.context["charts"] for row in chart.rows
    )


def test_charts_show_what_their_reader_may_see(sign_in: Any, varied: Dataset) -> None:
    """Who may read a raw dataset is recorded; others see structure alone."""
    Dataset.objects.filter(pk=varied.pk).update(origin="production", status="raw")
    response = sign_in("viewer").get(address(varied))
    titles = {chart.title for chart in response.context["charts"]}
    assert titles <= {
        "Turns per session",
        "Length of replies, in characters",
        "Labels by persona",
        "Placeholders",
    }
    assert response.context["missing"] == []
    html = response.content.decode()
    assert not any(word in html for word in ("scenario", "seen", "warm", "language", "2026-"))
    assert not AuditEvent.objects.filter(action="read_raw_text").exists()
    officer = sign_in("privacy officer")
    assert "scenario" in officer.get(address(varied)).content.decode()
    assert AuditEvent.objects.get(action="read_raw_text").details["place"] == "charts"
    assert sign_in("none").get(address(varied)).status_code == 403


# --- comparison -----------------------------------------------------------------------------------------


def compare(client: Any, dataset: Dataset, before: str, after: str) -> Any:
    query = {"before": before, "after": after}
    page = client.get(address(dataset, "compare_releases"), query)
    assert address(dataset, "comparison_charts") in page.content.decode()
    return client.get(address(dataset, "comparison_charts"), query)


def make_release(dataset: Dataset, folder: Path) -> None:
    dataset.refresh_from_db()
    place = folder / f"work{dataset.releases.count()}"
    place.mkdir()
    release_dataset(dataset, folder=place, override="", notes="", actor=None)


def list_counts(charts: Any) -> dict[str, dict[str, list[int]]]:
    return {
        chart.title: {row.label: [cell.number for cell in row.cells] for row in chart.rows}
        for chart in charts
        if not chart.title.startswith("Labels")
    }


def test_a_version_is_counted_like_the_dataset_it_was_made_of(sign_in: Any, tmp_path: Path) -> None:
    dataset = make_varied(tmp_path)
    exclude_sessions(dataset, [dataset.sessions.get(session_id="s3").pk])
    make_release(dataset, tmp_path)
    client = sign_in("curator")
    response = compare(client, dataset, "1.0.0", "now")
    charts = response.context["charts"]
    assert [side.total for side in response.context["sides"]] == [29, 29]
    assert len(charts) == 8
    for chart in charts:
        assert list(chart.series) == ["1.0.0", "now"]
        for row in chart.rows:
            first, second = row.cells
            assert (first.number, first.url, first.share) == (second.number, "", second.share) or second.url
            assert first.number == second.number, (chart.title, row)
            if second.url:
                assert len(client.get(second.url).context["page"].rows) == second.number
    dataset.turns.update(tags=["new"])
    make_release(dataset, tmp_path)
    found = list_counts(compare(client, dataset, "1.0.0", "1.0.1").context["charts"])
    assert found["Tags"] == {"seen": [29, 0], "new": [0, 29]}
    assert found["Turns per session"]["2"] == [6, 6]


def test_datasets_are_compared_by_what_both_count(sign_in: Any, varied: Dataset, tmp_path: Path) -> None:
    other = factories.make_dataset(
        tmp_path,
        factories.make_sessions(3, turns=3, tags=["seen"], timestamp="2026-04-02T10:00:00Z"),
        "other",
    )
    client = sign_in("curator")
    page = client.get(address(varied, "compare_releases"), {"before": "now"}).content.decode()
    assert re.search(rf'value="dataset-{other.pk}"[^>]*>\s*other', page)
    response = compare(client, varied, "now", f"dataset-{other.pk}")
    charts = response.context["charts"]
    found = list_counts(charts)
    assert found["Tags"] == {"seen": [30, 3]}
    assert "Placeholders" not in found
    assert "Metadata: language" not in found
    query = {"before": "now", "after": f"dataset-{other.pk}", "rows": "differing"}
    differing = client.get(address(varied, "comparison_charts"), query)
    assert "Tags" not in list_counts(differing.context["charts"])
    assert differing.context["alike"] > 0
    assert "Show all" in differing.content.decode()
    assert [sum(numbers) for numbers in zip(*found["Time"].values(), strict=True)] == [25, 3]
    for chart in charts:
        for row in chart.rows:
            for cell in row.cells:
                if cell.url:
                    assert len(client.get(cell.url).context["page"].rows) == cell.number, (chart.title, row)


def test_a_comparison_shows_what_may_be_read_of_both(sign_in: Any, varied: Dataset, tmp_path: Path) -> None:
    other = factories.make_dataset(tmp_path, factories.make_sessions(3, tags=["mine"]), "other")
    Dataset.objects.filter(pk=other.pk).update(origin="production", status="raw")
    response = compare(sign_in("viewer"), varied, "now", f"dataset-{other.pk}")
    assert not {"Tags", "Time", "Personas"} & set(list_counts(response.context["charts"]))
    compare(sign_in("privacy officer"), varied, "now", f"dataset-{other.pk}")
    events = AuditEvent.objects.filter(action="read_raw_text", dataset_name="other")
    assert [event.details["place"] for event in events] == ["comparison charts"]
    Dataset.objects.filter(pk=other.pk).update(restricted=True)
    client = sign_in("lead")
    page = client.get(address(varied, "compare_releases"), {"before": "now"}).content.decode()
    assert f"dataset-{other.pk}" not in page
    query = {"before": "now", "after": f"dataset-{other.pk}"}
    for name in ("compare_releases", "comparison_charts"):
        assert "have access to it" in client.get(address(varied, name), query).content.decode()


def test_a_version_that_is_too_large_for_a_page_says_so(
    sign_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "MAX_TURNS_COUNTED", 5)
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(3))
    make_release(dataset, tmp_path)
    html = compare(sign_in("curator"), dataset, "1.0.0", "now").content.decode()
    assert "Version 1.0.0 has 6 turns, more than the 5 that charts count in a version." in html
