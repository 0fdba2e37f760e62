"""The score of a candidate: the sum that features.py describes, taken from tables.

What a word adds in each place around a candidate is looked up once for all candidates that look alike.
Weights are whole numbers, so that sums don't depend on their order.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Any

from datasets_app.domain.pii.learned.features import (
    MAX_AFTER,
    MAX_BEFORE,
    MAX_CHARACTERS_AFTER,
    MAX_CHARACTERS_BEFORE,
    NEAR,
    PLACES_AFTER,
    PLACES_BEFORE,
    hash_feature,
    hash_name,
    normalize_token,
    split_tokens,
)

_BINS = (*(f"b{n}" for n in range(PLACES_BEFORE)), *(f"a{n}" for n in range(PLACES_AFTER)), *"BCLAMQ")
_A0, _B, _C, _L, _A, _M, _Q = (_BINS.index(name) for name in ("a0", *"BCLAMQ"))
# Words in these count once more with the looks of the candidate.
_BAGS_BY_LOOKS = (("B", _B), ("L", _L), ("Q", _Q))
_MAX_TOKENS, _MAX_TOKENS_OF_LOOKS = 30_000, 8_000


class Weights:
    """Whole numbers; times ``scale`` they are the logarithm of odds."""

    def __init__(self, weights: Any, scale: float) -> None:
        # An array of Python gives single numbers faster than one of numpy.
        self._weights: array[int] = array("b", weights.tobytes())
        self.scale = scale

    def weigh(self, sort: str, where: str, what: str) -> int:
        """What a feature adds: of a word, with its parts."""
        return sum(map(self._weights.__getitem__, hash_feature(sort, (where, what))))

    def weigh_whole(self, name: str) -> int:
        """The same of a feature that has no parts."""
        return self._weights[hash_name(name)]


class Context:
    """The tokens of a text, for all its candidates."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = split_tokens(text)
        self.tokens = [token for token, _, _ in found]
        self.starts = [start for _, start, _ in found]
        self._ends = [end for _, _, end in found]

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """The numbers of the first token in ``text[start:end]`` and of the first behind it."""
        first = bisect_left(self.starts, start)
        return first, bisect_left(self.starts, end, first)

    def list_before(self, first: int, start: int) -> list[str]:
        """The tokens before, the nearest first."""
        low, edge = max(0, first - MAX_BEFORE), start - MAX_CHARACTERS_BEFORE
        if low == first or self.starts[low] >= edge:
            return self.tokens[low:first][::-1]
        while low < first and self._ends[low] <= edge:
            low += 1
        before = self.tokens[low:first][::-1]
        if before and self.starts[low] < edge:
            before[-1] = normalize_token(self.text[edge : self._ends[low]])
        return before

    def list_after(self, last: int, end: int) -> list[str]:
        high, edge = min(len(self.tokens), last + MAX_AFTER), end + MAX_CHARACTERS_AFTER
        if high == last or self._ends[high - 1] <= edge:
            return self.tokens[last:high]
        while high > last and self.starts[high - 1] >= edge:
            high -= 1
        after = self.tokens[last:high]
        if after and self._ends[high - 1] > edge:
            after[-1] = normalize_token(self.text[self.starts[high - 1] : edge])
        return after


class _TokenWeights(dict[str, tuple[int, ...]]):
    """What a token adds in each of the places :data:`_BINS`."""

    def __init__(self, weights: Weights, sort: str) -> None:
        super().__init__()
        self.weights, self.sort = weights, sort

    def __missing__(self, token: str) -> tuple[int, ...]:
        if len(self) >= _MAX_TOKENS:
            self.clear()
        found = self[token] = tuple(self.weights.weigh(self.sort, where, token) for where in _BINS)
        return found


class _TokenWeightsByLooks(dict[str, tuple[int, ...]]):
    """The same, with what a token adds around a candidate of these ``looks``."""

    def __init__(self, plain: _TokenWeights, looks: str) -> None:
        super().__init__()
        self._plain, self._looks = plain, looks

    def __missing__(self, token: str) -> tuple[int, ...]:
        if len(self) >= _MAX_TOKENS_OF_LOOKS:
            self.clear()
        found = self._plain[token]
        if token.isalpha():
            weights, sort = list(found), self._plain.sort
            for name, bag in _BAGS_BY_LOOKS:
                weights[bag] += self._plain.weights.weigh(sort, f"{self._looks} {name}", token)
            found = tuple(weights)
        self[token] = found
        return found


class Scorer:
    """Scores candidates of one ``sort``, as whole numbers."""

    def __init__(self, weights: Weights, sort: str) -> None:
        self.sort, self._weights = sort, weights
        self._plain = _TokenWeights(weights, sort)
        self._tables: dict[str, _TokenWeightsByLooks] = {}
        self._known: dict[tuple[str, str], int] = {}

    def weigh_value(self, descriptions: Iterable[str]) -> int:
        """What a candidate's own looks add."""
        return sum(self._weights.weigh_whole(f"{self.sort} v {what}") for what in set(descriptions))

    def score(
        self,
        context: Context,
        start: int,
        end: int,
        looks: str,
        own: int,
        question: Sequence[str] | None = None,
    ) -> int:
        """``own`` is what :meth:`weigh_value` gave; ``question`` the tokens of what the text may answer."""
        table = self._tables.get(looks)
        if table is None:
            table = self._tables[looks] = _TokenWeightsByLooks(self._plain, looks)
        first, last = context.locate(start, end)
        before, after = context.list_before(first, start), context.list_after(last, end)
        text = context.text
        glued = f"{text[start - 1 : start].isspace()} {text[end : end + 1].isspace()}"
        return (
            own
            + self._get("glued", glued)
            + self._get("bias", "")
            + self._score_before(table, before, question is not None)
            + self._score_after(table, after)
            + self._score_pairs(before, after, looks)
            + sum(table[token][_Q] for token in set(question or ()))
        )

    def _get(self, where: str, what: str) -> int:
        """A feature that has few values."""
        known = self._known.get((where, what))
        if known is None:
            known = self._known[where, what] = self._weights.weigh_whole(f"{self.sort} {where} {what}")
        return known

    def _score_before(self, table: _TokenWeightsByLooks, before: list[str], answers: bool) -> int:
        total, line, bag, place = 0, 0, _B, 0
        seen: set[str] = set()
        breaks: set[int] = set()
        for place, token in enumerate(before):
            if token == "\n":
                breaks.add(min(place, 8))
                line += 1
                if line > 2:
                    break
                if line == 1:
                    bag, seen = _L, set()
                if place < PLACES_BEFORE:
                    total += table[token][place]
                continue
            weights = table[token]
            if place < PLACES_BEFORE:
                total += weights[place]
            elif place == NEAR and not line:
                bag, seen = _C, set()
            if token not in seen:
                seen.add(token)
                total += weights[bag]
        else:
            place = len(before)
        if answers:
            total += self._get("answers", str(min(place, 8)))
        elif len(before) < MAX_BEFORE:
            total += self._get("starts", str(min(len(before), 8)))
        for number in breaks:
            total += self._get("line", str(number))
        return total

    def _score_after(self, table: _TokenWeightsByLooks, after: list[str]) -> int:
        total, bag = 0, _A
        seen: set[str] = set()
        for place, token in enumerate(after):
            weights = table[token]
            if place < PLACES_AFTER:
                total += weights[_A0 + place]
            if token == "\n":
                if bag == _M:
                    return total
                bag, seen = _M, set()
            elif token not in seen:
                seen.add(token)
                total += weights[bag]
        return total + (self._get("ends", str(min(len(after), 6))) if len(after) < MAX_AFTER else 0)

    def _score_pairs(self, before: list[str], after: list[str], looks: str) -> int:
        first, second, third = [*before[:3], "", "", ""][:3]
        behind, further = [*after[:2], "", ""][:2]
        weigh, sort = self._weights.weigh_whole, self.sort
        return (
            weigh(f"{sort} bb {second} {first}")
            + weigh(f"{sort} bbb {third} {second} {first}")
            + weigh(f"{sort} ba {first} {behind}")
            + weigh(f"{sort} aa {behind} {further}")
            + weigh(f"{sort} looks b {looks} {first}")
            + weigh(f"{sort} looks bb {looks} {second} {first}")
            + weigh(f"{sort} looks a {looks} {behind}")
        )
