"""What a persona asks for, in words for people."""

from collections.abc import Iterable, Iterator
from typing import Any

_DEEPEST, _LONGEST = 3, 5_000


def rules_in_words(style: dict[str, Any]) -> Iterator[str]:
    """Style rules as sentences; what is not known here, as "name: value"."""
    for key, value in style.items():
        match key, value:
            case "sentence_length", {"max_avg": most}:
                yield f"Sentences of at most {in_words(most)} words on average"
            case (("contractions" | "emojis"), {"allowed": bool() as allowed}):
                yield f"{key.capitalize()} are {'allowed' if allowed else 'not allowed'}"
            case _:
                yield f"{_name(key)}: {in_words(value)}"


def in_words(value: Any) -> str:
    """Whatever YAML made of a value, as text, cut off: a few lines of YAML can unfold to gigabytes."""
    pieces, length = [], 0
    for piece in _pieces(value, 0):
        pieces.append(piece)
        length += len(piece)
        if length > _LONGEST:
            return "".join(pieces)[:_LONGEST] + "…"
    return "".join(pieces)


def _pieces(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, bool):
        yield "yes" if value else "no"
    elif not isinstance(value, (dict, list, set)):
        yield str(value)
    elif depth >= _DEEPEST:
        yield "…"
    elif isinstance(value, dict):
        for number, (key, item) in enumerate(value.items()):
            yield f"{'; ' if number else ''}{_name(key)} "
            yield from _pieces(item, depth + 1)
    else:
        yield from _listed(value, depth)


def _listed(values: Iterable[Any], depth: int) -> Iterator[str]:
    for number, item in enumerate(values):
        if number:
            yield ", "
        yield from _pieces(item, depth + 1)


def _name(key: Any) -> str:
    return str(key).replace("_", " ").capitalize()
