"""Guidelines in Markdown: as safe HTML, and the digest that labels record."""

import hashlib
from functools import lru_cache

from datasets_app.domain.markdown import render_markdown

# Far more than anyone reads; the page says that the rest is left out.
MAX_RENDERED_LENGTH = 100_000
# The page uses the first two heading levels; those of the guidelines come below.
_TOP_HEADING = 3


@lru_cache(maxsize=32)
def render_guidelines(markdown: str) -> str:
    """Safe HTML, see :func:`render_markdown`."""
    cut = len(markdown) > MAX_RENDERED_LENGTH
    clean = render_markdown(markdown[:MAX_RENDERED_LENGTH], top_heading=_TOP_HEADING)
    return clean + ("<p>… The guidelines go on, but are too long to be shown here.</p>" if cut else "")


@lru_cache(maxsize=64)
def digest_guidelines(markdown: str) -> str:
    """Empty without guidelines."""
    return hashlib.sha256(markdown.encode()).hexdigest() if markdown else ""
