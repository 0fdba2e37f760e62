"""What the pages of datasets and sessions show of annotations."""

from collections import defaultdict
from typing import Any

from annotations_app.agreement.figures import by_persona
from annotations_app.models import Annotation, Campaign

LABELS_SHOWN = 1_000
CAMPAIGNS_SHOWN = 5


def label_notes(session: Any, turns: Any, user: Any) -> dict[int, list[str]]:
    """For each labelled turn what was said of it, and by whom: on-brand · ada. What counts no longer, and
    hidden repeats, are left out."""
    notes: dict[int, list[str]] = defaultdict(list)
    if user.has_perm("annotations_app.view_annotation"):
        shown = Annotation.objects.filter(
            turn__in=[turn.pk for turn in turns], kind__in=["label", "adjudicated"]
        )
        labels = shown.order_by("turn", "id").only("turn", "label", "annotator", "kind")
        for label in labels[:LABELS_SHOWN]:
            settled = "adjudicated" if label.kind == Annotation.Kind.ADJUDICATED else ""
            said = [label.get_label_display().lower(), label.annotator, settled]
            notes[label.turn_id].append(" · ".join(filter(None, said)))
    return notes


def labels_under(persona: Any) -> int:
    """How many labels of campaigns become stale if the text of the persona changes."""
    made = Annotation.objects.in_force().filter(campaign__persona=persona, persona_digest=persona.digest)
    return made.count()


def annotations_panel(dataset: Any, user: Any) -> dict[str, Any] | None:
    """Counts of labels for each persona, and the campaigns; None for who may not see labels."""
    from datasets_app.core.web.pages import persona_pages  # pages are imported with pages only

    if not user.has_perm("annotations_app.view_annotation"):
        return None
    personas = by_persona(dataset.pk)
    pages = persona_pages([row.persona_id for row in personas], user)
    return {
        "title": "Annotations",
        "template": "annotations_app/dataset_panel.html",
        "context": {
            "dataset": dataset,
            "personas": [{**row._asdict(), "address": pages.get(row.persona_id)} for row in personas],
            **_campaigns(dataset, user),
        },
    }


def _campaigns(dataset: Any, user: Any) -> dict[str, Any]:
    if not user.has_perm("annotations_app.view_campaign"):
        return {"campaigns": None}
    found = list(Campaign.objects.filter(dataset=dataset).select_related("persona")[: CAMPAIGNS_SHOWN + 1])
    return {
        "campaigns": found[:CAMPAIGNS_SHOWN],
        "more_campaigns": len(found) > CAMPAIGNS_SHOWN,
        "may_begin": user.has_perm("annotations_app.add_campaign") and dataset.turn_count > 0,
    }
