"""The bell in the header of every page."""

from typing import Any

from django import template

from datasets_app.models import Notification

register = template.Library()
MAX_COUNT = 99


@register.simple_tag
def count_unread(user: Any) -> str:
    """The number of unread notifications, "99+" from a hundred on, or an empty text."""
    if not user.is_authenticated:
        return ""
    unread = Notification.objects.filter(user=user.pk, shown=True, read_at=None).order_by()
    if not unread.exists():  # mostly; to ask for those of datasets that are still visible takes far longer
        return ""
    count = len(unread.visible_to(user).values_list("pk")[: MAX_COUNT + 1])
    return f"{MAX_COUNT}+" if count > MAX_COUNT else str(count or "")
