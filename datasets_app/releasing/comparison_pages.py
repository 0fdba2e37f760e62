"""What is compared with what: versions of a dataset, the dataset as it is, other datasets."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from datasets_app.browsing.charts import Side as CountedSide
from datasets_app.browsing.charts import build_charts, count_side, keep_differing
from datasets_app.browsing.filters import NO, SessionFilter
from datasets_app.catalog import raw_access
from datasets_app.core.errors import UserError
from datasets_app.core.web.pages import get_visible_dataset, parse_pk, render_fragment
from datasets_app.models import Dataset, Release
from datasets_app.releasing.compare import count_release
from datasets_app.releasing.versions import find_release

CURRENT = "now"
DIFFERING = "differing"
MAX_DATASETS = 200
_OTHER = "dataset-"
# None for the dataset as it is.
Side = tuple[Dataset, Release | None]


def list_other_datasets(user: Any, dataset: Dataset) -> list[tuple[str, str]]:
    """(value, name), those updated last first."""
    others = Dataset.objects.visible_to(user).exclude(pk=dataset.pk).filter(session_count__gt=0)
    found = others.order_by("-updated_at").values_list("pk", "name")[:MAX_DATASETS]
    return [(f"{_OTHER}{pk}", name) for pk, name in found]


def find_side(user: Any, dataset: Dataset, name: str) -> Side:
    """Raises UserError if there is none, or none that the user may see."""
    if name in ("", CURRENT):
        return dataset, None
    if not name.startswith(_OTHER):
        return dataset, find_release(dataset, name)
    pk = parse_pk(name.removeprefix(_OTHER))
    other = Dataset.objects.visible_to(user).filter(pk=pk).first()
    if other is None:
        raise UserError("This dataset doesn't exist, or you don't have access to it.")
    return other, None


def may_read_all(user: Any, *sides: Side) -> bool:
    return all(
        raw_access.may_read(user, dataset) and (release is None or raw_access.may_read_release(user, release))
        for dataset, release in sides
    )


def charts(request: HttpRequest, pk: int) -> HttpResponse:
    """Both in the same charts, which the page of the comparison asks for once it is shown."""
    dataset, user = get_visible_dataset(request, pk, "view_release", "view_session"), request.user
    context: dict[str, Any] = {"sides": None, "charts": []}
    try:
        sides = [find_side(user, dataset, request.GET.get(name, "")) for name in ("before", "after")]
        may_read = may_read_all(user, *sides)
        counted = [_count(side, user, may_read) for side in sides]
    except UserError as refusal:
        return render_fragment(request, "datasets_app/_charts.html", {"refusal": refusal.message})
    if may_read:
        for compared, release in dict.fromkeys(sides):
            raw_access.record_access(compared, user, place="comparison charts", versions=(release,))
    known = [side for side in counted if side]
    if len(known) == len(sides):
        if sides[0][0] == sides[1][0]:  # the page has its name
            names = [release.version if release else CURRENT for _, release in sides]
            known = [side._replace(name=name) for side, name in zip(known, names, strict=True)]
        context = {"sides": known, "charts": build_charts(*known), "is_comparison": True}
        if request.GET.get("rows") == DIFFERING:
            context["charts"], context["alike"] = keep_differing(context["charts"])
    return render_fragment(request, "datasets_app/_charts.html", context)


def _count(side: Side, user: Any, may_read: bool) -> CountedSide | None:
    """Without excluded sessions, which versions don't have."""
    dataset, release = side
    if release:
        return count_release(release, may_read=may_read)
    return count_side(dataset, may_read=may_read, user=user, chosen=SessionFilter(excluded=NO))
