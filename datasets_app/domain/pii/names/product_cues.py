"""Whether the words directly beside a term speak of a product: "the Jenkins server", "installed Julia"."""

import re

from datasets_app.domain.pii.word_lists import read_word_lists

# Directly behind a product.
_NOUNS = read_word_lists(__file__)["nouns"]
# Directly before a product, and seldom before a person.
_CUES_BEFORE = read_word_lists(__file__)["before"]
# What software does, directly behind its name.
_DEEDS = read_word_lists(__file__)["deeds"]
_OWNERS = frozenset({"our", "your"})
_LAST_WORD, _NEXT_WORD = re.compile(r"([\w-]+)\s+$"), re.compile(r"(?:['’]s)?\s+([\w-]+)")
_MAX_CUE_CHARACTERS = 30


def build_cue_patterns() -> tuple[str, str]:
    """What :func:`has_product_cue` looks for before and behind a term, as expressions of PostgreSQL."""
    behind = "|".join(sorted(_NOUNS | _DEEDS))
    return rf"\m({'|'.join(sorted(_CUES_BEFORE | _OWNERS))})\s+$", rf"^(['’]s)?\s+({behind})\M"


def has_product_cue(text: str, start: int, end: int) -> bool:
    """Whether the words directly before or behind ``text[start:end]`` speak of a product."""
    before = _LAST_WORD.search(text[max(0, start - _MAX_CUE_CHARACTERS) : start])
    behind = _NEXT_WORD.match(text[end : end + _MAX_CUE_CHARACTERS])
    if before and before[1].lower() in _CUES_BEFORE | _OWNERS:
        return True
    return behind is not None and (behind[1].lower() in _NOUNS or behind[1].lower() in _DEEDS)
