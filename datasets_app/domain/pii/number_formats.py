"""The format of a customer's own numbers, learned from examples: "A-2024-00017" → A, 4 digits, 5 digits."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from datasets_app.domain.pii.policy import PolicyError

MIN_EXAMPLES, MAX_EXAMPLES = 3, 50
MIN_DIGITS = 3
# Without a letter of its own a number must be longer than any date or telephone number.
MIN_DIGITS_WITHOUT_LETTERS = 13
# Where the letters differ, too: "May-2024" isn't a number of an order.
MIN_DIGITS_WITHOUT_FIXED_LETTERS = 5
MAX_EXAMPLE_CHARACTERS = 60
_DIGITS, _LETTERS, _MIXED = "digit", "letter", "letter or digit"
_CLASSES = {_DIGITS: "[0-9]", _LETTERS: "[A-Z]", _MIXED: "[A-Z0-9]"}

_ANY_LETTER = r"\pL"
_RUN = re.compile(r"(?P<digit>[0-9]+)|(?P<letter>[^\W\d_]+)|(?P<sign>[^\w\s]|[_ ])")


class NumberFormat(NamedTuple):
    """``regex`` in RE2's syntax; ``description`` for people."""

    regex: str
    description: str


class _Part(NamedTuple):
    """``fixed`` is the same in every number; without it there are ``least`` to ``most`` characters of a
    kind."""

    kind: str
    least: int = 0
    most: int = 0
    fixed: str = ""


def learn_format(examples: Sequence[str]) -> NumberFormat:
    """Letters and signs that all examples share are fixed, digits never. Raises :class:`PolicyError` for too
    few examples, for some of different forms, and for a form that other words and numbers have, too."""
    distinct = list(dict.fromkeys(example.strip() for example in examples if example.strip()))
    if not MIN_EXAMPLES <= len(distinct) <= MAX_EXAMPLES:
        raise PolicyError(f"A format is learned from {MIN_EXAMPLES} to {MAX_EXAMPLES} different examples.")
    runs = [_split(number, example) for number, example in enumerate(distinct, 1)]
    parts = _align_runs(runs) or _align_characters(distinct)
    if parts is None:
        raise PolicyError(
            "The examples have different forms. Give each form a pattern of its own, with the same label."
        )
    description = ", ".join(map(_describe, parts))
    _refuse_general(parts, description)
    regex = "".join(map(_write, parts))
    if not all(map(str.isascii, distinct)):
        # To RE2 the edges of words are those of ASCII words.
        return NumberFormat(f"(?i){regex.replace('A-Z', _ANY_LETTER)}", description)
    return NumberFormat(f"(?i)\\b{regex}\\b", description)


def _split(number: int, example: str) -> list[tuple[str, str]]:
    runs = [(match.lastgroup or "", match[0]) for match in _RUN.finditer(example)]
    if len(example) > MAX_EXAMPLE_CHARACTERS or sum(len(text) for _, text in runs) != len(example):
        raise PolicyError(
            f"Example {number} can't be a number: it has at most {MAX_EXAMPLE_CHARACTERS} letters, digits "
            "and signs, and stands on one line."
        )
    if "sign" in (runs[0][0], runs[-1][0]):
        raise PolicyError(f"Example {number} must begin and end with a letter or a digit.")
    return runs


def _align_runs(examples: list[list[tuple[str, str]]]) -> list[_Part] | None:
    """Runs of letters, of digits, and signs; None if the examples don't have the same."""
    if len({tuple(text if kind == "sign" else kind for kind, text in runs) for runs in examples}) > 1:
        return None
    return [_make_part(place[0][0], [text for _, text in place]) for place in zip(*examples, strict=True)]


def _align_characters(examples: list[str]) -> list[_Part] | None:
    """Each place by itself, where all have the same length; None if they don't, or if signs differ."""
    if len({len(example) for example in examples}) > 1:
        return None
    parts: list[_Part] = []
    for signs in zip(*examples, strict=True):
        kinds = {_DIGITS if sign.isdigit() else _LETTERS if sign.isalpha() else sign for sign in signs}
        if not kinds <= {_DIGITS, _LETTERS} and len(kinds) > 1:
            return None
        kind = kinds.pop() if len(kinds) == 1 else _MIXED
        part = _make_part(kind if kind in _CLASSES else "sign", list(signs))
        last = parts[-1] if parts else part
        if part.kind == last.kind and parts and not (part.fixed or last.fixed):
            parts[-1] = last._replace(least=last.least + 1, most=last.most + 1)
        elif part.kind == last.kind == _LETTERS and parts and part.fixed and last.fixed:
            parts[-1] = last._replace(fixed=last.fixed + part.fixed)
        else:
            parts.append(part)
    return parts


def _make_part(kind: str, texts: list[str]) -> _Part:
    if kind == "sign" or (kind == _LETTERS and len({text.casefold() for text in texts}) == 1):
        return _Part(kind, fixed=texts[0])
    lengths = [len(text) for text in texts]
    return _Part(kind, min(lengths), max(lengths))


def _refuse_general(parts: list[_Part], description: str) -> None:
    digits = sum(part.least for part in parts if part.kind == _DIGITS)
    letters = [part for part in parts if part.kind in (_LETTERS, _MIXED)]
    if digits < MIN_DIGITS:
        problem = f"ordinary words match it, as it has fewer than {MIN_DIGITS} digits"
    elif not letters and digits < MIN_DIGITS_WITHOUT_LETTERS:
        problem = "dates, prices and telephone numbers match it, as it has no letters"
    elif letters and not any(part.fixed for part in letters) and digits < MIN_DIGITS_WITHOUT_FIXED_LETTERS:
        problem = "ordinary words with a number match it, as it has no letters of its own"
    else:
        return
    raise PolicyError(
        f"The format of these examples ({description}) is too general: {problem}. Write a regular expression "
        "that also matches a word before the number."
    )


def _describe(part: _Part) -> str:
    if part.fixed:
        return f"“{part.fixed}”"
    length = f"{part.least}" if part.least == part.most else f"{part.least} to {part.most}"
    plural = "" if part.most == 1 else "s"
    return f"{length} {'letters or digits' if plural and part.kind == _MIXED else part.kind + plural}"


def _write(part: _Part) -> str:
    if part.fixed:
        return re.escape(part.fixed)
    repeated = f"{{{part.least}}}" if part.least == part.most else f"{{{part.least},{part.most}}}"
    return f"{_CLASSES[part.kind]}{repeated}"
