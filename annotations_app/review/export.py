"""Writes what people judged into the review tasks that Alignmenter exported."""

from collections import defaultdict
from pathlib import Path
from typing import IO, Any, NamedTuple

from annotations_app.domain.review import OUTCOME, RATIONALE, Opinion, fill_task, remember_annotation, settle
from annotations_app.labels.gated_export import export_through_gates
from annotations_app.models import Judgment, Rater
from annotations_app.review.tasks_file import read_tasks
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.records import LabelRecord
from datasets_app.domain.labels.schema import decode_answers
from datasets_app.domain.quality.text_tally import TextTally
from datasets_app.domain.traces.formats.review_tasks import TAG_PREFIX, find_key
from datasets_app.models import Dataset


class ExportedReview(NamedTuple):
    """``tasks`` of the file, those of them with a judgment, and the annotations written; ``repeated`` are
    lines with a task that the file had before."""

    tasks: int
    judged: int
    annotations: int
    adjudications: int
    repeated: int


def export_review(
    tasks: Path,
    dataset: Dataset,
    *,
    out: IO[bytes],
    previous: Path | None = None,
    override: str = "",
    actor: Any = None,
) -> ExportedReview:
    """Write each task of ``tasks`` once for each judgment of its reply, blank if it has none.

    ``previous`` is a file of before that was imported since: annotations that have changed supersede those in
    it. Raises UserError.
    """
    known = _read_previous(previous)

    def write(lines: IO[bytes], tally: TextTally) -> ExportedReview:
        opinions = read_opinions(dataset, tally)
        counts = [0, 0, 0, 0]
        seen: set[str] = set()
        repeated = 0
        for line, task in read_tasks(tasks):
            found = settle(opinions.get(task["review_key"], []))
            if task["review_key"] in seen:
                repeated += 1
                if not found:  # another's annotation
                    lines.write(line.encode())
                continue
            seen.add(task["review_key"])
            for filled in fill_task(task, found, known) if found else [line]:
                lines.write(filled.encode())
            adjudicated = sum(one.adjudicated for one in found)
            for place, more in enumerate((1, bool(found), len(found), adjudicated)):
                counts[place] += more
        return ExportedReview(*counts, repeated)

    def finish(exported: ExportedReview) -> None:
        if not exported.annotations:
            raise UserError(f"No reply of {dataset.name} that these tasks ask about has been judged.")
        audit.record(
            "export_annotations",
            actor=actor,
            dataset_name=dataset.name,
            review_tasks=exported.tasks,
            labels=exported.annotations,
        )

    return export_through_gates(dataset, out, write, finish, override=override, actor=actor)


def read_opinions(dataset: Dataset, tally: TextTally) -> dict[str, list[Opinion]]:
    """By the key of the task, in the order in which they were given."""
    rows = (
        Judgment.objects.filter(dataset=dataset, kind__in=(Judgment.Kind.LABEL, Judgment.Kind.ADJUDICATED))
        .filter(campaign__tag__startswith=TAG_PREFIX)
        .select_related("schema", "rater", "campaign", "turn")
        .order_by("pk")
    )
    opinions: defaultdict[str, list[Opinion]] = defaultdict(list)
    for judgment in rows:
        assert judgment.campaign is not None  # filtered by it  # nosec B101
        criterion = judgment.campaign.tag.removeprefix(TAG_PREFIX)
        key = find_key(judgment.turn.metadata, criterion)
        said = decode_answers(judgment.schema.content, judgment.answers)
        if not key or OUTCOME not in said or RATIONALE not in said:
            continue
        tally.add_label(_as_record(judgment, str(said[RATIONALE])))
        opinions[key].append(
            Opinion(
                f"{judgment.pk}",
                judgment.rater.name or "unnamed",
                str(said[OUTCOME]),
                str(said[RATIONALE]),
                adjudicated=judgment.kind == Judgment.Kind.ADJUDICATED,
                is_model=judgment.rater.kind == Rater.Kind.MODEL,
            )
        )
    return opinions


def _as_record(judgment: Judgment, rationale: str) -> LabelRecord:
    return LabelRecord("", 0, judgment.persona_id, None, None, judgment.rater.name, rationale)


def _read_previous(path: Path | None) -> dict[tuple[str, str, str], str]:
    if path is None:
        return {}
    found = (remember_annotation(task) for _, task in read_tasks(path))
    return dict(one for one in found if one is not None)
