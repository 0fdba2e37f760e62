"""Whether a planted value is still there after a scrub."""

import re
import unicodedata

from datasets_app.domain.pii import detector
from datasets_app.domain.pii.canary.values import PlantedValue
from datasets_app.domain.pii.network.words import has_lone_characters
from datasets_app.domain.pii.placeholders import PLACEHOLDER_PATTERN

# Of short parts (a postal code) all must be left, of others half: less than that is in many texts.
MAX_SHORT_PART, MIN_RUN = 7, 6
_GAP = "\0"
_SEPARATORS = re.compile(r"[\W_]+")


def survives(value: PlantedValue, text: str) -> bool:
    """Whether a part of ``value`` that identifies somebody stands in ``text``: half of it, whatever signs are
    between; of a name a whole word, and in scripts without spaces any run of its signs."""
    left = PLACEHOLDER_PATTERN.sub(_GAP, text).casefold()
    if value.kind == detector.NAME:
        return any(_is_named(part.casefold(), left) for part in value.parts)
    squeezed = _GAP.join(_SEPARATORS.sub("", piece) for piece in left.split(_GAP))
    return any(_is_left(_SEPARATORS.sub("", part.casefold()), squeezed) for part in value.parts)


def _is_named(part: str, text: str) -> bool:
    if has_lone_characters(part):
        return part in text
    places = (match.span() for match in re.finditer(re.escape(part), text))
    return any(
        not _continues_word(text[max(0, start - 1) : start]) and not _continues_word(text[end : end + 1])
        for start, end in places
    )


def _continues_word(character: str) -> bool:
    """A letter, or a sign above or below one."""
    return bool(character) and unicodedata.category(character)[0] in "LM"


def _is_left(part: str, text: str) -> bool:
    size = len(part) if len(part) <= MAX_SHORT_PART else max(MIN_RUN, (len(part) + 1) // 2)
    return any(part[start : start + size] in text for start in range(len(part) - size + 1))
