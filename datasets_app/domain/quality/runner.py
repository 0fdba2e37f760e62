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
    made = _made(checks)
    on_turn, on_error = _hooks(made, "turn"), _hooks(made, "line_error")
    on_session_end = _hooks(made, "session_end")
    session: str | None = None
    for record in records:
        if isinstance(record, LineError):
            yield of_line_error(record)
            yield from _called(on_error, record)
            continue
        if record.session_id != session:
            if session is not None:
                yield from _called(on_session_end)
            session = record.session_id
        for hook in on_turn:
            found = hook(record)
            if found:
                yield from found
    if session is not None:
        yield from _called(on_session_end)
    yield from _called(_hooks(made, "end"))


def run_label_checks(records: Iterable[LabelRecord | LineError], checks: CheckTypes) -> Iterator[Finding]:
    """As :func:`run_turn_checks`, for the labels of an annotation file in any order."""
    made = _made(checks)
    on_label = _hooks(made, "label")
    for record in records:
        if isinstance(record, LineError):
            yield of_line_error(record)
        else:
            yield from _called(on_label, record)
    yield from _called(_hooks(made, "end"))


def run_metadata_checks(
    metadata: DatasetMetadata | None, checks: CheckTypes, why: str = ""
) -> Iterator[Finding]:
    """Findings about a file or dataset as a whole; ``why`` explains a missing ``metadata``."""
    yield from _called(_hooks(_made(checks), "metadata"), metadata, f" ({why})" if why else "")


def of_line_error(error: LineError) -> Finding:
    return Finding(error.code, error.message, error.line, error.session_id, None, error.field)


def _made(checks: CheckTypes) -> list[Any]:
    """Instances; in place of the checks for personal data stands one search for them all."""
    made: list[Any] = [check() for check in checks]
    personal = [check for check in made if isinstance(check, PersonalDataCheck)]
    others = [check for check in made if not isinstance(check, PersonalDataCheck)]
    return [*others, PersonalDataSearch(personal)] if personal else others


def _hooks(made: list[Any], name: str) -> list[Hook]:
    return [hook for check in made if (hook := getattr(check, name, None)) is not None]


def _called(hooks: list[Hook], *arguments: object) -> Iterator[Finding]:
    for hook in hooks:
        yield from hook(*arguments) or ()
