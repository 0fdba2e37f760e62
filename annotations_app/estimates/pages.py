"""The part of a campaign's agreement page that says how good the assistant is."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotations_app.campaigns.pages_common import (
    campaign_url,
    render_campaign_page,
    render_fragment,
    visible_campaign,
)
from annotations_app.domain.estimates.quality import explain_rate, say_plan
from annotations_app.estimates.measure import estimate_quality
from annotations_app.estimates.order_replies import order_replies
from annotations_app.models import Campaign
from datasets_app.core.web.pages import parse_pk, wants_fragment
from datasets_app.core.web.refusals import show_refusal
from datasets_app.domain.charts import Dots, make_dots
from datasets_app.domain.wording import format_count

# Of an interval, for which labels are planned.
DEFAULT_POINTS = 10


def campaign_quality(request: HttpRequest, pk: int) -> HttpResponse:
    campaign = visible_campaign(request, pk, "view_annotation")
    points = parse_pk(request.GET.get("points", "")) or DEFAULT_POINTS
    report = estimate_quality(campaign, width=min(points, 100) / 100)
    dots = [
        Dots(f"{rate.question} {rate.answer}", [rate.best, rate.best_any_time], rate.best.labels)
        for rate in report.rates
    ]
    series = ["Looked at once", "Looked at any time"]
    chart = make_dots("How good is the assistant?", "Answer", dots, series=series, unit="Labels")
    may_order = (
        request.user.has_perm("annotations_app.change_campaign")
        and campaign.order in (Campaign.Order.RANDOM, Campaign.Order.USEFUL)
        and bool(report.judges)
    )
    context = {
        "campaign": campaign,
        "report": report,
        "rates": [
            (rate, explain_rate(rate), say_plan(rate.plan) if rate.plan else "") for rate in report.rates
        ],
        "chart": chart,
        "may_order": may_order,
        "points": points,
    }
    if wants_fragment(request):
        return render_fragment(request, "_quality", context)
    context |= {"part": "annotations_app/_quality.html", "part_id": "assistant"}
    return render_campaign_page(request, campaign, "agreement", "Agreement", context)


@require_POST
def order_campaign(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask the most useful replies next."""
    campaign = visible_campaign(request, pk, "change_campaign")
    with show_refusal(request):
        left = order_replies(campaign, actor=request.user)
        replies = format_count(left, "reply", "replies")
        messages.success(request, f"{replies} left, the most useful first.")
    return redirect(campaign_url(campaign, "agreement"))
