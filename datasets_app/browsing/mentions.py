"""Tells people on the home page that they were mentioned in comments."""

from datetime import timedelta
from typing import Any

from django.urls import reverse
from django.utils import timezone

from datasets_app.domain.wording import format_count
from datasets_app.hooks import AttentionItem
from datasets_app.models import Dataset, SessionComment

MENTIONED_FOR = timedelta(days=14)


def list_mentions(user: Any) -> list[AttentionItem]:
    """Datasets in whose comments the user was mentioned in the last days."""
    recent = SessionComment.objects.filter(
        mentions__contains=[user.pk],
        created_at__gt=timezone.now() - MENTIONED_FOR,
        dataset__in=Dataset.objects.visible_to(user),
    ).exclude(author=user)
    latest: dict[str, list[SessionComment]] = {}
    for found in recent.select_related("dataset").order_by("-id")[:100]:
        latest.setdefault(found.dataset.name, []).append(found)
    return [
        AttentionItem(
            "warn",
            "alternate_email",
            name,
            f"mentions you in {format_count(len(found), 'comment')}",
            f"{reverse('admin:datasets_app_session_change', args=[found[0].session_id])}#comments",
            "Open the last one",
        )
        for name, found in latest.items()
    ]
