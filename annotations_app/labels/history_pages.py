"""The history of a label: the decisions in its campaign, in order."""

from typing import Any

from django.http import HttpRequest, QueryDict

from annotations_app.campaigns.pages_common import admin_url
from annotations_app.models import Annotation, Decision
from datasets_app.catalog import raw_access
from datasets_app.core.web.pages import parse_pk
from datasets_app.models import Dataset

MAX_DECISIONS = 100


def has_history(annotation: Annotation) -> bool:
    """Whether the label comes from a campaign or from adjudication, so that it must not be edited."""
    return annotation.campaign_id is not None or annotation.kind != Annotation.Kind.LABEL


def label_history(request: HttpRequest, object_id: str) -> dict[str, Any]:
    """For the page of one label: its decisions, and the URL to adjudicate the reply."""
    visible = Annotation.objects.filter(dataset__in=Dataset.objects.visible_to(request.user))
    rows = visible.select_related("campaign__persona", "assignment")
    label = rows.filter(pk=parse_pk(object_id)).first()
    if label is None or not has_history(label):
        return {}
    assignment = getattr(label, "assignment", None)
    decisions = list(Decision.objects.filter(assignment=assignment).order_by("id")[:MAX_DECISIONS])
    if not raw_access.may_read(request.user, label.dataset):
        for decision in decisions:
            decision.notes = raw_access.WITHHELD if decision.notes else None
    return {
        "has_history": True,
        "stale": label.is_stale,
        "decisions": decisions,
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
