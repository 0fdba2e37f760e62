"""How pages show people."""

import zlib
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

# Classes ad-avatar-0 … in app.css; a person has the same color everywhere.
AVATAR_COLORS = 6


@register.simple_tag
def avatar(user: Any) -> SafeString:
    """The person's initials in a colored circle; screen readers skip it, because the name follows."""
    color = zlib.crc32(user.get_username().encode()) % AVATAR_COLORS
    return format_html(
        '<span class="ad-avatar ad-avatar-{}" aria-hidden="true">{}</span>', color, find_initials(user)
    )


def find_initials(user: Any) -> str:
    """Of first and last name, or else of the parts of the user name: "ana.lopez" → "AL"."""
    parts = [user.first_name, user.last_name]
    if not any(parts):
        parts = user.get_username().replace("_", ".").replace("-", ".").split("@")[0].split(".")[:2]
    return "".join(part.strip()[:1] for part in parts).upper() or "?"
