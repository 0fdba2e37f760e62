"""The label figures in the package of a dataset."""

from typing import Any

from annotations_app.agreement.figures import persona_label_stats
from datasets_app.domain.packages.package import LabelSummary

_COEFFICIENTS = (
    ("raw_agreement", "Raw agreement"),
    ("krippendorff_alpha", "Krippendorff’s alpha"),
    ("gwet_ac1", "Gwet’s AC1"),
)


def build_label_facts(dataset: Any) -> LabelSummary | None:
    """Counted labels by persona, and inter-annotator agreement; None without labels."""
    from annotations_app.agreement.measure import measure_agreement  # loads numpy: not at every start

    personas = persona_label_stats(dataset.pk)
    if not personas:
        return None
    measured = measure_agreement(dataset=dataset, consensus=False).headline
    return LabelSummary(
        labels=sum(row.labels for row in personas),
        annotators=measured.annotators,
        by_persona=[(row.persona_id, row.labels - row.on_brand, row.on_brand) for row in personas],
        agreement=[
            (name, statistic.value, statistic.low, statistic.high, statistic.note)
            for field, name in _COEFFICIENTS
            for statistic in [getattr(measured, field)]
        ],
    )
