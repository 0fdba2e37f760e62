"""How findings of a scrub are shown in the text they stand in."""

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
    """The pieces (see admin/scrub_highlights.py) with nothing between them: white space counts in texts.

    A highlight says what it is to the eye (its class, a line under it) and to the ear. The buttons belong
    to the form "not-personal", which stands once on the page.
    """
    return format_html_join("", "{}", ((_render_piece(piece, may_mark),) for piece in pieces))


def _render_piece(piece: Any, may_mark: bool) -> SafeString | str:
    if not piece.state:
        return piece.text
    said = _STATE_LABELS[piece.state]
    button: SafeString | str = ""
    if may_mark and piece.finding is not None:
        button = format_html(
            '<button class="ad-found-no" form="not-personal" name="finding" value="{}" '
            'title="Not personal"><span class="ad-sr">Not personal: {} {}</span></button>',
            piece.finding,
            piece.kind,
            piece.text,
        )
    # Class and button never part at the end of a line.
    return format_html(
        '<mark class="ad-found ad-found-{}" title="{}"><span class="ad-sr">{} {}: </span>{}<span '
        'class="ad-found-tail"><span class="ad-found-kind" aria-hidden="true">{}</span>{}</span></mark>',
        piece.state,
        _piece_title(piece, said),
        piece.kind,
        said,
        piece.text,
        piece.kind,
        button,
    )


def _piece_title(piece: Any, said: str) -> str:
    likely = f", {100 * piece.score:.0f} % sure" if piece.score is not None and piece.score < 1 else ""
    return f"{piece.kind}: {said}{likely}"
