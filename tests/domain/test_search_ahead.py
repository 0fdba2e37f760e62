"""Batches of turns searched elsewhere: the same findings, in the same order, however the stream ends."""

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain

import pytest

from datasets_app.domain.conversations.records import Finding, LineError, TurnRecord
from datasets_app.domain.quality import personal_data
from datasets_app.domain.quality.personal_data import SearchBatches, SearchTask
from datasets_app.domain.quality.runner import make_batch_search, run_checks


def make_records() -> Iterator[TurnRecord | LineError]:
    for number in range(40):
        session = f"jane{number // 4}@example.org"
        if number % 7 == 3:
            yield LineError(number, "E101", "not valid JSON", session)
            continue
        role = "assistant" if number % 2 else "user"
        text = ("Call me on 555-123-4567.", "Nothing here.", "")[number % 3]
        extra = {"contact": "joe@example.org"} if number % 5 == 0 else None
        yield TurnRecord(session, number % 4 + 1, role, text, ["vip"], line=number, extra=extra)


def search_two_ahead(tasks: Iterable[SearchTask]) -> Iterator[list[list[Finding] | None]]:
    """As a pool does: tasks are taken before the results of earlier ones are."""
    search, waiting = make_batch_search(), []
    for task in tasks:
        waiting.append(search(task))
        if len(waiting) > 2:
            yield waiting.pop(0)
    yield from waiting


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_the_same_findings_come_in_the_same_order(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(personal_data, "SEARCH_BATCH_SIZE", size)
    expected = list(run_checks(make_records()))
    assert {"E101", "E301", "E401", "E402"} <= {finding.code for finding in expected}
    assert list(run_checks(make_records(), search_batches=search_two_ahead)) == expected
    assert list(run_checks([], search_batches=search_two_ahead)) == []


def test_what_was_found_before_a_failure_is_told_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(personal_data, "SEARCH_BATCH_SIZE", 3)

    def fail() -> Iterator[TurnRecord]:
        raise OSError("cut off")
        yield

    def collect(search: SearchBatches | None) -> list[Finding]:
        found: list[Finding] = []

        def keep(finding: Finding) -> None:
            found.append(finding)

        with pytest.raises(OSError, match="cut off"):
            deque(map(keep, run_checks(chain(make_records(), fail()), search_batches=search)), maxlen=0)
        return found

    assert collect(search_two_ahead) == collect(None) != []
