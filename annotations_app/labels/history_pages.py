"""How a label came to be: what was pressed in its campaign, in the order in which it was."""

from typing import Any

from django.http import HttpRequest, QueryDict

from annotations_app.campaigns.pages_common import admin_url
from annotations_app.models import Annotation, Decision
from datasets_app.core.web.paging import parse_numbers
from datasets_app.models import Dataset

MAX_DECISIONS = 100


def has_history(annotation: Annotation) -> bool:
    """Made in a campaign, or by settling a dispute: not to be written over."""
    return annotation.campaign_id is not None or annotation.kind != Annotation.Kind.LABEL


def is_stale(annotation: Annotation) -> bool:
    """Made in a campaign under another text of the persona than it has now."""
    campaign = annotation.campaign
    if campaign is None or annotation.kind != Annotation.Kind.LABEL or not annotation.persona_digest:
        return False
    return annotation.persona_digest != campaign.persona.digest


def label_history(request: HttpRequest, object_id: str) -> dict[str, Any]:
    """For the page of one label: its decisions, and where the reply can be settled."""
    place = parse_numbers(object_id, 1)
    visible = Annotation.objects.filter(dataset__in=Dataset.objects.visible_to(request.user))
    label = (
        visible.select_related("campaign__persona", "assignment").filter(pk=place[0]).first()
        if place
        else None
    )
    if label is None or not has_history(label):
        return {}
    assignment = getattr(label, "assignment", None)
    decisions = Decision.objects.filter(assignment=assignment).order_by("id")
    return {
        "has_history": True,
        "stale": is_stale(label),
        "decisions": decisions[:MAX_DECISIONS],
        "adjudicate_url": _adjudicate_url(request, label),
    }


def _adjudicate_url(request: HttpRequest, label: Annotation) -> str:
    if not request.user.has_perm("annotations_app.adjudicate"):
        return ""
    query = QueryDict(mutable=True)
    if label.campaign_id:
        query["campaign"] = str(label.campaign_id)
    else:
        query["dataset"], query["persona"] = str(label.dataset_id), label.persona_id
    query["turn"] = str(label.turn_id)
    return f"{admin_url('campaign_adjudicate')}?{query.urlencode()}"
