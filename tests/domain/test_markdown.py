"""Markdown as HTML stays in proportion to what was written, and never becomes more than its text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_app.domain.markdown import MAX_HTML_RATIO, MIN_HTML_CHARACTERS, render_markdown

TABLE = "|" + "|".join("a" * 1 for _ in range(60)) + "|\n|" + "-|" * 60 + "\n" + "|x|\n" * 1700


@pytest.mark.parametrize(
    "text",
    [
        TABLE,
        "> " * 3000 + "x",
        "- " * 2000 + "x",
        "[a](b)" * 1500,
        "*" * 9000,
        "`" * 9000,
        "<b>" * 3000,
        "#" * 9000,
        "|a|b|\n|-|-|\n" * 800,
        "1. " * 3000,
    ],
)
def test_html_stays_in_proportion(text: str) -> None:
    html = render_markdown(text, top_heading=2)
    assert len(html) <= MAX_HTML_RATIO * len(text) + 2 * MIN_HTML_CHARACTERS


def test_what_would_grow_is_shown_as_it_is_written() -> None:
    html = render_markdown(TABLE + "<script>", top_heading=2)
    assert "<table" not in html
    assert "|a|a|" in html
    assert "&lt;script&gt;" in html


@given(st.text(st.sampled_from("|-\n ab*_`<>[]()#>"), max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    assert "<script" not in render_markdown(text, top_heading=2)


def test_headings_follow_those_of_the_page_without_a_gap() -> None:
    assert "<h4>Added</h4>" in render_markdown("### Added", top_heading=4)
    assert "<h3>A</h3>\n<h4>B</h4>" in render_markdown("## A\n\n### B", top_heading=3)
