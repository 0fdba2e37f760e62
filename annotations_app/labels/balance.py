"""How many labels a calibration would get from an export, and of which kind."""

from typing import Any

import numpy as np
from django.db.models import Q

from annotations_app.domain.agreement.consensus import TIE, majority_labels
from annotations_app.labels.label_counts import LabelScope, read_labels
from annotations_app.models import Annotation
from datasets_app.catalog import policies
from datasets_app.domain.charts import Bars, make_chart
from datasets_app.domain.labels.on_brand import NO_NAME, YES, YES_NAME


def count_exported(scope: LabelScope) -> dict[str, Any]:
    """What an export by majority has: "labels" (one a reply), the "share" of on-brand ones, None if there are
    none, and a "chart" of both. Ties, excluded sessions and the locked test split are left out.
    """
    table = read_labels([scope])
    decided = majority_labels(table.counts())
    kept = (decided != TIE) & ~np.isin(table.turn, list(_list_withheld(scope)))
    labels, on_brand = int(kept.sum()), int((decided[kept] == YES).sum())
    bars = [Bars(YES_NAME, [on_brand]), Bars(NO_NAME, [labels - on_brand])]
    return {
        "labels": labels,
        "share": on_brand / labels if labels else None,
        "chart": make_chart("Label balance", "Label", bars, series=["Replies"]),
    }


def _list_withheld(scope: LabelScope) -> set[int]:
    """The labeled turns that no export has."""
    rows = Annotation.objects.filter(
        Q(turn__session__excluded=True) | Q(turn__session__split=policies.LOCKED_SPLIT),
        dataset=scope.dataset,
        persona_id=scope.persona_id,
    )
    return set(rows.values_list("turn_id", flat=True))
