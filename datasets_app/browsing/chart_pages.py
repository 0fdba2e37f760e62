"""What pages ask for once they are shown: the charts of a dataset, and the tags that a field suggests."""

from django.http import HttpRequest, HttpResponse

from datasets_app.browsing.charts import build_charts, count_side, list_missing
from datasets_app.browsing.facets import list_tags
from datasets_app.browsing.filters import SessionFilter
from datasets_app.catalog import raw_access
from datasets_app.core.web.pages import (
    get_visible_dataset,
    parse_pk,
    render_fragment,
    require_permissions,
)
from datasets_app.models import Dataset


def charts(request: HttpRequest, pk: int) -> HttpResponse:
    dataset = get_visible_dataset(request, pk, "view_session")
    may_read = raw_access.may_read(request.user, dataset)
    side = count_side(dataset, may_read=may_read, user=request.user, chosen=SessionFilter())
    if may_read:
        raw_access.record_access(dataset, request.user, place="charts")
    context = {
        "sides": [side] if side else None,
        "charts": build_charts(side) if side else [],
        "missing": list_missing(side, may_read=may_read, user=request.user) if side else [],
    }
    return render_fragment(request, "datasets_app/_charts.html", context)


def known_tags(request: HttpRequest) -> HttpResponse:
    """The tags of the ``?dataset=`` chosen in a form; none of one whose text the person may not read."""
    require_permissions(request, "view_session")
    visible = Dataset.objects.visible_to(request.user)
    dataset = visible.filter(pk=parse_pk(request.GET.get("dataset", ""))).first()
    tags = list_tags(dataset) if dataset and raw_access.may_read(request.user, dataset) else []
    if dataset and tags:
        raw_access.record_access(dataset, request.user, place="tags", tags=len(tags))
    return render_fragment(request, "datasets_app/_known_tags.html", {"tags": tags})
