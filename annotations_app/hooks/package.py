"""What the package of a dataset tells of its labels."""

from typing import Any

from annotations_app.agreement.figures import by_persona
from annotations_app.agreement.measure import measure_agreement
from datasets_app.domain.packages.package import LabelFacts

_TOLD = (
    ("raw_agreement", "Raw agreement"),
    ("krippendorff_alpha", "Krippendorff’s alpha"),
    ("gwet_ac1", "Gwet’s AC1"),
)


def label_facts(dataset: Any) -> LabelFacts | None:
    """Labels that count, by persona, and how far annotators agree; None if there is no label."""
    personas = by_persona(dataset.pk)
    if not personas:
        return None
    measured = measure_agreement(dataset=dataset, consensus=False).headline
    return LabelFacts(
        labels=sum(row.labels for row in personas),
        annotators=measured.annotators,
        by_persona=[(row.persona_id, row.labels - row.on_brand, row.on_brand) for row in personas],
        agreement=[
            (name, statistic.value, statistic.low, statistic.high, statistic.note)
            for field, name in _TOLD
            for statistic in [getattr(measured, field)]
        ],
    )
