"""Imports the labels of an annotation file into a dataset, all or none."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from django.db import transaction

from annotations_app.labels.answer_files import AnswerFile, open_answer_file
from annotations_app.labels.known_schemas import KnownSchemas
from annotations_app.labels.label_staging import (
    ContradictoryLabels,
    InvalidLabels,
    LabelOutcome,
    SavedLabels,
    StagedLabels,
    stage_labels,
)
from annotations_app.labels.label_writing import list_label_texts
from annotations_app.labels.tool_labels import ToolLabels, open_tool_labels
from annotations_app.models import Annotation
from datasets_app.catalog import facts, gates
from datasets_app.catalog.rows.turn_reader import Selection, read_turns
from datasets_app.catalog.text_scans import record_written
from datasets_app.catalog.tombstones import ErasedSessions, list_problems
from datasets_app.catalog.written_text import WrittenText
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.limits import configured_limits
from datasets_app.core.line_problems import LineProblems
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.annotation_lines import parse_label_object
from datasets_app.domain.conversations.jsonl import InvalidRecord, decode_object, find_session_id
from datasets_app.domain.conversations.lines import UnreadableFile, read_lines
from datasets_app.domain.conversations.reading import data_stem, hash_file
from datasets_app.domain.conversations.records import LabelRecord, LineError
from datasets_app.domain.traces.label_rules import LabelRules, map_labels, read_value
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset

MAX_ANNOTATOR_LENGTH = 200
EMPTY_MESSAGE = "is empty; expected one label per line."


class LabelImport(NamedTuple):
    """The result of an import, and its dataset. Of a file of another tool: what became of each of its
    ``questions``, how many labels are ``unmapped``, which are not imported, and what was ``left_out``.
    ``personal_data`` are values by class in notes and other fields, if the dataset was scrubbed."""

    dataset: Dataset
    created: bool
    saved: SavedLabels
    questions: list[tuple[str, str]] = []
    unmapped: int = 0
    left_out: Sequence[str] = ()
    personal_data: Mapping[str, int] = {}

    def facts(self) -> dict[str, int]:
        """For the row of a job."""
        return self.saved._asdict()

    @property
    def warnings(self) -> list[str]:
        left_out = [f"Left out: {described}." for described in self.left_out]
        return [*left_out, *list_warnings(self.saved, self.personal_data)]


def import_annotations(
    path: Path,
    *,
    dataset_name: str | None = None,
    file_name: str = "",
    persona: str | None = None,
    create: bool = False,
    adjudicated: bool = False,
    format: str = "auto",
    rules: LabelRules = LabelRules(),  # noqa: B008
    schema: str | None = None,
    actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> LabelImport:
    """Save the labels of an annotation file, or of another tool's, each with its turn; see label_staging for
    the joining.

    ``persona`` stands in for lines without a persona_id; a line that names another is an error.
    ``adjudicated``: the labels are adjudicated, saved in addition to those of annotators. ``schema`` is the
    one ("name@version") whose criteria the questions of a tool or the columns of a table are, if they name
    none.
    Raises UserError; if lines are wrong, with ``details`` {"problems": the first hundred, "problem_total"}.
    """
    name = dataset_name or data_stem(file_name or path.name)
    file_name = file_name or path.name
    problems = LineProblems("nothing was saved")
    schemas = KnownSchemas()
    parse = partial(parse_import_label, persona=persona, schemas=schemas)
    other: AnswerFile | ToolLabels | None = open_answer_file(path, format, file_name, schemas, schema, parse)
    other = other or open_tool_labels(path, format=format, name=file_name, rules=rules, persona=persona)
    lines = other.records() if other else _read_label_lines(path, persona, rules, schemas, report_progress)
    with transaction.atomic():
        dataset, created = lock_dataset(name, create=create, actor=actor)
        # Both before COPY keeps the connection busy.
        erased, written = ErasedSessions(dataset.name), WrittenText(dataset)
        lines = _watch(written, schemas, lines)
        kind = Annotation.Kind.ADJUDICATED if adjudicated else Annotation.Kind.LABEL
        match_texts = other is not None and not other.has_places
        with stage_labels(dataset, schemas, kind, match_texts=match_texts) as staged:
            count = _stage(staged, problems, file_name, _refuse_erased(erased, lines))
            if not count:
                said = other.no_labels_message if isinstance(other, AnswerFile) else EMPTY_MESSAGE
                raise UserError(f"{file_name} {said}")
            saved = _save_labels(staged, file_name, other.find_record if other else int)
        _refuse_erased_texts(erased, dataset, saved)
        _record_import(dataset, saved, written, actor, labels=count, kind=kind, sha256=hash_file(path))
    dataset.refresh_from_db()
    left = (other.questions, other.unmapped, other.left_out) if other else ([], 0, ())
    return LabelImport(dataset, created, saved, *left, dict(written.found))


def _stage(
    staged: StagedLabels, problems: LineProblems, file_name: str, lines: Iterable[LabelRecord | LineError]
) -> int:
    """The number of labels. Raises UserError for lines that are none."""
    try:
        count = staged.stage(problems.skip(file_name, lines))
    except UnreadableFile as error:
        raise UserError(f"{file_name} {error}") from None
    problems.raise_if_any(file_name)
    return count


def _watch(
    written: WrittenText, schemas: KnownSchemas, lines: Iterable[LabelRecord | LineError]
) -> Iterator[LabelRecord | LineError]:
    """The same lines; counts what a scrub would replace in the labels."""

    def list_texts(line: LabelRecord | LineError) -> dict[str, Any]:
        if isinstance(line, LineError):
            return {}
        typed = schemas.encode(line.answer).value if line.answer else None
        return list_label_texts(line, schemas.personas) | ({"answer": typed} if type(typed) is str else {})

    return written.watch(lines, list_texts)


def _record_import(
    dataset: Dataset, saved: SavedLabels, written: WrittenText, actor: Any, **details: Any
) -> None:
    if not saved.added:
        written.found.clear()
    record_written(dataset, written.found)
    found = {"personal_data": dict(written.found)} if written.found else {}
    audit.record(
        "import_annotations", actor=actor, dataset_name=dataset.name, **details, **saved._asdict(), **found
    )


def list_warnings(saved: SavedLabels, personal_data: Mapping[str, int]) -> list[str]:
    """What to do about values by class in imported labels, and about labels that may be of other turns."""
    warnings = []
    if personal_data:
        counts = ", ".join(f"{kind}: {count:,}" for kind, count in sorted(personal_data.items()))
        warnings.append(
            f"Notes and other fields of these labels look like personal data ({counts}). Scrub the dataset "
            "again before anything of it is shared."
        )
    if saved.text_differs:
        warnings.append(
            f"session_id and turn_index join {format_count(saved.text_differs, 'label')} to turns with "
            "another text. Were they made for another version of this dataset?"
        )
    if saved.of_users:
        labels = format_count(saved.of_users, "label is", "labels are")
        warnings.append(
            f"{labels} of users’ turns, not of replies. Are the turn numbers those of the dataset?"
        )
    return warnings


def _save_labels(
    staged: StagedLabels, file_name: str, find_record: Callable[[int], int] = int
) -> SavedLabels:
    """``find_record`` returns what people count in the file, of the line of a label."""
    try:
        return staged.save()
    except InvalidLabels as error:
        unsaved = LineProblems("nothing was saved")
        for line in error.errors:
            unsaved.add(file_name, line._replace(line=find_record(line.line)))
        unsaved.raise_if_any(file_name)
        raise
    except ContradictoryLabels as error:
        message = "says otherwise than an earlier line of the same turn and persona; settle which is right"
        problems = [
            {"file": file_name, **LineError(find_record(line), "E102", message, field="label")._asdict()}
            for line in error.lines
        ]
        raise UserError(
            f"{file_name}: adjudicated labels contradict each other; nothing was saved.",
            {"problems": problems, "problem_total": error.total},
        ) from None


def import_label_rows(
    labels: Mapping[str, Sequence[LabelRecord]], schemas: KnownSchemas, *, actor: Any
) -> tuple[dict[str, list[LabelOutcome]], list[str]]:
    """Save labels read from a table, by dataset name; all or none.

    Returns the outcome of each, by ``line``, and warnings. Raises UserError.
    """
    outcomes: dict[str, list[LabelOutcome]] = {}
    warnings: list[str] = []
    with transaction.atomic():
        for name in sorted(labels):
            dataset, _ = lock_dataset(name)
            problems, erased = LineProblems("nothing was saved"), ErasedSessions(name)
            written = WrittenText(dataset)
            lines = _watch(written, schemas, labels[name])
            with stage_labels(dataset, schemas) as staged:
                count = staged.stage(problems.skip(name, _refuse_erased(erased, lines)))
                problems.raise_if_any(name)
                saved = _save_labels(staged, name)
                outcomes[name] = staged.outcomes()
            _refuse_erased_texts(erased, dataset, saved)
            _record_import(dataset, saved, written, actor, labels=count)
            warnings += list_warnings(saved, written.found)
    return outcomes, warnings


def _refuse_erased(
    erased: ErasedSessions, labels: Iterable[LabelRecord | LineError]
) -> Iterator[LabelRecord | LineError]:
    """Errors for labels of erased sessions: saved, they would bring the text back."""
    for label in labels:
        session_id = label.session_id
        if isinstance(label, LineError) or session_id is None or not erased.check_id(session_id):
            yield label
        else:
            finding = erased.make_finding(session_id)
            yield LineError(label.line, finding.code, finding.message, session_id)


def _refuse_erased_texts(erased: ErasedSessions, dataset: Dataset, saved: SavedLabels) -> None:
    """The same for labels without a session id, which have become sessions of their own."""
    if not (erased and saved.sessions_added):
        return
    added = dataset.sessions.order_by("-pk").values_list("session_id", flat=True)[: saved.sessions_added]
    for _ in erased.watch(read_turns(dataset, Selection(sessions=list(added)))):
        pass
    if erased.found:
        details = list_problems(map(erased.make_finding, sorted(erased.found)))
        raise UserError(
            "Nothing was saved: the texts of labels were erased and must not come back. Leave them out.",
            details,
        )


def lock_dataset(name: str, *, create: bool = False, actor: Any = None) -> tuple[Dataset, bool]:
    """Lock the dataset until the transaction ends, so that two imports don't add the same labels.

    Returns it, and whether it was created. Raises UserError.
    """
    created = create and not Dataset.objects.filter(name=name).exists()
    if created:
        facts.check_dataset_name(name)
        return facts.lock_or_create_dataset(name, origin=None, actor=actor)
    dataset = facts.lock_dataset(facts.get_dataset(name).pk)
    if dataset.status == Dataset.Status.EXPIRED:
        raise UserError(f"The dataset {name} has expired; labels can't be added to it any more.")
    gates.check_can_copy(dataset)
    return dataset, False


def _read_label_lines(
    path: Path,
    persona: str | None,
    rules: LabelRules,
    schemas: KnownSchemas,
    report_progress: ProgressCallback,
) -> Iterator[LabelRecord | LineError]:
    size = path.stat().st_size if path.exists() else 0
    for item in read_lines(path, configured_limits(), lambda done: report_progress(done, size)):
        if isinstance(item, LineError):
            yield item
            continue
        line, raw = item
        try:
            yield parse_import_label(_map_value(decode_object(raw), rules), line, persona, schemas)
        except InvalidRecord as error:
            yield error.to_line_error(line, find_session_id(raw))
    report_progress(size, size)


def _map_value(value: dict[str, Any], rules: LabelRules) -> dict[str, Any]:
    if rules.values and (text := read_value({"value": value.get("label")})) is not None:
        value["label"] = map_labels([("label", text)], rules).get(("label", text), value["label"])
    return value


def parse_import_label(
    value: dict[str, Any], line: int, persona: str | None, schemas: KnownSchemas
) -> LabelRecord:
    """A parsed object → LabelRecord; consumes ``value``. Raises InvalidRecord."""
    if persona is not None and value.get("persona_id") is None:
        value["persona_id"] = persona
    label = parse_label_object(value, line)
    if persona is not None and label.persona_id != persona:
        raise InvalidRecord(
            "E102", "persona_id is another than the one given for the whole file", "persona_id"
        )
    if label.annotator is not None and len(label.annotator) > MAX_ANNOTATOR_LENGTH:
        raise InvalidRecord(
            "E102", f"annotator is longer than {MAX_ANNOTATOR_LENGTH} characters", "annotator"
        )
    schemas.check(label)
    return label
