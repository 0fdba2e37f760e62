"""The part of a campaign's agreement page that says how good the assistant is."""

from django.http import HttpRequest, HttpResponse

from annotations_app.agreement.charts import IntervalMark, interval_mark
from annotations_app.campaigns.pages_common import render_fragment, require_permissions, visible_campaign
from annotations_app.domain.agreement.agreement_report import Statistic
from annotations_app.domain.estimates.rates import Estimate
from annotations_app.estimates.measure import estimate_quality


def campaign_quality(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = visible_campaign(request, pk)
    require_permissions(request, "view_annotation")
    report = estimate_quality(campaign)
    rates = [(rate, _mark(rate.best)) for rate in report.rates]
    return render_fragment(request, "_quality", {"report": report, "rates": rates})


def _mark(estimate: Estimate) -> IntervalMark:
    return interval_mark(Statistic(estimate.value, estimate.low, estimate.high), 0.0)
