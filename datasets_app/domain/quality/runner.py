"""One pass over a stream for all checks together."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import repeat
from typing import Any

from datasets_app.domain.conversations.records import Finding, LabelRecord, LineError, TurnRecord
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.pii.allow import NOTHING_EXEMPT, AllowList
from datasets_app.domain.quality.base import Check
from datasets_app.domain.quality.checks import LABEL_CHECKS, METADATA_CHECKS, TURN_CHECKS
from datasets_app.domain.quality.personal_data import (
    NameOptions,
    PersonalDataCheck,
    PersonalDataSearch,
    SearchBatches,
    SearchTask,
    search_ahead,
)
from datasets_app.domain.quality.personal_data_checks import PERSONAL_DATA_CHECKS
from datasets_app.domain.quality.w406_names import make_names_check

CheckTypes = Iterable[type[Check]]
Hook = Callable[..., Iterable[Finding] | None]


def run_checks(
    records: Iterable[TurnRecord | LineError],
    checks: CheckTypes = TURN_CHECKS,
    exempt: AllowList = NOTHING_EXEMPT,
    *,
    search_batches: SearchBatches | None = None,
) -> Iterator[Finding]:
    """Findings over a stream of turns, in the order of the stream. ``exempt`` values are not personal data.
    ``search_batches`` may search for personal data in other processes, each with :func:`make_batch_search`.

    Sessions must be in one piece and ``turn_index`` must not fall within one. Memory does not
    grow with the stream (but for 20 bytes for each assistant text, where W302 is among the checks).
    """
    instances, search = _instantiate_checks(checks, exempt)
    searched = _search_records(records, search, search_batches)
    on_turn, on_error = _collect_hooks(instances, "turn"), _collect_hooks(instances, "line_error")
    on_session_end = _collect_hooks(instances, "session_end")
    session: str | None = None
    for record, found in searched:
        if isinstance(record, LineError):
            yield make_line_error_finding(record)
            yield from _call_hooks(on_error, record)
            continue
        if record.session_id != session:
            if session is not None:
                yield from _call_hooks(on_session_end)
            session = record.session_id
        for hook in on_turn:
            if findings := hook(record):
                yield from findings
        yield from found
    if session is not None:
        yield from _call_hooks(on_session_end)
    yield from _call_hooks(_collect_hooks(instances, "end"))


def make_batch_search() -> Callable[[SearchTask], list[list[Finding]]]:
    """A search of batches for all personal data."""

    @cache
    def make_search(names: NameOptions | None, exempt: AllowList) -> PersonalDataSearch:
        checks = [check() for check in PERSONAL_DATA_CHECKS]
        if names is not None:
            checks.append(make_names_check(*names)())
        return PersonalDataSearch(checks, exempt)

    return lambda task: make_search(task.names, task.exempt).batch(task)


def _search_records(
    records: Iterable[Any], search: PersonalDataSearch | None, search_batches: SearchBatches | None = None
) -> Iterable[tuple[Any, list[Finding]]]:
    """The records, each with the personal data in it."""
    if search is None:
        return zip(records, repeat([]), strict=False)
    return search_ahead(records, search_batches or partial(map, search.batch), search)


def run_label_checks(
    records: Iterable[LabelRecord | LineError],
    checks: CheckTypes = LABEL_CHECKS,
    exempt: AllowList = NOTHING_EXEMPT,
) -> Iterator[Finding]:
    """As :func:`run_checks`, for the labels of an annotation file in any order."""
    instances, search = _instantiate_checks(checks, exempt)
    on_label = _collect_hooks(instances, "label")
    for record, found in _search_records(records, search):
        if isinstance(record, LineError):
            yield make_line_error_finding(record)
        else:
            yield from _call_hooks(on_label, record)
        yield from found
    yield from _call_hooks(_collect_hooks(instances, "end"))


def run_metadata_checks(metadata: DatasetMetadata | None, reason: str = "") -> Iterator[Finding]:
    """Findings about a file or dataset as a whole; ``reason`` explains a missing ``metadata``."""
    hooks = _collect_hooks(_instantiate_checks(METADATA_CHECKS)[0], "metadata")
    yield from _call_hooks(hooks, metadata, f" ({reason})" if reason else "")


def make_line_error_finding(error: LineError) -> Finding:
    return Finding(error.code, error.message, error.line, error.session_id, None, error.field)


def _instantiate_checks(
    checks: CheckTypes, exempt: AllowList = NOTHING_EXEMPT
) -> tuple[list[Any], PersonalDataSearch | None]:
    """Instances, without the checks for personal data, and one search for all of those."""
    instances = [check() for check in checks]
    personal = [check for check in instances if isinstance(check, PersonalDataCheck)]
    others = [check for check in instances if not isinstance(check, PersonalDataCheck)]
    return others, PersonalDataSearch(personal, exempt) if personal else None


def _collect_hooks(checks: list[Any], name: str) -> list[Hook]:
    return [hook for check in checks if (hook := getattr(check, name, None)) is not None]


def _call_hooks(hooks: list[Hook], *arguments: object) -> Iterator[Finding]:
    for hook in hooks:
        yield from hook(*arguments) or ()
