"""Two versions side by side: links to sessions, and texts with what changed."""

from collections.abc import Iterable
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from datasets_app.templatetags.datasets_display import turn_url
from datasets_app.templatetags.values import session_name

register = template.Library()


@register.simple_tag
def session_link(session_id: str, keys: dict[str, int], turn_index: int | None = None) -> SafeString | str:
    """The id of a session, as a link to it if ``keys`` has its primary key."""
    name = session_name(session_id)
    if session_id not in keys:
        return name
    return format_html('<a dir="auto" href="{}">{}</a>', turn_url(keys[session_id], turn_index), name)


@register.simple_tag
def show_changes(pieces: Iterable[Any], element: str) -> SafeString:
    """A text in pieces, with those that changed as "ins" or "del"."""
    return format_html_join(
        "",
        "{}",
        (
            (format_html("<{0}>{1}</{0}>", element, piece.text) if piece.changed else piece.text,)
            for piece in pieces
        ),
    )
