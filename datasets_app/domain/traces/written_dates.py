"""Times of messages as people write them ("03/04/2026 8:00 AM") → ISO 8601, which every format reads."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import Any

from datasets_app.domain.traces.dates import AmbiguousDate, DateReader, is_written
from datasets_app.domain.traces.documents import Document
from datasets_app.domain.traces.time_zones import UnknownZone
from datasets_app.domain.traces.values import format_time

_TIMES = frozenset(
    "timestamp created_at createdAt create_time created date time datetime sent_at sentAt start_time "
    "startTime".split()
)
# What an object has that is a message, or a call; dates of others are facts, which stay as they are.
_SAID = frozenset(
    "text content message messages body value role author sender from parts input output request "
    "response".split()
)
MAX_PEEKED = 20


def replace_written_dates(
    documents: Iterable[Document],
    order: str,
    reopen: Callable[[], Iterable[Document]],
    note: Callable[[int], object],
) -> Iterator[Document]:
    """The documents, with their written dates replaced. ``order`` is day-first, month-first, or empty if all
    dates of the file decide, which ``reopen`` reads again. ``note`` is called with the place of a date that
    can't be read. Without an order, files whose first documents have no such date are left as they are."""
    documents = iter(documents)
    peeked = list(islice(documents, MAX_PEEKED))
    documents = chain(peeked, documents)
    if not order and next(_list_written(peeked), None) is None:
        yield from documents
        return
    dates = DateReader(lambda: (holder[key] for holder, key in _list_written(reopen())), order)
    for document in documents:
        for holder, key in _list_written([document]):
            with suppress(AmbiguousDate, UnknownZone):
                holder[key] = format_time(dates.read(holder[key])) or holder[key]
            if is_written(holder[key]):
                note(document.number)
        yield document


def _list_written(documents: Iterable[Document]) -> Iterator[tuple[dict[str, Any], str]]:
    for document in documents:
        waiting: list[Any] = [document.value]
        while waiting:
            value = waiting.pop()
            if type(value) is dict and not _SAID.isdisjoint(value):
                yield from ((value, key) for key in _TIMES & value.keys() if is_written(value[key]))
            if type(value) in (dict, list):
                items = value.values() if type(value) is dict else value
                waiting += [item for item in items if type(item) in (dict, list)]
