"""The charts of a dataset's overview, which the page asks for once it is shown."""

from django.http import HttpRequest, HttpResponse

from datasets_app.browsing.charts import build_charts, count_side, list_missing
from datasets_app.browsing.filters import SessionFilter
from datasets_app.catalog import raw_access
from datasets_app.core.web.pages import get_visible_dataset, render_fragment, require_permissions


def charts(request: HttpRequest, pk: int) -> HttpResponse:
    require_permissions(request, "view_session")
    dataset = get_visible_dataset(request, pk)
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
