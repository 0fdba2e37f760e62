"""Which labels the pages on agreement are about, and where these pages are."""

from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, QueryDict

from annotations_app.agreement.measure import MAX_WIDTH, MIN_WIDTH
from annotations_app.campaigns.pages_common import (
    admin_url,
    campaign_url,
    require_permissions,
    visible_campaign,
)
from annotations_app.labels.label_counts import LabelScope
from annotations_app.labels.versions import list_versions
from annotations_app.models import Campaign
from datasets_app.catalog import raw_access
from datasets_app.core.web.pages import get_visible_dataset, parse_pk
from datasets_app.models import Dataset


class AgreementScope(NamedTuple):
    """The labels of a dataset for a persona, or only those of a campaign."""

    dataset: Dataset
    persona_id: str
    campaign: Campaign | None = None
    # Of the labels of the campaign; 0: all that count.
    version: int = 0
    # Of alpha's interval, for which labels are planned.
    width: float | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """As `measure_agreement` takes them."""
        if self.campaign:
            return {"campaign": self.campaign, "version": self.version, "width": self.width}
        return {"dataset": self.dataset, "persona_id": self.persona_id}

    @property
    def labels(self) -> LabelScope:
        """As selections of labels take it."""
        return LabelScope(self.dataset.pk, self.persona_id, self.campaign.pk if self.campaign else None)

    def url(self, page: str) -> str:
        """Of "agreement", "measured" or "parts"; of a dataset also "calibration"."""
        if self.campaign:
            chosen = {"version": self.version or None, "width": self.width}
            query_string = urlencode({name: value for name, value in chosen.items() if value})
            return campaign_url(self.campaign, page) + (f"?{query_string}" if query_string else "")
        query = QueryDict(mutable=True)
        query["persona"] = self.persona_id
        return f"{admin_url(f'campaign_dataset_{page}', self.dataset.pk)}?{query.urlencode()}"


def campaign_scope(request: HttpRequest, pk: int) -> AgreementScope:
    """``?version=`` chooses a version of the labels; 404 for one that isn't there. ``?width=`` asks for a
    plan."""
    campaign = visible_campaign(request, pk, "view_annotation")
    said = request.GET.get("version", "")
    version = parse_pk(said) or 0
    if said and not 1 <= version <= len(list_versions(campaign)):
        raise Http404
    width = _parse_width(request.GET.get("width", ""))
    return AgreementScope(campaign.dataset, campaign.persona.persona_id, campaign, version, width)


def _parse_width(said: str) -> float | None:
    """None for what isn't a width."""
    try:
        width = float(said)
    except ValueError:
        return None
    return width if MIN_WIDTH <= width <= MAX_WIDTH else None


def dataset_scope(request: HttpRequest, pk: int) -> AgreementScope:
    """``?persona=`` chooses the persona; it is empty without, and where its id is raw and may not be read."""
    dataset = get_visible_dataset(request, pk)
    require_permissions(request, "view_annotation")
    readable = raw_access.filter_personas(request.user, dataset, [request.GET.get("persona", "")])
    return AgreementScope(dataset, readable[0] if readable else "")


ScopeOf = Callable[[HttpRequest, int], AgreementScope]
