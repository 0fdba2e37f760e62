"""What ``_turn.html`` shows of a turn, on every page that shows conversations.

A turn has a ``role``, a ``turn_index``, its number of ``characters``, its text as HTML with what is marked
in it (``text_html``) and, if it is Markdown, formatted (``html``; ``is_raw_first`` shows the text first).
What else it may have: ``folded_html``, the beginning of a text that is folded; ``rest_url``, which gives
the rest of a text that was cut; ``url``, ``badge``, ``timestamp``, ``tags``, ``steps``, ``case``.
"""

from collections.abc import Iterable
from typing import Any

from django.utils.safestring import mark_safe
from django.utils.translation import gettext_noop

from datasets_app.domain.conversations.cases import describe_case
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.conversations.turn_metadata import list_steps
from datasets_app.domain.markdown import has_markup, render_markdown
from datasets_app.models import Turn

# Rendering Markdown takes a millisecond for some thousand characters; what is longer is shown as it is.
MAX_FORMATTED_TURN, MAX_FORMATTED_PAGE = 10_000, 200_000
# Of all formatted turns of a page together.
MAX_PAGE_HTML = 400_000
# Kinds of steps (domain/conversations/turn_metadata.py), for annotators in their language.
gettext_noop("Reasoning"), gettext_noop("Tool call"), gettext_noop("Tool result")
# Headings in a turn come below those of the page.
_TOP_HEADING = 4


def format_turns(turns: Iterable[Any]) -> None:
    """Set ``html`` of turns in Markdown whose whole text is in ``start``."""
    budget, html_budget = MAX_FORMATTED_PAGE, MAX_PAGE_HTML
    for turn in turns:
        whole = turn.characters == len(turn.start)
        if whole and turn.characters <= min(MAX_FORMATTED_TURN, budget) and has_markup(turn.start):
            budget -= turn.characters
            html = render_markdown(turn.start, top_heading=_TOP_HEADING, keep_line_breaks=True)
            html_budget -= len(html)
            if html_budget < 0:
                return
            turn.html = mark_safe(html)  # sanitized by nh3 # nosec B308 B703


class PreviewedTurn:
    """A turn of a file, as ``_turn.html`` shows it."""

    def __init__(self, record: TurnRecord, *, max_characters: int, max_tags: int) -> None:
        self.role, self.turn_index, self.timestamp = record.role, record.turn_index, record.timestamp
        self.get_role_display = dict(Turn.Role.choices).get(record.role, record.role)
        self.characters = len(record.text)
        self.start = record.text[:max_characters]
        self.text_html = self.start + ("…" if self.characters > max_characters else "")
        self.tags = record.tags[:max_tags]
        self.steps = list_steps(record.metadata, record.extra)
        self.case = describe_case(record.metadata, record.extra)
        self.html = ""
