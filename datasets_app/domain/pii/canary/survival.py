"""Whether a planted value is still there after a scrub."""

import re

from datasets_app.domain.pii import detector
from datasets_app.domain.pii.canary.values import PlantedValue
from datasets_app.domain.pii.placeholders import PLACEHOLDER_PATTERN

# Of short parts (a postal code) all must be left, of others half: less than that is in many texts.
MAX_SHORT_PART, MIN_RUN = 7, 6
_GAP = "\0"
_SEPARATORS = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W\d_]+")


def survives(value: PlantedValue, text: str) -> bool:
    """Whether a part of ``value`` that identifies somebody stands in ``text``: half of it, whatever signs are
    between; of a name a whole word."""
    left = PLACEHOLDER_PATTERN.sub(_GAP, text).casefold()
    if value.kind == detector.NAME:
        words = set(_WORD.findall(left))
        return any(part.casefold() in words for part in value.parts)
    squeezed = _GAP.join(_SEPARATORS.sub("", piece) for piece in left.split(_GAP))
    return any(_is_left(_SEPARATORS.sub("", part.casefold()), squeezed) for part in value.parts)


def _is_left(part: str, text: str) -> bool:
    size = len(part) if len(part) <= MAX_SHORT_PART else max(MIN_RUN, (len(part) + 1) // 2)
    return any(part[start : start + size] in text for start in range(len(part) - size + 1))
