"""How far the labels of a dataset or a campaign can be trusted."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from annotations_app.domain.agreement.agreement import DEFAULT_RESAMPLES, DEFAULT_SEED, build_agreement_report
from annotations_app.domain.agreement.agreement_report import AgreementReport
from annotations_app.domain.label_files import LabelCollector, read_label_file
from annotations_app.labels.label_counts import LabelScope, list_personas, read_labels
from annotations_app.labels.random_sample import choose_labels
from annotations_app.models import Campaign, Judgment
from datasets_app.core.errors import UserError
from datasets_app.core.line_problems import LineProblems
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.conversations.lines import DEFAULT_LIMITS, Limits, UnreadableFile
from datasets_app.domain.conversations.records import LabelRecord, LineError
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset

MIN_WIDTH, MAX_WIDTH = 0.01, 1.0
PART_KINDS = ("annotator", "persona", "tag", "split", "month")
GOLD_BASIS_ITEMS = "gold items of the campaign"
GOLD_BASIS_ADJUDICATED = "adjudicated labels"


def measure_agreement(
    *,
    dataset: Dataset | None = None,
    campaign: Campaign | None = None,
    persona_id: str | None = None,
    version: int = 0,
    by: Iterable[str] = (),
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    consensus: bool = True,
    width: float | None = None,
) -> AgreementReport:
    """Measure the labels of ``campaign``, or all of ``dataset``; of one persona, or of each.

    Without ``persona_id`` a dataset's labels for several personas are measured together, a reply judged for
    two of them as two. What has no labels gives a report that says so. Raises UserError for what can't be
    asked. With a ``version`` of a campaign (see ``labels/versions.py``), only labels made under it count.
    ``width`` (0.01 to 1) asks how many more labels bring alpha's interval to it.
    """
    by = _validate_options(by, resamples, width)
    available = None
    notes: list[str] = []
    if campaign is not None:
        only, notes = choose_labels(campaign, version)
        scopes = [LabelScope(campaign.dataset_id, campaign.persona.persona_id, campaign.pk, only)]
        available = campaign.item_count
        basis = GOLD_BASIS_ITEMS if campaign.items.filter(gold=True).exists() else GOLD_BASIS_ADJUDICATED
    else:
        assert dataset is not None
        personas = [persona_id] if persona_id else list_personas(dataset.pk)
        scopes = [LabelScope(dataset.pk, persona) for persona in personas]
        basis = GOLD_BASIS_ADJUDICATED
        notes = note_answers(dataset, persona_id)
    table = read_labels(scopes, by)
    report = build_agreement_report(
        table,
        by=by,
        resamples=resamples,
        seed=seed,
        gold_basis=basis,
        consensus=consensus,
        width=width,
        available=available,
    )
    return report._replace(notes=[*notes, *report.notes])


def note_answers(dataset: Dataset, persona_id: str | None = None) -> list[str]:
    """What isn't measured of a dataset."""
    answers = Judgment.objects.filter(dataset=dataset, kind=Judgment.Kind.LABEL)
    count = (answers.filter(persona_id=persona_id) if persona_id else answers).count()
    said = format_count(count, "label under a schema is", "labels under schemas are")
    return [f"{said} not counted here: agreement on them is measured by campaign"] if count else []


def measure_files(
    paths: Sequence[Path],
    *,
    names: Sequence[str] = (),
    persona_id: str | None = None,
    by: Iterable[str] = (),
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    width: float | None = None,
    limits: Limits = DEFAULT_LIMITS,
    report_progress: ProgressCallback = ignore_progress,
) -> AgreementReport:
    """Measure the labels of annotation files, taken together; no database is needed.

    ``names`` is what the files are called in messages. Raises UserError if a line is wrong, with the problems
    as an import tells them, or a file can't be read.
    """
    by = _validate_options(by, resamples, width)
    labels, problems = LabelCollector(by), LineProblems("nothing was measured")
    for path, name in zip(paths, names or map(str, paths), strict=True):
        for record in problems.skip(name, _read_labels(path, name, limits, report_progress)):
            if persona_id is None or record.persona_id == persona_id:
                labels.add(record)
    problems.raise_if_any()
    return build_agreement_report(labels.table(), by=by, resamples=resamples, seed=seed, width=width)


def validate_width(width: float | None) -> None:
    if width is not None and not MIN_WIDTH <= width <= MAX_WIDTH:
        raise UserError(f"The width of alpha's interval must be from {MIN_WIDTH} to {MAX_WIDTH:g}.")


def _read_labels(
    path: Path, name: str, limits: Limits, report_progress: ProgressCallback
) -> Iterator[LabelRecord | LineError]:
    size = path.stat().st_size if path.exists() else None
    try:
        yield from read_label_file(path, limits, lambda done: report_progress(done, size))
    except UnreadableFile as error:
        raise UserError(f"{name}: {error}.") from None


def _validate_options(by: Iterable[str], resamples: int, width: float | None) -> tuple[str, ...]:
    """The different kinds of parts."""
    validate_width(width)
    kinds = tuple(dict.fromkeys(by))
    for kind in kinds:
        if kind not in PART_KINDS:
            raise UserError(f"Labels can't be divided by {kind!r}; it must be of {', '.join(PART_KINDS)}.")
    if not 0 <= resamples <= 100_000:
        raise UserError("The number of resamples must be from 0 to 100,000.")
    return kinds
