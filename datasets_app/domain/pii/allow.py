"""Values that may stay, as a person has listed them."""

from collections.abc import Iterable

from datasets_app.domain.pii.folding import fold


class AllowList:
    """Terms that stay wherever they are found, and every part of them there; letter case doesn't matter."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._terms = frozenset(same for term in terms if (same := _strip_at(normalize_term(term))))

    def __bool__(self) -> bool:
        return bool(self._terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AllowList) and other._terms == self._terms

    def __hash__(self) -> int:
        return hash(self._terms)

    def covers(self, text: str, start: int, end: int) -> bool:
        """Whether ``text[start:end]`` is a term, or part of a term found there: jane of jane@x."""
        if not self._terms:
            return False
        value = normalize_term(text[start:end])
        bare = _strip_at(value)
        value, start = bare, start + len(value) - len(bare)
        return value in self._terms or any(
            _is_within(term, value, text, start) for term in self._terms if value in term
        )


NOTHING_EXEMPT = AllowList(())


def _strip_at(term: str) -> str:
    """A user name without its sign: who lists a brand means "@brand", too."""
    return term.removeprefix("@")


def normalize_term(value: str) -> str:
    """In a form in which letter case, width and accents written in two ways make no difference."""
    return fold(value).casefold().strip()


def _is_within(term: str, value: str, text: str, start: int) -> bool:
    at = term.find(value)
    while at >= 0:
        if start >= at and normalize_term(text[start - at : start - at + len(term)]) == term:
            return True
        at = term.find(value, at + 1)
    return False
