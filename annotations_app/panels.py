"""What the dataset page shows of annotations."""

from typing import Any

from django.db.models import Count, Q

from annotations_app.models import Annotation


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
    return {
        "title": "Annotations",
        "template": "annotations_app/dataset_panel.html",
        "context": {"personas": list(rows)},
    }
