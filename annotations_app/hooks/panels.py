"""Annotations on the pages of datasets and sessions."""

import hashlib
from collections import defaultdict
from datetime import date, datetime
from typing import Any

from django.core.cache import cache
from django.db.models import Count
from django.db.models.functions import TruncWeek
from django.utils import timezone

from annotations_app.models import Annotation, Campaign

MAX_LABELS = 1_000
WEEKLY_LABELS_SECONDS = 600


def turn_label_notes(session: Any, turns: Any, user: Any) -> dict[int, list[str]]:
    """Each turn's labels with their annotators ("on-brand · ada"), without withdrawn ones and repeats."""
    notes: dict[int, list[str]] = defaultdict(list)
    if user.has_perm("annotations_app.view_annotation"):
        shown = Annotation.objects.filter(
            turn__in=[turn.pk for turn in turns], kind__in=["label", "adjudicated"]
        )
        labels = shown.order_by("turn", "id").only("turn", "label", "annotator", "kind")
        for label in labels[:MAX_LABELS]:
            kind = "adjudicated" if label.kind == Annotation.Kind.ADJUDICATED else ""
            parts = [label.get_label_display().lower(), label.annotator, kind]
            notes[label.turn_id].append(" · ".join(filter(None, parts)))
    return notes


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


def list_label_pages(dataset: Any, user: Any) -> list[tuple[str, str, str]]:
    """The pages of a dataset's tab "Labels"."""
    from annotations_app.campaigns.pages_common import admin_url

    if not user.has_perm("annotations_app.view_annotation"):
        return []
    return [
        ("labels", "Labels", admin_url("campaign_dataset_labels", dataset.pk)),
        ("agreement", "Agreement", admin_url("campaign_dataset_agreement", dataset.pk)),
    ]
