"""Labels, errors and scrubs per week, for the home page."""

from datetime import date, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, Sum
from django.db.models.functions import TruncWeek
from django.utils import timezone

from datasets_app import hooks
from datasets_app.domain.charts import Column, make_columns
from datasets_app.models import CheckReport, ScrubRun

WEEKS = 8


class Trend(NamedTuple):
    """``total`` is the sum of all weeks; ``last`` is the current week's."""

    title: str
    total: int
    last: int
    bars: list[Column]


def build_trends(datasets: Any) -> list[Trend]:
    """One query for each, limited to the last weeks."""
    today = timezone.localdate()
    monday = today - timedelta(days=today.weekday())
    weeks = [monday - timedelta(weeks=number) for number in reversed(range(WEEKS))]
    since = timezone.now() - timedelta(days=(today - weeks[0]).days + 1)
    chosen = datasets.order_by().values("pk")
    reports = CheckReport.objects.filter(dataset__in=chosen, created_at__gte=since)
    scrubs = ScrubRun.objects.filter(dataset__in=chosen, dry_run=False, verified_at__gte=since)
    return [
        _make_trend("Labels", weeks, hooks.labels.count_weekly_labels(datasets, since)),
        _make_trend("Errors found", weeks, _by_week(reports, "created_at", Sum("error_count"))),
        _make_trend("Scrubs", weeks, _by_week(scrubs, "verified_at", Count("pk"))),
    ]


def _by_week(rows: Any, field: str, count: Any) -> dict[date, int]:
    weeks = rows.order_by().annotate(week=TruncWeek(field)).values("week").annotate(n=count)
    return {timezone.localdate(row["week"]): row["n"] or 0 for row in weeks}


def _make_trend(title: str, weeks: list[date], counts: dict[date, int]) -> Trend:
    bars = make_columns([(f"{week:%-d %b}", counts.get(week, 0)) for week in weeks])
    return Trend(title, sum(bar.number for bar in bars), bars[-1].number, bars)
