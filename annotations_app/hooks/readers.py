"""Who reads replies of a dataset without seeing the dataset: the annotators of its campaigns."""

from collections import defaultdict
from typing import Any

from django.contrib.auth.models import Permission
from django.db.models import Q

from annotations_app.models import CampaignMember


def list_campaign_readers(dataset: Any) -> dict[int, list[str]]:
    """By the key of a user: for each campaign that they are in and may label in, a sentence."""
    may = Permission.objects.filter(content_type__app_label="annotations_app", codename="annotate")
    held = (
        Q(user__is_superuser=True) | Q(user__user_permissions__in=may) | Q(user__groups__permissions__in=may)
    )
    there = CampaignMember.objects.filter(campaign__dataset=dataset, active=True, user__is_active=True)
    rows = there.filter(held).values_list("user", "campaign__name", "campaign__status")
    told: dict[int, list[str]] = defaultdict(list)
    for user, name, status in rows.order_by("campaign__name").distinct():
        closed = " (closed)" if status == "closed" else ""
        told[user].append(f"An annotator of the campaign {name}{closed}: reads the replies given to them")
    return told
