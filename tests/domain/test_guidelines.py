"""Guidelines as HTML: Markdown is rendered, everything else is text."""

import pytest

from annotations_app.domain.guidelines import MAX_RENDERED_LENGTH, render_guidelines


def test_markdown() -> None:
    html = render_guidelines(
        "# Judge\n\n1. the *voice*\n2. not `facts`\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | ~~2~~ |"
    )
    assert "<h3>Judge</h3>" in html
    assert "<li>the <em>voice</em></li>" in html
    assert "<code>facts</code>" in html
    assert "<blockquote>" in html
    assert "<td><s>2</s></td>" in html


@pytest.mark.parametrize(
    "markdown",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](  JaVaScRiPt:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "[x](vbscript:x)",
        "![x](https://example.org/pixel.png)",
        "<a href='https://example.org' style='x' onclick='y'>z</a>",
        "[x](https://example.org 'a\" onmouseover=\"alert(1)')",
        "<javascript:alert(1)>",
        "[x]: javascript:alert(1)\n\n[x]",
        "```<script>\n</script>",
        "<svg/onload=alert(1)>",
        "&lt;script&gt;",
        "[x](/admin/)",
        "[x](//example.org)",
        "# <style>*{}</style>",
    ],
)
def test_nothing_in_them_does_anything(markdown: str) -> None:
    html = render_guidelines(markdown)
    for tag in ("<script", "<img", "<svg", "<style"):
        assert tag not in html
    for attack in (
        'href="javascript',
        'href="data',
        'href="vbscript',
        'href="/',
        'onclick="',
        'onmouseover="a',
    ):
        assert attack not in html


def test_links_tell_nothing_of_where_they_are() -> None:
    html = render_guidelines("[a](https://example.org) [b](mailto:a@example.org) <http://example.org>")
    assert html.count('rel="noopener noreferrer nofollow"') == 3
    assert html.count('target="_blank"') == 3


def test_much_too_long_ones_are_cut() -> None:
    html = render_guidelines("word " * MAX_RENDERED_LENGTH)
    assert len(html) < 2 * MAX_RENDERED_LENGTH
    assert "too long to be shown" in html
