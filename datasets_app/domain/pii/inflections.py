"""The case forms of a name in Slavic, Baltic and Greek languages: Nováková, Novákové, Novákovou.

All work on words in lower case without accents. A form is the stem of the name with another ending; a stem
may lose its last vowel (Marek, Markem) or soften its last consonant (Olga, Olze).
"""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.network import lexicon

MIN_STEM_LETTERS = 3
# More common words mean what they say: "data" isn't a form of Dana.
MAX_COMMON_LEVEL = 3
_VOWELS = "aeiouyаеёиоуыэюяіїєьαεηιουω"
_OWN_ENDING = re.compile(f"(?:[{_VOWELS}][sςй]?|[sςй])$")
# Case endings begin with a vowel, but for Greek and Lithuanian genitives (Άννας), and have few consonants.
_ENDING = re.compile(f"[{_VOWELS}][{_VOWELS}vwmhjgnsвмхйгтςν]{{0,3}}|[sςй]")
_LAST_VOWEL = re.compile("[eoеоиі](?=[^\\W\\d_]$)")
_SOFTENED = {"k": "c", "g": "z", "h": "z", "t": "c", "к": "ц", "г": "з", "х": "с"}


def list_stems(word: str) -> Iterator[str]:
    """What forms of a folded word begin with."""
    stem = _OWN_ENDING.sub("", word)
    stems = {word, stem, _LAST_VOWEL.sub("", stem)}
    stems |= {stem[:-1] + _SOFTENED[stem[-1]] for stem in stems if stem and stem[-1] in _SOFTENED}
    return (stem for stem in stems if len(stem) >= MIN_STEM_LETTERS)


def find_ending(folded: str, start: int, stem: str) -> int:
    """Where the case ending behind a stem ends; it is shorter than the stem, and may be empty."""
    end = start + len(stem)
    found = _ENDING.match(folded, end, end + len(stem) - 1)
    return found.end() if found else end


def is_common(word: str) -> bool:
    """Whether a form is an ordinary word of any language rather than somebody's name."""
    [code] = lexicon.look_up([lexicon.fold_word(word)])
    return look_up_word(word).common > 0 or lexicon.read_code(code).common > MAX_COMMON_LEVEL
