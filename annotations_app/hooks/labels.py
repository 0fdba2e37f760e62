"""The labels of a dataset: ``Labels`` of ``datasets_app/hooks.py``."""

import hashlib
from collections import defaultdict
from datetime import date, datetime
from typing import Any

from django.contrib.auth.models import Permission
from django.core.cache import cache
from django.db.models import Count, Q
from django.db.models.functions import TruncWeek
from django.utils import timezone

from annotations_app.hooks.on_import import annotate_imported_turns
from annotations_app.hooks.package import build_label_facts, write_label_files
from annotations_app.hooks.session_labels import SESSION_LABELS
from annotations_app.models import Annotation, Campaign, CampaignMember, Decision

__all__ = ["SESSION_LABELS", "annotate_imported_turns", "build_label_facts", "write_label_files"]

WEEKLY_LABELS_SECONDS = 600


def count_labels_for_persona(persona: Any) -> int:
    """How many labels of campaigns become stale if the persona changes."""
    made = Annotation.objects.countable().filter(campaign__persona=persona, persona_digest=persona.digest)
    return made.count()


def find_label_progress(dataset: Any) -> tuple[bool, int]:
    """Whether the dataset has labels, and how many campaigns are open: two looks at an index."""
    labels = Annotation.objects.filter(dataset=dataset).order_by().exists()
    campaigns = Campaign.objects.filter(dataset=dataset).exclude(status=Campaign.Status.CLOSED)
    return labels, campaigns.count()


def count_weekly_labels(datasets: Any, since: datetime) -> dict[date, int]:
    """Labels since then by the Monday of their week. Kept for some minutes: a million take a moment."""
    keys = sorted(datasets.order_by().values_list("pk", flat=True))
    name = hashlib.sha256(f"{keys} {since:%Y-%m-%d}".encode()).hexdigest()[:32]
    known = cache.get(f"weekly-labels-{name}")
    if known is None:
        labels = Annotation.objects.filter(dataset__in=keys, created_at__gte=since).order_by()
        weeks = labels.annotate(week=TruncWeek("created_at")).values_list("week").annotate(n=Count("pk"))
        known = {timezone.localdate(week).isoformat(): count for week, count in weeks}
        cache.set(f"weekly-labels-{name}", known, WEEKLY_LABELS_SECONDS)
    return {date.fromisoformat(week): count for week, count in known.items()}


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


def was_labeled_since(dataset: Any, since: datetime) -> bool:
    """Whether a decision that counts has added, changed or removed a label; those on replies that never had
    one have not."""
    later = Decision.objects.filter(at__gt=since, counted=True, assignment__campaign__dataset=dataset)
    return later.filter(assignment__decisions__kind=Decision.Kind.LABEL).exists()
