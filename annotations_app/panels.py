"""What the pages of datasets and sessions show of annotations."""

from collections import defaultdict
from typing import Any

from django.db.models import Count, Q

from annotations_app.models import Annotation
from datasets_app.admin.pages import persona_pages

LABELS_SHOWN = 1_000


def label_notes(session: Any, turns: Any, user: Any) -> dict[int, list[str]]:
    """For each labelled turn what was said of it, and by whom: on-brand · ada."""
    notes: dict[int, list[str]] = defaultdict(list)
    if user.has_perm("annotations_app.view_annotation"):
        labels = Annotation.objects.filter(turn__in=[turn.pk for turn in turns]).order_by("turn", "id")
        for label in labels.only("turn", "label", "annotator")[:LABELS_SHOWN]:
            said = [label.get_label_display().lower(), label.annotator]
            notes[label.turn_id].append(" · ".join(filter(None, said)))
    return notes


def annotations_panel(dataset: Any, user: Any) -> dict[str, Any] | None:
    """Counts of labels for each persona, or None for who may not see them."""
    if not user.has_perm("annotations_app.view_annotation"):
        return None
    rows = (
        Annotation.objects.filter(dataset=dataset)
        .values("persona_id")
        .annotate(
            labels=Count("id"),
            on_brand=Count("id", filter=Q(label=1)),
            annotators=Count("annotator", distinct=True),
        )
        .order_by("persona_id")
    )
    personas = list(rows)
    pages = persona_pages([row["persona_id"] for row in personas], user)
    return {
        "title": "Annotations",
        "template": "annotations_app/dataset_panel.html",
        "context": {"personas": [{**row, "address": pages.get(row["persona_id"])} for row in personas]},
    }
