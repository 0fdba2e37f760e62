"""The languages that the network has learned, by their codes (ISO 639-1), and their letters."""

import unicodedata
from functools import cache

# In the order of the columns that the weights have for them: a further one is appended.
NAMES = dict(
    pair.split(":")
    for pair in (
        "af:Afrikaans ar:Arabic be:Belarusian bg:Bulgarian bn:Bengali ca:Catalan cs:Czech da:Danish"
        " de:German el:Greek en:English eo:Esperanto es:Spanish et:Estonian eu:Basque fa:Persian fi:Finnish"
        " fr:French ga:Irish gl:Galician he:Hebrew hi:Hindi hr:Croatian hu:Hungarian hy:Armenian"
        " id:Indonesian is:Icelandic it:Italian ja:Japanese ka:Georgian kk:Kazakh ko:Korean lt:Lithuanian"
        " lv:Latvian mk:Macedonian mn:Mongolian ms:Malay nl:Dutch no:Norwegian pl:Polish pt:Portuguese"
        " ro:Romanian ru:Russian sk:Slovak sl:Slovenian sq:Albanian sr:Serbian sv:Swedish ta:Tamil"
        " te:Telugu th:Thai tl:Tagalog tr:Turkish uk:Ukrainian ur:Urdu vi:Vietnamese zh:Chinese"
    ).split()
)
# Unicode's words for the letters of these languages.
_LETTERS_KNOWN = frozenset(
    "LATIN CYRILLIC GREEK ARABIC HEBREW DEVANAGARI BENGALI TAMIL TELUGU THAI GEORGIAN ARMENIAN CJK HIRAGANA"
    " KATAKANA HANGUL HALFWIDTH FULLWIDTH MODIFIER FEMININE MASCULINE MICRO KATAKANA-HIRAGANA MATHEMATICAL"
    " DOUBLE-STRUCK SCRIPT BLACK-LETTER INFORMATION IDEOGRAPHIC VULGAR".split()
)


@cache
def read_unknown_script(letter: str) -> str:
    """The script of a letter that the network has never learned: "Ethiopic"; empty for any other sign."""
    script = unicodedata.name(letter, "").partition(" ")[0]
    return "" if letter.isascii() or not script or script in _LETTERS_KNOWN else script.title()
