"""Which labels go out: all, or one a reply, by majority, by a model of who errs how, or as settled."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotations_app.domain.agreement.consensus import TIE, consensus_of, majority
from annotations_app.domain.label_table import Floats, Ints
from annotations_app.domain.label_table import LabelTable as Table
from annotations_app.labels.label_counts import Scope, adjudicated_turns, in_session_order_of, read_labels
from annotations_app.labels.label_places import kept_place, place_of, without_place
from annotations_app.models import Annotation
from datasets_app.catalog import policies
from datasets_app.domain.conversations.records import LabelRecord
from datasets_app.models import Turn

ROWS_AT_ONCE = 2000

# Why something is not in the file.
TIES, DISPUTED, LOCKED = "ties", "disputed", "test_split"
# Who is said to have given a label that everybody gave.
UNANIMOUS = "unanimous"

_PLACE = ("turn__text", "turn__session__session_id", "turn__turn_index", "turn__session__split")
_SAID = ("label", "annotator", "notes", "timestamp", "confidence", "extra")


class Selection(NamedTuple):
    """Labels of ``scope``; those of the test split only if it is ``unlocked``. Counts what is left out."""

    scope: Scope
    unlocked: bool
    left_out: Counter[str]


class _Decided(NamedTuple):
    """One label for each of some turns, or TIE; sessions in one piece."""

    turn: Ints
    session: Ints
    label: NDArray[np.int8]
    confidence: Floats
    annotator: str
    undecided: str


def chosen_labels(labels: str, selection: Selection) -> Iterator[LabelRecord]:
    """The labels, ordered by session and turn. ``labels`` is a key of :data:`CHOICES`."""
    return CHOICES[labels](selection)


def _all(selection: Selection) -> Iterator[LabelRecord]:
    rows = Annotation.objects.filter(
        dataset=selection.scope.dataset, persona_id=selection.scope.persona_id, kind=Annotation.Kind.LABEL
    )
    if selection.scope.campaign is not None:
        rows = rows.filter(campaign=selection.scope.campaign)
    in_order = rows.order_by("turn__session_id", "turn__turn_index", "id")
    said = in_order.annotate(kept=kept_place("turn")).values_list(*_PLACE, "kept", *_SAID)
    for text, session_id, turn_index, split, kept, label, *rest in said.iterator(chunk_size=ROWS_AT_ONCE):
        place = place_of(session_id, turn_index, kept)
        record = without_place(LabelRecord(text, label, selection.scope.persona_id, *place, *rest))
        if _goes_out(split, selection):
            yield record


def _majority(selection: Selection) -> Iterator[LabelRecord]:
    table = read_labels([selection.scope])
    counts = table.counts()
    share = counts.max(axis=1, initial=0) / np.maximum(1, counts.sum(axis=1))
    return _written(_decided(table, majority(counts), share, "majority"), selection)


def _dawid_skene(selection: Selection) -> Iterator[LabelRecord]:
    table = read_labels([selection.scope])
    found = consensus_of(table)
    likeliest = found.posterior.max(axis=1, initial=0)
    return _written(_decided(table, found.labels, likeliest, "dawid-skene"), selection)


def _adjudicated(selection: Selection) -> Iterator[LabelRecord]:
    """What a lead has settled, also where nobody else has said anything; else what nobody disputes."""
    table = read_labels([selection.scope])
    counts = table.counts()
    settled = adjudicated_turns(selection.scope)
    agreed = np.where(counts.min(axis=1, initial=1) == 0, counts.argmax(axis=1), TIE).astype(np.int8)
    turn = np.union1d(table.turn, settled)
    label = np.full(len(turn), TIE, np.int8)
    label[np.searchsorted(turn, table.turn)] = agreed
    order, session = in_session_order_of(turn)
    none = np.full(len(turn), np.nan)
    decided = _Decided(turn[order], session, label[order], none, UNANIMOUS, DISPUTED)
    return _written(decided, selection, settled=True)


CHOICES: dict[str, Callable[[Selection], Iterator[LabelRecord]]] = {
    "all": _all,
    "majority": _majority,
    "dawid-skene": _dawid_skene,
    "adjudicated": _adjudicated,
}


def _decided(table: Table, label: NDArray[np.int8], confidence: Floats, annotator: str) -> _Decided:
    return _Decided(table.turn, table.session, label, confidence, annotator, TIES)


def _written(decided: _Decided, selection: Selection, *, settled: bool = False) -> Iterator[LabelRecord]:
    """The lines of what is decided; ``settled``: an adjudicated label goes before."""
    for start, end in _whole_sessions(decided.session):
        place = {turn: start + number for number, turn in enumerate(decided.turn[start:end].tolist())}
        found = _adjudications(list(place), selection) if settled else {}
        turns = Turn.objects.filter(pk__in=place).order_by("session_id", "turn_index")
        columns = ("pk", "text", "session__session_id", "turn_index", "session__split", "kept")
        for turn, text, session_id, turn_index, split, kept in turns.annotate(
            kept=kept_place("pk")
        ).values_list(*columns):
            said = found.get(turn) or _said(decided, place[turn])
            if said is None:
                selection.left_out[decided.undecided] += 1
            elif _goes_out(split, selection):
                label, *rest = said
                where = place_of(session_id, turn_index, kept)
                yield without_place(LabelRecord(text, label, selection.scope.persona_id, *where, *rest))


def _said(decided: _Decided, place: int) -> tuple[Any, ...] | None:
    label, confidence = int(decided.label[place]), float(decided.confidence[place])
    if label == TIE:
        return None
    return label, decided.annotator, None, None, None if np.isnan(confidence) else confidence, None


def _adjudications(turns: list[int], selection: Selection) -> dict[int, tuple[Any, ...]]:
    rows = Annotation.objects.filter(
        turn__in=turns, persona_id=selection.scope.persona_id, kind=Annotation.Kind.ADJUDICATED
    )
    return {turn: tuple(said) for turn, *said in rows.values_list("turn", *_SAID)}


def _goes_out(split: str | None, selection: Selection) -> bool:
    if split != policies.LOCKED_SPLIT or selection.unlocked:
        return True
    selection.left_out[LOCKED] += 1
    return False


def _whole_sessions(session: Ints) -> Iterator[tuple[int, int]]:
    """Some thousand turns at a time, no session in two pieces."""
    start = 0
    while start < len(session):
        last = session[min(start + ROWS_AT_ONCE, len(session)) - 1]
        end = int(np.searchsorted(session, last, side="right"))
        yield start, end
        start = end
