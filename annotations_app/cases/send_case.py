"""Scrubs a dataset of cases, and gives a new case to people to judge by its rubric."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from annotations_app.campaigns.create import create_campaign
from annotations_app.cases.make_case import check_holds_cases
from annotations_app.criteria.rubrics import ask_rubrics, write_guidelines
from annotations_app.models import Campaign
from datasets_app.catalog.scrubbers import make_default_policy
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.conversations.cases import read_rubrics
from datasets_app.domain.generation.families import CASE_TAG, GROUP_TAG
from datasets_app.models import Dataset, JobRun, Persona, Turn
from datasets_app.scrubbing.scrub_dataset import scrub_dataset

OVERLAP = 2


class SentCase(NamedTuple):
    """``alike`` counts variants that the scrub made equal to another one, such as by replacing the number in
    which they differed: people and Alignmenter see the same question then."""

    campaign: Campaign | None
    alike: int


def send_case(
    dataset: Dataset,
    family: str,
    annotators: Sequence[str],
    *,
    actor: Any = None,
    job_run: JobRun | None = None,
    report_progress: ProgressCallback = ignore_progress,
) -> SentCase:
    """Scrub what is new, then open a campaign for the family unless there are no annotators. Don't call it in
    a transaction: a scrub commits as it goes. Raises UserError."""
    check_holds_cases(dataset)
    scrub_dataset(
        dataset, make_default_policy(dataset), actor=actor, job_run=job_run, report_progress=report_progress
    )
    sent = _open_campaign(dataset, family, annotators, actor) if annotators else None
    return SentCase(sent, _count_alike(dataset, family))


def _count_alike(dataset: Dataset, family: str) -> int:
    asked = Turn.objects.filter(dataset=dataset, tags__contains=[f"{GROUP_TAG}{family}"], role="user")
    asked = asked.filter(session__excluded=False)
    last: dict[int, str] = dict(asked.order_by("turn_index").values_list("session_id", "text"))
    return len(last) - len(set(last.values()))


def _open_campaign(dataset: Dataset, family: str, annotators: Sequence[str], actor: Any) -> Campaign:
    # The same conversation may be a case of another dataset.
    own_name = f"{family}.{dataset.pk}"
    if campaign := Campaign.objects.filter(dataset=dataset, name__in=[family, own_name]).first():
        return campaign  # by an attempt of the job that ended after it
    is_taken = Campaign.objects.filter(name=family).exists()
    group = f"{GROUP_TAG}{family}"
    turns = list(Turn.objects.filter(dataset=dataset, tags__contains=[group]).select_related("session")[:200])
    persona = Persona.objects.filter(persona_id__in={turn.session.persona_id for turn in turns}).first()
    if persona is None:
        raise UserError(f"{family} can't be sent to people: its persona isn't in the list of personas.")
    listed = (read_rubrics((turn.metadata or {}).get("rubrics")) for turn in turns)
    rubrics = next(filter(None, listed), ())
    campaign = Campaign(
        name=own_name if is_taken else family,
        dataset=Dataset.objects.get(pk=dataset.pk),
        persona=persona,
        schema=ask_rubrics(len(rubrics), actor=actor) if rubrics else None,
        guidelines=write_guidelines(rubrics) if rubrics else "",
        overlap=min(OVERLAP, len(annotators)),
        tag=f"{CASE_TAG}{family}",
    )
    return create_campaign(campaign, annotators, actor=actor)
