"""Highlight the findings of a scrub in the text of a turn."""

from collections.abc import Iterable
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()

_STATE_LABELS = {
    "found": "found",
    "kept": "marked as not personal",
    "missed": "marked as missed",
    "placeholder": "scrubbed",
}


@register.simple_tag
def render_pieces(pieces: Iterable[Any], may_mark: bool) -> SafeString:
    """Render the pieces (see scrubbing/highlights.py) without adding white space, which counts in texts.

    Each highlight has a visible label and one for screen readers. Its button submits the form
    "not-personal", which is on the page once.
    """
    return format_html_join("", "{}", ((_render_piece(piece, may_mark),) for piece in pieces))


def _render_piece(piece: Any, may_mark: bool) -> SafeString | str:
    if not piece.state:
        return piece.text
    label = _STATE_LABELS[piece.state]
    button: SafeString | str = ""
    if may_mark and piece.finding is not None:
        button = format_html(
            '<button class="ad-found-no" form="not-personal" name="finding" value="{}" '
            'title="Not personal"><span class="ad-sr">Not personal: {} {}</span></button>',
            piece.finding,
            piece.kind,
            piece.text,
        )
    # Keep the label and the button on one line.
    return format_html(
        '<mark class="ad-found ad-found-{}" title="{}"><span class="ad-sr">{} {}: </span>{}<span '
        'class="ad-found-tail"><span class="ad-found-kind" aria-hidden="true">{}</span>{}</span></mark>',
        piece.state,
        _piece_title(piece, label),
        piece.kind,
        label,
        piece.text,
        piece.kind,
        button,
    )


def _piece_title(piece: Any, label: str) -> str:
    confidence = f", {100 * piece.score:.0f} % sure" if piece.score is not None and piece.score < 1 else ""
    return f"{piece.kind}: {label}{confidence}"
