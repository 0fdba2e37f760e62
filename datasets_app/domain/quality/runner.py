"""One pass over a stream for all checks together."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from datasets_app.domain.conversations.records import Finding, LabelRecord, LineError, TurnRecord
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.quality.base import Check
from datasets_app.domain.quality.personal_data import PersonalDataCheck, PersonalDataSearch

CheckTypes = Iterable[type[Check]]
Hook = Callable[..., Iterable[Finding] | None]


def run_turn_checks(records: Iterable[TurnRecord | LineError], checks: CheckTypes) -> Iterator[Finding]:
    """Findings over a stream of turns, in the order in which they are met.

    Sessions must be in one piece and ``turn_index`` must not fall within one. Memory does not
    grow with the stream (but for 20 bytes for each assistant text, where W302 is among the checks).
    """
    made = _instantiate_checks(checks)
    on_turn, on_error = _collect_hooks(made, "turn"), _collect_hooks(made, "line_error")
    on_session_end = _collect_hooks(made, "session_end")
    session: str | None = None
    for record in records:
        if isinstance(record, LineError):
            yield make_line_error_finding(record)
            yield from _call_hooks(on_error, record)
            continue
        if record.session_id != session:
            if session is not None:
                yield from _call_hooks(on_session_end)
            session = record.session_id
        for hook in on_turn:
            found = hook(record)
            if found:
                yield from found
    if session is not None:
        yield from _call_hooks(on_session_end)
    yield from _call_hooks(_collect_hooks(made, "end"))


def run_label_checks(records: Iterable[LabelRecord | LineError], checks: CheckTypes) -> Iterator[Finding]:
    """As :func:`run_turn_checks`, for the labels of an annotation file in any order."""
    made = _instantiate_checks(checks)
    on_label = _collect_hooks(made, "label")
    for record in records:
        if isinstance(record, LineError):
            yield make_line_error_finding(record)
        else:
            yield from _call_hooks(on_label, record)
    yield from _call_hooks(_collect_hooks(made, "end"))


def run_metadata_checks(
    metadata: DatasetMetadata | None, checks: CheckTypes, reason: str = ""
) -> Iterator[Finding]:
    """Findings about a file or dataset as a whole; ``why`` explains a missing ``metadata``."""
    yield from _call_hooks(
        _collect_hooks(_instantiate_checks(checks), "metadata"), metadata, f" ({reason})" if reason else ""
    )


def make_line_error_finding(error: LineError) -> Finding:
    return Finding(error.code, error.message, error.line, error.session_id, None, error.field)


def _instantiate_checks(checks: CheckTypes) -> list[Any]:
    """Instances; in place of the checks for personal data stands one search for them all."""
    made: list[Any] = [check() for check in checks]
    personal = [check for check in made if isinstance(check, PersonalDataCheck)]
    others = [check for check in made if not isinstance(check, PersonalDataCheck)]
    return [*others, PersonalDataSearch(personal)] if personal else others


def _collect_hooks(checks: list[Any], name: str) -> list[Hook]:
    return [hook for check in checks if (hook := getattr(check, name, None)) is not None]


def _call_hooks(hooks: list[Hook], *arguments: object) -> Iterator[Finding]:
    for hook in hooks:
        yield from hook(*arguments) or ()
