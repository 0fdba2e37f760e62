"""The papers of a package, with names and texts that mean something to Markdown, YAML, TeX and SVG."""

import re
from xml.etree import ElementTree

import pytest
import yaml

from datasets_app.domain.charts import Bars, Dots, Estimate, make_chart, make_dots
from datasets_app.domain.conversations.counts import ConversationCounts
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.metadata import licenses
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.packages.card import get_size_category, render_card, render_charts
from datasets_app.domain.packages.card_charts import (
    MAX_BARS,
    draw_bars,
    draw_dots,
)
from datasets_app.domain.packages.citation import render_bibtex, render_citation_cff
from datasets_app.domain.packages.croissant import build_croissant
from datasets_app.domain.packages.package import DataFile, LabelSummary, Package
from datasets_app.domain.packages.pull_request import render_pull_request
from datasets_app.domain.packages.quality_report import render_quality_report

HOSTILE = 'no | <script>alert("x")</script> [a](http://b) `c` & \x07 {d}_$%\n# e'


def counts(*lengths: int, tags: list[str] | None = None) -> ConversationCounts:
    counted = ConversationCounts()
    for number, length in enumerate(lengths):
        for index in range(1, length + 1):
            role = "user" if index % 2 else "assistant"
            counted.add(TurnRecord(f"s{number}", index, role, "a b c", tags or []))
    counted.finish()
    return counted


def package(**given: object) -> Package:
    facts: dict[str, object] = {
        "metadata": DatasetMetadata(name="calls", attribution="Ada", license="MIT"),
        "origin": "external",
        "version": "1.0.0",
        "day": "2026-11-21",
        "files": [DataFile("data/calls.parquet", "parquet", None, 2, 5, 10, "0" * 64)],
        "counts": counts(2, 3),
    }
    return Package(**(facts | given))  # type: ignore[arg-type]


def front_matter(text: str) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load(text.split("---\n")[1])
    return found


def test_what_others_wrote_means_nothing_in_a_card() -> None:
    stated = DatasetMetadata(
        name="calls",
        source=HOSTILE,
        attribution=HOSTILE,
        license=HOSTILE,
        generator=HOSTILE,
        modifications=[HOSTILE],
        anonymization=[HOSTILE],
    )
    labels = LabelSummary(3, 2, [(HOSTILE, 1, 2)], [("Alpha", None, None, None, HOSTILE)])
    hostile = package(
        metadata=stated, counts=counts(2, 3, tags=[f"scenario:{HOSTILE}"]), labels=labels, language="no"
    )
    charts = render_charts(hostile)
    text = render_card(hostile, charts)
    said = front_matter(text)
    assert (said["license"], said["language"]) == ("other", ["no"])
    for shown in (text.split("---\n", 2)[2], render_pull_request(hostile), render_quality_report(hostile)):
        # Within code nothing means anything either way.
        shown = re.sub("`[^`\n]+`", "", shown.split("```bibtex")[0])
        assert "<script>" not in shown
        assert "[a](http" not in shown
        assert "\n# e" not in shown
    for drawing in charts.values():
        ElementTree.fromstring(drawing)
    stated_cff = yaml.safe_load(render_citation_cff(hostile))
    assert "license" not in stated_cff
    assert render_bibtex(hostile).count("{") == render_bibtex(hostile).count("}")
    assert build_croissant(hostile, cite_as="x")["license"] == HOSTILE


@pytest.mark.parametrize(
    "drawing",
    [
        draw_bars(
            make_chart("<&>", "", [Bars(HOSTILE, [n]) for n in range(MAX_BARS)], series=["n"], left_out=5)
        ),
        draw_bars(make_chart('"', "", [], series=["n"])),
        draw_bars(make_chart("none", "", [Bars("p", (0, 0)), Bars(HOSTILE, (1, 0))], series=["a", HOSTILE])),
        draw_dots(
            make_dots(
                "i",
                "",
                [Dots("a", [Estimate(1.5, -3.0, 2.0)], 0), Dots("b", [Estimate(None, note=HOSTILE)], 0)],
                series=["Value"],
                unit="n",
                low_end=-1.0,
            )
        ),
    ],
)
def test_drawings_are_well_formed_and_stay_within_their_frame(drawing: str) -> None:
    root = ElementTree.fromstring(drawing)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for shape in root.iter("{http://www.w3.org/2000/svg}rect"):
        across, down = float(shape.attrib["x"]), float(shape.attrib["y"])
        assert across >= 0
        assert down >= 0
        assert across + float(shape.attrib["width"]) <= width + 0.2
        assert down + float(shape.attrib["height"]) <= height + 0.2


@pytest.mark.parametrize(
    ("licence", "said"),
    [
        ("apache-2.0", {"license": "Apache-2.0"}),
        # The list that the format keeps to is older than this one.
        ("CDLA-Permissive-2.0", {"license-url": "https://spdx.org/licenses/CDLA-Permissive-2.0.html"}),
        ("Ours alone", {}),
    ],
)
def test_a_citation_names_only_licences_that_its_format_knows(licence: str, said: dict[str, str]) -> None:
    stated = yaml.safe_load(
        render_citation_cff(package(metadata=DatasetMetadata(name="calls", license=licence)))
    )
    assert {key: value for key, value in stated.items() if key.startswith("license")} == said


def test_counts_are_of_whole_sessions() -> None:
    counted = counts(2, 2, 5, tags=["scenario:a", "x", "scenario:b"])
    assert (counted.sessions, counted.turns, counted.user_turns) == (3, 9, 5)
    assert counted.scenarios == {"a": 3, "b": 3}
    assert counted.build_session_length_bars() == [("2", 2), ("3", 0), ("4", 0), ("5", 1)]
    assert counted.build_reply_length_bars() == [("0–5", 4)]
    wide = counts(1, 100).build_session_length_bars()
    assert (wide[0], wide[-1]) == (("1–10", 1), ("91–100", 1))
    assert counts().build_session_length_bars() == []


@pytest.mark.parametrize(
    ("rows", "words"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (10**6, "1M<n<10M"), (10**9, "n>1B")],
)
def test_sizes_are_told_in_the_hubs_words(rows: int, words: str) -> None:
    assert get_size_category(rows) == words


@pytest.mark.parametrize("licence", ["Apache-2.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC0-1.0", "mit"])
def test_the_texts_of_common_licences_are_there(licence: str) -> None:
    text = licenses.render_license_text(licence, holder="Ada", year="2026")
    assert len(text) > 1000
    assert "[year]" not in text
    assert ("Copyright (c) 2026 Ada" in text) == (licence == "mit")


@pytest.mark.parametrize(
    ("licence", "spdx_id", "address"),
    [
        ("ODbL-1.0", "ODbL-1.0", "spdx.org/licenses/ODbL-1.0"),
        ("internal use", "LicenseRef-internal-use", "licensed under internal use"),
    ],
)
def test_another_licence_is_named_and_its_text_is_asked_for(licence: str, spdx_id: str, address: str) -> None:
    text = licenses.render_license_text(licence, holder="Ada", year="2026")
    assert text.startswith(f"SPDX-License-Identifier: {spdx_id}\n")
    assert address in text
    assert "Put the text" in text
