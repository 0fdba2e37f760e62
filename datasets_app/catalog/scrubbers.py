"""Creates scrubbers with the installation's key and personas, and with what was decided for a dataset."""

from collections.abc import Iterable
from pathlib import Path

from django.conf import settings
from django.db.models import F

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.catalog.personas import list_persona_terms
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.detector import KINDS, OPTIONAL_KINDS, PRECISION, RECALL
from datasets_app.domain.pii.names.model_error import NameModelError
from datasets_app.domain.pii.policy import MissedMark, Policy, PolicyError
from datasets_app.domain.pii.recognizer_files import add_recognizers, read_recognizers
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.models import Dataset, ScrubMark, ScrubRun


def make_default_policy(dataset: Dataset) -> Policy:
    """What a scrub does unless somebody chooses, the same by page, command and API: numbers of orders and ids
    of sessions lead to people where customers wrote, and nobody elsewhere; names that nobody bears are worth
    less than the words that would be taken for some."""
    is_production = dataset.origin == Dataset.Origin.PRODUCTION
    is_synthetic = dataset.origin == Dataset.Origin.SYNTHETIC
    return Policy(
        kinds=(*KINDS, *OPTIONAL_KINDS) if is_production else KINDS,
        hash_session_ids=is_production,
        prefer=PRECISION if is_synthetic else RECALL,
    )


def list_installed_labels() -> tuple[str, ...]:
    """What the installation's recognizers find; nothing if their file can't be used, as a scrub will say."""
    try:
        return add_recognizer_files(Policy()).custom_labels
    except PolicyError:
        return ()


def add_recognizer_files(policy: Policy, paths: Iterable[Path] = ()) -> Policy:
    """The policy with the recognizers of the installation (ALIGNMENTER_RECOGNIZERS) and of these files.

    Raises :class:`PolicyError` for a file that can't be used. Files are read each time, so that a change
    counts from the next scrub on.
    """
    installed = [Path(settings.RECOGNIZERS_FILE)] if settings.RECOGNIZERS_FILE else []
    for path in (*installed, *paths):
        policy = add_recognizers(policy, read_recognizers(path), hash_key())
    return policy


def make_scrubber(policy: Policy, dataset: Dataset) -> Scrubber:
    """For a dataset. Raises UserError if this installation can't apply the policy."""
    marks = ScrubMark.objects.filter(pk__in=policy.exempt_marks).exclude(kind="")
    try:
        return Scrubber(
            policy.with_exempt_terms(marks.values_list("term", flat=True)),
            key=hash_key(),
            persona_terms=list_persona_terms(dataset),
        )
    except (PolicyError, NameModelError) as error:
        raise UserError(str(error)) from None


def apply_marks(dataset: Dataset, policy: Policy) -> Policy:
    """The policy, and what people have marked in this dataset, or in all."""
    marks = list(ScrubMark.objects.applied_to(dataset))
    not_personal = [mark for mark in marks if mark.verdict == ScrubMark.Verdict.NOT_PERSONAL]
    return policy.with_marks(
        (mark.term for mark in not_personal if not mark.kind),
        (mark.pk for mark in not_personal if mark.kind),
        (
            MissedMark(mark.kind, mark.digest, mark.words or 1, mark.length or 0)
            for mark in marks
            if mark.verdict == ScrubMark.Verdict.MISSED
        ),
    )


def find_last_policy(dataset: Dataset) -> Policy:
    """What people chose for the last verified scrub; without one for the last scrub or else preview, without
    those the installation's own. Raises UserError."""
    return _read_chosen_policy(_find_last_run(dataset))


def load_current_policy(dataset: Dataset) -> Policy:
    """The same with what people have marked by now: what a scrub of the dataset would do to its text as it
    is. Raises UserError."""
    return apply_marks(dataset, find_last_policy(dataset))


def find_preference(dataset: Dataset) -> str:
    """Recall or precision, as the last scrub preferred or else the next would."""
    run = _find_last_run(dataset)
    return str(run.policy.get("prefer", RECALL)) if run else make_default_policy(dataset).prefer


def is_verified(dataset: Dataset) -> bool:
    """Whether a scrub was verified, so that what is written later has to be looked at."""
    return ScrubRun.objects.filter(dataset=dataset).exclude(verified_at=None).exists()


def _find_last_run(dataset: Dataset) -> ScrubRun | None:
    runs = ScrubRun.objects.filter(dataset=dataset).select_related("job_run")
    return runs.order_by(F("verified_at").desc(nulls_last=True), "dry_run", "-pk").first()


def _read_chosen_policy(run: ScrubRun | None) -> Policy:
    try:
        if run is None:
            return add_recognizer_files(Policy(name_models=tuple(settings.NAME_MODELS)))
        # The job has the choice without the corrections of then.
        return Policy.from_json((run.job_run and run.job_run.parameters.get("policy")) or run.policy)
    except (PolicyError, TypeError, ValueError) as error:
        reason = str(error) if isinstance(error, PolicyError) else "its settings can't be read"
        raise UserError(f"The last scrub can't be repeated: {reason}. Start a new one.") from None
