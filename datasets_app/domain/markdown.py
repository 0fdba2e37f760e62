"""Renders Markdown that people or models wrote as safe HTML."""

import html
import re
from functools import lru_cache

import nh3
from markdown_it import MarkdownIt

_ALLOWED_TAGS = {
    "p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li",
    "h1", "h2", "h3", "h4", "h5", "h6", "a", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
# A few characters of a table can become a hundred times as much: what grows by more is shown as it is
# written.
MAX_HTML_RATIO, MIN_HTML_CHARACTERS = 8, 4_000
# Text without any of these looks the same as it is.
_MARKUP = re.compile(r"[*_`~|\[<]|^\s{0,3}(?:#{1,6}\s|>|[-+]\s|\d{1,9}[.)]\s)|https?://", re.MULTILINE)


def has_markup(text: str) -> bool:
    """Whether rendering the text may show more than its characters."""
    return bool(_MARKUP.search(text))


def render_markdown(markdown: str, *, top_heading: int, keep_line_breaks: bool = False) -> str:
    """Safe HTML: HTML in the text is escaped, there are no images, and links allow only http, https and
    mailto and send no referrer. ``top_heading`` is the level at which its highest headings are shown."""
    parser = _make_parser(keep_line_breaks)
    try:
        tokens = parser.parse(markdown)
    except RecursionError:
        return _render_plain(markdown)
    headings = [token for token in tokens if token.type in {"heading_open", "heading_close"}]
    shift = top_heading - min((int(token.tag[1]) for token in headings), default=1)
    for token in headings:
        token.tag = f"h{min(6, int(token.tag[1]) + shift)}"
    most = MAX_HTML_RATIO * len(markdown) + MIN_HTML_CHARACTERS
    rendered = parser.renderer.render(tokens, parser.options, {})
    if len(rendered) > most:
        return _render_plain(markdown)
    clean = nh3.clean(
        rendered,
        tags=_ALLOWED_TAGS,
        attributes={"a": {"href"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    if len(clean) > most:
        return _render_plain(markdown)
    # Long lines of code scroll, by keyboard as well.
    return clean.replace("<pre>", '<pre tabindex="0">')


def _render_plain(markdown: str) -> str:
    """The text as it is written, with a word on why."""
    lines = "<br>".join(html.escape(line) for line in markdown.split("\n"))
    return f"<p><em>Shown as it is written, as it would become too large.</em></p><p>{lines}</p>"


@lru_cache(maxsize=2)
def _make_parser(keep_line_breaks: bool) -> MarkdownIt:
    options = {"html": False, "breaks": keep_line_breaks}
    # An image becomes a link to it: the browser must not load it.
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"]).disable("image")
