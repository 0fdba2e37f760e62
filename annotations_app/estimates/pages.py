"""The part of a campaign's agreement page that says how good the assistant is."""

from django.http import HttpRequest, HttpResponse

from annotations_app.campaigns.pages_common import render_fragment, require_permissions, visible_campaign
from annotations_app.domain.estimates.quality import explain_rate
from annotations_app.estimates.measure import estimate_quality
from datasets_app.domain.charts import Dots, make_dots


def campaign_quality(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = visible_campaign(request, pk)
    require_permissions(request, "view_annotation")
    report = estimate_quality(campaign)
    dots = [
        Dots(
            f"{rate.question} {rate.answer}",
            [rate.best, rate.best_any_time],
            rate.best.labels,
            explain_rate(rate),
        )
        for rate in report.rates
    ]
    series = ["Looked at once", "Looked at any time"]
    chart = make_dots("How good is the assistant?", "Answer", dots, series=series, unit="Labels")
    return render_fragment(request, "_quality", {"report": report, "chart": chart})
