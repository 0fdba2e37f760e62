"""What isn't personal data in a dataset although a detector finds it, as the metadata of its files states it.

The server knows the decisions of people and its personas; the check of an
exported file knows its text and its ``.meta.yaml``. So the metadata says which of these terms the text has,
and no others.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from datasets_app.domain.batches import batched
from datasets_app.domain.conversations.jsonl import encode_turn, unescape_json
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.pii.detector import PRECISION, RECALL
from datasets_app.domain.pii.kept_names import list_term_words

METADATA_KEY = "kept_terms"
_TURNS_PER_BATCH = 1000


class KeptTerms(NamedTuple):
    """``values`` may be of any class; ``names`` aren't people, nor are terms of ``personas``. ``prefer`` says
    whether words that may or may not be names are kept as well, as a scrub's policy does."""

    values: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    personas: tuple[str, ...] = ()
    prefer: str = RECALL

    @property
    def term_count(self) -> int:
        """How many terms people or a scrub decided to keep."""
        return len({*self.values, *self.names})


NOTHING_KEPT = KeptTerms()


class TermSearch:
    """Finds out which terms of a dataset an exported text has."""

    def __init__(self, kept: KeptTerms) -> None:
        self._kept, self._present = kept, set[str]()
        # By the longest word of each form: the first may stand in every text.
        self._missing: dict[str, set[tuple[str, tuple[str, ...]]]] = defaultdict(set)
        for term in {*kept.values, *kept.names, *kept.personas}:
            words = list_term_words(term)
            for form in (words, (*words[:-1], f"{words[-1]}s"), ("".join(words),)) if words else ():
                self._missing[max(form, key=len)].add((term, form))

    def add(self, lines: bytes) -> None:
        """Search the lines of a file, or some of them."""
        if self._missing:
            text = unescape_json(lines.decode("utf-8", "replace"))
            words = list_term_words(text, self._missing.keys())
            for longest in self._missing.keys() & set(words):
                self._find(longest, words)

    def watch(self, turns: Iterable[TurnRecord]) -> Iterator[TurnRecord]:
        """The same turns, searched on their way to a file in which no text can be found."""
        for batch in batched(turns, _TURNS_PER_BATCH):
            self.add(b"".join(map(encode_turn, batch)))
            yield from batch

    def _find(self, longest: str, words: tuple[str, ...]) -> None:
        terms, place = self._missing[longest], -1
        while terms:
            try:
                place = words.index(longest, place + 1)
            except ValueError:
                return
            found = {(term, form) for term, form in terms if _stands_at(words, place, form, longest)}
            self._present.update(term for term, _ in found)
            terms -= found
        del self._missing[longest]

    def state(self, metadata: DatasetMetadata) -> DatasetMetadata:
        """The metadata of a file with this text."""
        kept = self._kept
        stated: dict[str, Any] = {
            name: sorted(present)
            for name in ("values", "names", "personas")
            if (present := self._present.intersection(getattr(kept, name)))
        }
        return state_preference(replace(metadata, extra=metadata.extra | {METADATA_KEY: stated}), kept.prefer)


def state_preference(metadata: DatasetMetadata, prefer: str) -> DatasetMetadata:
    """The metadata, saying what a scrub or check of the text preferred; nothing of recall."""
    stated = {key: value for key, value in _read_object(metadata, METADATA_KEY).items() if key != "prefer"}
    stated |= {"prefer": prefer} if prefer != RECALL else {}
    extra = {key: value for key, value in metadata.extra.items() if key != METADATA_KEY}
    return replace(metadata, extra=extra | ({METADATA_KEY: stated} if stated else {}))


def _stands_at(words: tuple[str, ...], place: int, form: tuple[str, ...], longest: str) -> bool:
    first = place - form.index(longest)
    return first >= 0 and words[first : first + len(form)] == form


NO_TERMS = TermSearch(NOTHING_KEPT)


def read_kept_terms(metadata: DatasetMetadata | None, persona_terms: Iterable[str] = ()) -> KeptTerms:
    """What the metadata of a file states, with the persona that it was generated for and further
    ``persona_terms``."""
    stated = _read_object(metadata, METADATA_KEY)
    personas = (
        *persona_terms,
        *_read_terms(stated, "personas"),
        *_read_terms(_read_object(metadata, "persona"), "terms"),
    )
    prefer = PRECISION if stated.get("prefer") == PRECISION else RECALL
    return KeptTerms(_read_terms(stated, "values"), _read_terms(stated, "names"), personas, prefer)


def _read_object(metadata: DatasetMetadata | None, key: str) -> dict[str, Any]:
    value = metadata.extra.get(key) if metadata else None
    return value if isinstance(value, dict) else {}


def _read_terms(stated: dict[str, Any], key: str) -> tuple[str, ...]:
    terms = stated.get(key)
    return tuple(term for term in terms if isinstance(term, str)) if isinstance(terms, list) else ()
