"""The annotators of a dataset's campaigns, who read replies without access to the dataset."""

from collections import defaultdict
from typing import Any

from django.contrib.auth.models import Permission
from django.db.models import Q

from annotations_app.models import CampaignMember


def list_campaign_readers(dataset: Any) -> dict[int, list[str]]:
    """User key → a sentence for each campaign in which the user may label."""
    may_label = Permission.objects.filter(content_type__app_label="annotations_app", codename="annotate")
    permitted = (
        Q(user__is_superuser=True)
        | Q(user__user_permissions__in=may_label)
        | Q(user__groups__permissions__in=may_label)
    )
    members = CampaignMember.objects.filter(campaign__dataset=dataset, active=True, user__is_active=True)
    rows = members.filter(permitted).values_list("user", "campaign__name", "campaign__status")
    sentences: dict[int, list[str]] = defaultdict(list)
    for user, name, status in rows.order_by("campaign__name").distinct():
        closed = " (closed)" if status == "closed" else ""
        sentences[user].append(
            f"Annotator of the campaign {name}{closed}: reads the replies assigned to them"
        )
    return sentences
