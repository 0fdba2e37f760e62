"""How far the labels of a dataset or a campaign can be trusted."""

from collections.abc import Iterable

from django.db.models import Count

from annotations_app.domain.agreement import RESAMPLES, SEED, agreement
from annotations_app.domain.agreement_report import AgreementReport
from annotations_app.models import Annotation, Campaign
from annotations_app.storage.label_counts import Scope, read_labels
from datasets_app.models import Dataset
from datasets_app.operations.refused import Refused

BY = ("annotator", "persona", "tag", "split", "month")
GOLD_ITEMS = "gold items of the campaign"
ADJUDICATED = "adjudicated labels"


def measure_agreement(
    *,
    dataset: Dataset | None = None,
    campaign: Campaign | None = None,
    persona_id: str | None = None,
    by: Iterable[str] = (),
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> AgreementReport:
    """Measure the labels of ``campaign``, or all of ``dataset``; of one persona, or of each.

    Without ``persona_id`` a dataset's labels for several personas are measured together, a reply judged for
    two of them as two. What has no labels gives a report that says so. Raises Refused for what can't be
    asked.
    """
    by = tuple(dict.fromkeys(by))
    _check(by, resamples)
    if campaign is not None:
        scopes = [Scope(campaign.dataset_id, campaign.persona.persona_id, campaign.pk)]
        basis = GOLD_ITEMS if campaign.items.filter(gold=True).exists() else ADJUDICATED
    else:
        assert dataset is not None
        personas = [persona_id] if persona_id else personas_of(dataset)
        scopes = [Scope(dataset.pk, persona) for persona in personas]
        basis = ADJUDICATED
    table = read_labels(scopes, by)
    return agreement(table, by=by, resamples=resamples, seed=seed, gold_basis=basis)


def personas_of(dataset: Dataset) -> list[str]:
    """The personas that a dataset's replies were judged for, by name."""
    rows = Annotation.objects.filter(dataset=dataset).order_by("persona_id").values("persona_id")
    return [row["persona_id"] for row in rows.annotate(labels=Count("pk"))]


def _check(by: Iterable[str], resamples: int) -> None:
    for kind in by:
        if kind not in BY:
            raise Refused(f"Labels can't be divided by {kind!r}; it must be of {', '.join(BY)}.")
    if not 0 <= resamples <= 100_000:
        raise Refused("The number of resamples must be from 0 to 100,000.")
