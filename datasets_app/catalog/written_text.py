"""Looks at what people write beside the text of a dataset, as its scrub looks at that: tags, notes of labels,
metadata. Nothing searches it later, and it leaves with the text."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from datasets_app.catalog.scrubbers import is_verified, load_current_policy, make_scrubber
from datasets_app.core.errors import UserError
from datasets_app.domain.batches import batched
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.session_scrub import SessionInput
from datasets_app.models import Dataset

T = TypeVar("T")

OBJECTS_PER_BATCH = 200


class WrittenText:
    """What is written to ``dataset``: looked at once a scrub of it was verified, as it is then said to be
    clean; ``always`` looks at it in any case. Runs its queries when it is made."""

    def __init__(self, dataset: Dataset, *, always: bool = False) -> None:
        looks = always or is_verified(dataset)
        self._scrubber = make_scrubber(load_current_policy(dataset), dataset) if looks else None
        self.found: Counter[str] = Counter()

    def find(self, objects: Sequence[Mapping[str, Any]], *, tags: Sequence[str] = ()) -> Counter[str]:
        """The values by class which a scrub would replace in these objects, each seen alone, and in tags;
        they are also added to ``found``."""
        if self._scrubber is None:
            return Counter()
        inputs = [SessionInput([], [dict(item)], id_hashed=True) for item in objects]
        inputs += [SessionInput([TurnRecord("", 1, "user", "", [tag])], id_hashed=True) for tag in tags]
        found = Counter(value.kind for result in self._scrubber.scrub(inputs) for value in result.findings)
        self.found.update(found)
        return found

    def watch(self, items: Iterable[T], describe: Callable[[T], Mapping[str, Any]]) -> Iterator[T]:
        """The same items; counts what is found in what ``describe`` says of each, unless that is empty."""
        for batch in batched(items, OBJECTS_PER_BATCH):
            self.find([value for item in batch if (value := describe(item))])
            yield from batch


def find_written(
    dataset: Dataset, values: Mapping[str, Any], *, tags: Sequence[str] = (), always: bool = False
) -> dict[str, Counter[str]]:
    """What a scrub would replace in ``values``, by the names of their fields, and in ``tags`` ("tag"): how
    many values of each class, for fields that have some."""
    values = {name: value for name, value in values.items() if value}
    if not values and not tags:
        return {}
    written = WrittenText(dataset, always=always)
    found = {name: written.find([{name: value}]) for name, value in values.items()}
    found["tag"] = written.find([], tags=tags)
    return {name: kinds for name, kinds in found.items() if kinds}


def find_problems(dataset: Dataset, values: Mapping[str, Any]) -> dict[str, str]:
    """A sentence for each field that :func:`find_written` finds something in."""
    return {name: _describe(name, kinds) for name, kinds in find_written(dataset, values).items()}


def check_written(
    dataset: Dataset, values: Mapping[str, Any], *, tags: Sequence[str] = (), always: bool = False
) -> None:
    """Raises UserError for what :func:`find_written` finds. It names fields and classes, never a value."""
    if found := find_written(dataset, values, tags=tags, always=always):
        raise UserError(" ".join(_describe(name, kinds) for name, kinds in found.items()))


def _describe(name: str, found: Mapping[str, int]) -> str:
    field, verb = name.replace("_", " "), "look" if name.endswith("s") else "looks"
    return (
        f"The {field} {verb} like personal data ({', '.join(sorted(found))}). Remove that, or add what isn't "
        "personal to the terms to keep, on the Scrub tab."
    )
