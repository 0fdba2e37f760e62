"""Renders guidelines in Markdown as safe HTML."""

from functools import lru_cache

import nh3
from markdown_it import MarkdownIt

# Far more than anyone reads; the page says that the rest is left out.
MAX_RENDERED_LENGTH = 100_000
_ALLOWED_TAGS = {
    "p", "br", "hr", "strong", "em", "s", "code", "pre", "blockquote", "ul", "ol", "li",
    "h3", "h4", "h5", "h6", "a", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
# The page uses the first two heading levels; those of the guidelines come below.
_HEADING_SHIFT = 2


@lru_cache(maxsize=32)
def render_guidelines(markdown: str) -> str:
    """Safe HTML: HTML in the text is escaped, images are removed, and links allow only http, https and
    mailto and send no referrer."""
    cut = len(markdown) > MAX_RENDERED_LENGTH
    tokens = _markdown_parser().parse(markdown[:MAX_RENDERED_LENGTH])
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + _HEADING_SHIFT)}"
    html = _markdown_parser().renderer.render(tokens, _markdown_parser().options, {})
    clean = nh3.clean(
        html,
        tags=_ALLOWED_TAGS,
        attributes={"a": {"href"}, "ol": {"start"}},
        url_schemes={"http", "https", "mailto"},
        url_relative="deny",
        link_rel="noopener noreferrer nofollow",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    return clean + ("<p>… The guidelines go on, but are too long to be shown here.</p>" if cut else "")


@lru_cache(maxsize=1)
def _markdown_parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
