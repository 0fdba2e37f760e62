"""The labels of a dataset by persona, and its campaigns: on its overview and on its own page."""

from typing import Any

from annotations_app.agreement.figures import persona_label_stats
from annotations_app.models import Campaign
from datasets_app.catalog import raw_access

MAX_CAMPAIGNS = 5


def annotations_panel(dataset: Any, user: Any) -> dict[str, Any] | None:
    """Label counts by persona, and the campaigns; None for users who may not see labels."""
    # Commands start faster without the modules of pages.
    from annotations_app.agreement.scope_pages import AgreementScope
    from datasets_app.core.web.pages import persona_urls

    if not user.has_perm("annotations_app.view_annotation"):
        return None
    rows = persona_label_stats(dataset.pk)
    readable = set(raw_access.filter_personas(user, dataset, [row.persona_id for row in rows]))
    personas = [row for row in rows if row.persona_id in readable]
    pages = persona_urls([row.persona_id for row in personas], user)
    return {
        "title": "Labels",
        "template": "annotations_app/dataset_panel.html",
        "context": {
            "dataset": dataset,
            "withheld_personas": len(rows) - len(personas),
            "personas": [
                {
                    **row._asdict(),
                    "address": pages.get(row.persona_id),
                    "agreement_url": AgreementScope(dataset, row.persona_id).url("agreement"),
                }
                for row in personas
            ],
            **_campaigns_context(dataset, user),
        },
    }


def _campaigns_context(dataset: Any, user: Any) -> dict[str, Any]:
    if not user.has_perm("annotations_app.view_campaign"):
        return {"campaigns": None}
    from annotations_app.campaigns.pages_common import with_label_counts

    found = with_label_counts(Campaign.objects.filter(dataset=dataset)).select_related("persona")
    campaigns = list(found[: MAX_CAMPAIGNS + 1])
    return {
        "campaigns": [(one, one.count_places(one.people)) for one in campaigns[:MAX_CAMPAIGNS]],
        "more_campaigns": len(campaigns) > MAX_CAMPAIGNS,
        "may_add_campaign": user.has_perm("annotations_app.add_campaign") and dataset.turn_count > 0,
    }
