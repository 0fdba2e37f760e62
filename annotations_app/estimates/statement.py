"""What a dataset's releases and packages state of its judges and rates."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Exists, OuterRef

from annotations_app.estimates.measure import estimate_quality
from annotations_app.judges.certify import state_certificate
from annotations_app.models import Campaign, CampaignMember, JudgeCertificate
from datasets_app.domain.packages.quality_statement import QualityStatement, StatedEstimate

# The latest of each; others are counted.
MAX_CERTIFICATES, MAX_CAMPAIGNS = 50, 20


def build_quality_statement(dataset: Any) -> QualityStatement:
    """Its certificates with whether they still hold, and the rates of its campaigns that have labels."""
    certificates = (
        JudgeCertificate.objects.filter(campaign__dataset=dataset)
        .select_related("judge", "campaign__persona", "campaign__schema")
        .order_by("-pk")
    )
    labels = CampaignMember.objects.filter(campaign=OuterRef("pk"), labelled__gt=0)
    labeled = (
        Campaign.objects.filter(Exists(labels), dataset=dataset)
        .select_related("persona", "schema")
        .order_by("-pk")
    )
    left_out = sum(
        max(0, rows.count() - most)
        for rows, most in ((certificates, MAX_CERTIFICATES), (labeled, MAX_CAMPAIGNS))
    )
    return QualityStatement(
        tuple(state_certificate(one) for one in certificates[:MAX_CERTIFICATES]),
        tuple(rate for campaign in labeled[:MAX_CAMPAIGNS] for rate in _state_rates(campaign)),
        left_out,
    )


def _state_rates(campaign: Campaign) -> Iterator[StatedEstimate]:
    report = estimate_quality(campaign)
    for rate in report.rates:
        best = rate.best
        if not best.labels:
            continue
        # Only judges that had a part in the figure.
        judges = report.judges if rate.judges is not None and best.weight else ()
        yield StatedEstimate(
            campaign.name,
            rate.criterion,
            rate.answer,
            best.value,
            best.low,
            best.high,
            best.labels,
            report.replies,
            judges,
            best.note,
        )
