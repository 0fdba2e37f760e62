"""One pass over a stream for all checks together."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from itertools import repeat

from datasets_app.domain.conversations.records import Finding, LineError, TurnRecord
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.pii.allow import NOTHING_EXEMPT, AllowList
from datasets_app.domain.quality.base import Check
from datasets_app.domain.quality.checks import METADATA_CHECKS, TURN_CHECKS
from datasets_app.domain.quality.personal_data import (
    PERSONAL_DATA_CHECKS,
    NameOptions,
    PersonalDataCheck,
    PersonalDataSearch,
    SearchBatches,
    SearchedRecord,
    SearchTask,
    search_ahead,
)
from datasets_app.domain.quality.w406_names import make_names_check

CheckTypes = Iterable[type[Check]]
Hook = Callable[..., Iterable[Finding] | None]


def run_checks(
    records: Iterable[SearchedRecord | LineError],
    checks: CheckTypes = TURN_CHECKS,
    exempt: AllowList = NOTHING_EXEMPT,
    *,
    search_batches: SearchBatches | None = None,
) -> Iterator[Finding]:
    """Findings over a stream of turns, in the order of the stream, or of labels. ``exempt`` values are not
    personal data. ``search_batches`` may search for them in other processes, each with
    :func:`make_batch_search`.

    Sessions must be in one piece and ``turn_index`` must not fall within one; labels are in any order. Memory
    does not grow with the stream (but for 20 bytes for each assistant text, where W302 is among the checks).
    """
    instances, search = _instantiate_checks(checks, exempt)
    searched: Iterable[tuple[SearchedRecord | LineError, list[Finding]]] = (
        search_ahead(records, search_batches or partial(map, search.batch), search)
        if search
        else zip(records, repeat([]), strict=False)
    )
    on_turn, on_label, on_error, on_session_start, on_session_end = (
        _collect_hooks(instances, name)
        for name in ("turn", "label", "line_error", "session_start", "session_end")
    )
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
            yield from _call_hooks(on_session_start)
        for hook in on_turn if isinstance(record, TurnRecord) else on_label:
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


def run_metadata_checks(metadata: DatasetMetadata | None, reason: str = "") -> Iterator[Finding]:
    """Findings about a file or dataset as a whole; ``reason`` explains a missing ``metadata``."""
    hooks = _collect_hooks([check() for check in METADATA_CHECKS], "metadata")
    yield from _call_hooks(hooks, metadata, f" ({reason})" if reason else "")


def make_line_error_finding(error: LineError) -> Finding:
    return Finding(error.code, error.message, error.line, error.session_id, None, error.field)


def _instantiate_checks(
    checks: CheckTypes, exempt: AllowList
) -> tuple[list[Check], PersonalDataSearch | None]:
    """Instances, without the checks for personal data, and one search for all of those."""
    instances = [check() for check in checks]
    personal = [check for check in instances if isinstance(check, PersonalDataCheck)]
    others = [check for check in instances if not isinstance(check, PersonalDataCheck)]
    return others, PersonalDataSearch(personal, exempt) if personal else None


def _collect_hooks(checks: list[Check], name: str) -> list[Hook]:
    return [hook for check in checks if (hook := getattr(check, name, None)) is not None]


def _call_hooks(hooks: list[Hook], *arguments: object) -> Iterator[Finding]:
    for hook in hooks:
        yield from hook(*arguments) or ()
