"""Annotations on the pages of datasets and sessions."""

from collections import defaultdict
from typing import Any

from annotations_app.agreement.figures import persona_label_stats
from annotations_app.models import Annotation, Campaign
from datasets_app.catalog import raw_access

MAX_LABELS = 1_000
MAX_CAMPAIGNS = 5


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


def annotations_panel(dataset: Any, user: Any) -> dict[str, Any] | None:
    """Label counts by persona, and the campaigns; None for users who may not see labels."""
    # Commands start faster without the modules of pages.
    from annotations_app.agreement.pages import AgreementScope
    from datasets_app.core.web.pages import persona_urls

    if not user.has_perm("annotations_app.view_annotation"):
        return None
    rows = persona_label_stats(dataset.pk)
    readable = set(raw_access.filter_personas(user, dataset, [row.persona_id for row in rows]))
    personas = [row for row in rows if row.persona_id in readable]
    pages = persona_urls([row.persona_id for row in personas], user)
    return {
        "title": "Annotations",
        "template": "annotations_app/dataset_panel.html",
        "context": {
            "dataset": dataset,
            "withheld_personas": len(rows) - len(personas),
            "personas": [
                {
                    **row._asdict(),
                    "address": pages.get(row.persona_id),
                    "agreement_url": AgreementScope(dataset, row.persona_id).url("agreement"),
                }
                for row in personas
            ],
            **_campaigns_context(dataset, user),
        },
    }


def _campaigns_context(dataset: Any, user: Any) -> dict[str, Any]:
    if not user.has_perm("annotations_app.view_campaign"):
        return {"campaigns": None}
    campaigns = list(Campaign.objects.filter(dataset=dataset).select_related("persona")[: MAX_CAMPAIGNS + 1])
    return {
        "campaigns": campaigns[:MAX_CAMPAIGNS],
        "more_campaigns": len(campaigns) > MAX_CAMPAIGNS,
        "may_add_campaign": user.has_perm("annotations_app.add_campaign") and dataset.turn_count > 0,
    }
