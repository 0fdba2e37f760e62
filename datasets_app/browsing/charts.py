"""What a dataset holds as charts, or what two datasets or versions hold side by side."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from django.utils.http import urlencode

from datasets_app import hooks
from datasets_app.browsing.distributions import Facet, Value, make_date_facet
from datasets_app.browsing.facets import count_facets
from datasets_app.browsing.filters import ANY, NONE, SessionFilter, is_findable
from datasets_app.core.web.pages import dataset_url
from datasets_app.domain.charts import Bars, Chart, make_chart
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.models import Dataset

# By the name of a facet, in this order: the title of the chart (or that of the facet), and what its rows are.
_CHARTS = {
    "length": ("Turns per session", "Turns"),
    "reply": ("Length of replies, in characters", "Characters"),
    "date": ("Time", "Date"),
    "tag": ("", "Tag"),
    "persona": ("", "Persona"),
    "labels": ("Labels by persona", "Persona"),
    "kind": ("", "Type"),
    "meta": ("", "Value"),
}
# What to call it where a dataset has none.
_NONE = {"date": "dates", "tag": "tags", "persona": "personas", "labels": "labels", "meta": "metadata"}
# Shares that differ by less are shown as the same.
MIN_DIFFERENCE = 0.01
# What isn't counted of one side needn't be missing there.
_OF_BOTH = ("kind", "meta")
Values = list[Value | None]


class Side(NamedTuple):
    """What is counted of ``total`` sessions, of which ``counted`` were looked at. ``days`` are the dates.

    ``address`` is that of the list of sessions, "" if there is none, and ``parameters`` those of its filter.
    """

    name: str
    total: int
    counted: int
    facets: Sequence[Facet]
    days: Mapping[str, int]
    address: str = ""
    parameters: Sequence[tuple[str, str]] = ()

    @property
    def is_estimate(self) -> bool:
        return self.counted < self.total

    def link(self, value: Value | None) -> str:
        if value is None or not value.count or not self.address or not is_findable(value.parameters):
            return ""
        others = [(name, chosen) for name, chosen in self.parameters if name not in value.parameters]
        return f"{self.address}?{urlencode([*others, *value.parameters.items()])}"


def count_side(dataset: Dataset, *, may_read: bool, user: Any, chosen: SessionFilter) -> Side | None:
    """None if counting takes too long."""
    found = count_facets(dataset, chosen, may_read=may_read, user=user, in_detail=True)
    if found is None:
        return None
    return Side(
        dataset.name,
        found.sample.estimate,
        len(found.sample.keys),
        found.facets,
        {day: round(number * found.sample.weight) for day, number in found.days.items()},
        dataset_url(dataset, "sessions"),
        chosen.as_parameters(),
    )


def list_missing(side: Side, *, may_read: bool, user: Any) -> list[str]:
    """What could be counted if the dataset had it."""
    names = {facet.name for facet in side.facets}
    permitted = user.has_perm(hooks.labels.SESSION_LABELS.permission)
    return [
        word
        for name, word in _NONE.items()
        if name not in names and (permitted if name == "labels" else may_read)
    ]


def build_charts(*sides: Side) -> list[Chart]:
    """Of one side, or of two with the same rows; each has its own labels."""
    by_title: dict[tuple[str, str], dict[int, Facet]] = {}
    every_day = dict.fromkeys((day for side in sides for day in side.days), 0)
    for place, side in enumerate(sides):
        facets = [facet for facet in side.facets if facet.name not in ("date", "labels")]
        if side.days:
            facets.append(make_date_facet({**every_day, **side.days}))
        for facet in facets:
            by_title.setdefault((facet.name, facet.title), {})[place] = facet
    charts = [
        (name, _merge(name, title, facets, sides))
        for (name, title), facets in by_title.items()
        if name in _CHARTS and (len(facets) == len(sides) or name not in _OF_BOTH)
    ]
    charts += [("labels", chart) for side in sides for chart in _chart_labels(side, is_named=len(sides) > 1)]
    order = list(_CHARTS)
    return [chart for _, chart in sorted(charts, key=lambda item: order.index(item[0]))]


def keep_differing(charts: Sequence[Chart]) -> tuple[list[Chart], int]:
    """Rows whose shares differ between the sides, and the number of other rows."""
    kept = [
        chart._replace(rows=[row for row in chart.rows if _differs([cell.share for cell in row.cells])])
        for chart in charts
    ]
    hidden = sum(len(chart.rows) for chart in charts) - sum(len(chart.rows) for chart in kept)
    return [chart for chart in kept if chart.rows], hidden


def _differs(shares: Sequence[float]) -> bool:
    return max(shares) - min(shares) >= MIN_DIFFERENCE


def _merge(name: str, title: str, facets: Mapping[int, Facet], sides: Sequence[Side]) -> Chart:
    rows: dict[str, Values] = {}
    for place, facet in facets.items():
        for value in facet.values:
            rows.setdefault(value.label, [None] * len(sides))[place] = value
    # What a side doesn't list may be rare there.
    cut = [place for place, facet in facets.items() if facet.left_out]
    listed = {label: row for label, row in rows.items() if all(row[place] for place in cut)}
    rank = _rank_in_order if any(facet.is_distribution for facet in facets.values()) else _rank_by_share
    bars = [
        Bars(
            label,
            [value.count if value else 0 for value in row],
            [side.link(value) for side, value in zip(sides, row, strict=True)],
        )
        for label, row in sorted(listed.items(), key=lambda item: rank(item[1], sides))
    ]
    own_title, head = _CHARTS[name]
    return make_chart(
        own_title or title,
        head,
        bars,
        series=[side.name for side in sides] if len(sides) > 1 else ["Sessions"],
        totals=[side.total for side in sides],
        estimates=[side.is_estimate for side in sides],
        left_out=max(facet.left_out for facet in facets.values()) + len(rows) - len(listed),
    )


def _rank_in_order(row: Values, sides: Sequence[Side]) -> str:
    """By the start of a range, a number or a date."""
    parameters = next(value.parameters for value in row if value)
    return next(iter(parameters.values())).zfill(10)


def _rank_by_share(row: Values, sides: Sequence[Side]) -> float:
    """The larger one first."""
    return -max(value.count / (side.total or 1) for value, side in zip(row, sides, strict=True) if value)


def _chart_labels(side: Side, *, is_named: bool) -> Sequence[Chart]:
    """Those of all sessions, and of each persona's. A session with different labels is counted with each."""
    shown_labels = [*(level.slug for _, level in ON_BRAND.downwards), NONE]
    bars, series = [], []
    for facet in side.facets:
        if facet.name == "labels":
            by_filter = {value.parameters["labels"]: value for value in facet.values}
            total = by_filter[ANY].count + by_filter[NONE].count
            values = [by_filter[label] for label in shown_labels]
            series = [value.label for value in values]
            counts, urls = [value.count for value in values], [side.link(value) for value in values]
            bars.append(Bars(facet.title if bars else "All", counts, urls, total=total))
    if len(bars) == 2:  # of all personas and the only one: the same
        del bars[0]
    title, head = _CHARTS["labels"]
    shown = f"{title}: {side.name}" if is_named else title
    return (
        [make_chart(shown, head, bars, series=series, estimates=[side.is_estimate] * len(series))]
        if bars
        else []
    )
