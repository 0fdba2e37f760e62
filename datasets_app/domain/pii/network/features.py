"""The features of each word: numbers of rows in the table of the network.

A word is seen by its form, beginning, ending and pieces, and by what the lexicon knows of it; itself only if
it is an ordinary word, so that the weights hold no list of names. A character of a script without spaces is
seen with its neighbors and with the words of the lexicon that it may be part of.
"""

import re
import zlib
from collections.abc import Callable, Sequence

from datasets_app.domain.pii.network.lexicon import (
    COMMON,
    FIRST,
    KNOWN_LEVEL,
    LAST,
    TELLING_LEVEL,
    fold_word,
    look_up,
    read_code,
    strip_marks,
)
from datasets_app.domain.pii.network.vectors import load_vectors
from datasets_app.domain.pii.network.words import (
    Word,
    describe_gaps,
    has_lone_characters,
    is_placeholder,
    is_read_alone,
)

TABLE_ROWS = 1 << 17
EXACT, GRAMS = 18, 12
FEATURES = EXACT + GRAMS
VECTOR = FEATURES  # where the row of the word's vector stands behind its features
_MAX_WINDOW = 5  # characters of a word that is looked for around one
_MAX_STEM_CUT = 3
_SHORT_NUMBER = 3
_LONGEST = 40  # characters of a word that are read
_FIRST_GREEK = "\u0370"
_DIGITS = re.compile(r"\d")
_PART = re.compile(r"[^\W\d_]+")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_MIN_PART, _MAX_PARTS, _PART_FEATURES = 3, 3, 8

Hide = Callable[[str, int], int]


# Beside these a frequent word or a short number may be a value: "born on the seventh of May".
_OF_BIRTH = frozenset("born birth birthday birthdays".split())


class FeatureReader:
    """Features of words, with a cache; ``hide`` changes what the lexicon says (in training)."""

    def __init__(self, hide: Hide | None = None, most: int = 200_000) -> None:
        self._hide = hide
        self._most = most
        self._vectors = load_vectors()
        self._codes: dict[str, int] = {}
        self._rows: dict[str, int] = {}
        self._known: dict[str, tuple[int, ...]] = {}

    def read(self, text: str, words: Sequence[Word]) -> tuple[list[tuple[int, ...]], list[int]]:
        """For each word its features and the row of its vector [words, FEATURES + 1] (0 is none), and what
        stands before it."""
        gaps = describe_gaps(text, [(word.start, word.end) for word in words])
        if not has_lone_characters(text):
            return self.read_words([word.text for word in words]), gaps
        self._forget()
        self._learn_codes(words, gaps)
        rows = []
        for number, word in enumerate(words):
            if is_read_alone(word.text):
                rows.append(self._describe_character(words, gaps, number))
            else:
                rows.append(self._read_word(word.text))
        return rows, gaps

    def read_words(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """The features of words in scripts with spaces [words, FEATURES + 1]."""
        self._forget()
        wanted: set[str] = set()
        for word in words:
            if word not in self._known:
                wanted.update(_list_readings(word))
        self._look_up(wanted)
        return [self._read_word(word) for word in words]

    def tells_language(self, word: str) -> bool:
        """Whether a word that was read is an ordinary one of some language, and no name, or not in Latin
        letters."""
        if word[0] >= _FIRST_GREEK and word[0].isalpha():
            return True
        facts = read_code(self._codes[fold_word(word[:_LONGEST])])
        return (
            facts.common >= TELLING_LEVEL
            and not facts.first
            and not facts.last
            and len(word) > 1
            and word.isalpha()
        )

    def is_plain(self, word: str) -> bool:
        """Whether a word that was read is a frequent ordinary one, a sign or a short number."""
        if not word[0].isalnum():
            return len(word) == 1 or is_placeholder(word)
        if word.isdigit():
            return len(word) <= _SHORT_NUMBER
        letters = word.replace("'", "").replace("’", "")
        if letters.lower() in _OF_BIRTH:
            return False
        return (
            letters.isalpha() and read_code(self._codes[fold_word(word[:_LONGEST])]).common >= TELLING_LEVEL
        )

    def _forget(self) -> None:
        if len(self._codes) > self._most:
            self._codes.clear()
            self._rows.clear()
            self._known.clear()

    def _read_word(self, word: str) -> tuple[int, ...]:
        found = self._known.get(word)
        if found is None:
            found = self._known[word] = _pad(self._describe_word(word), self._find_vector(word))
        return found

    def _find_vector(self, word: str) -> int:
        """The row of the word's vector, or of its longest beginning that has one."""
        if is_placeholder(word) or _DIGITS.search(word):
            return 0
        rows = (self._rows[form] for form in _list_forms(fold_word(word[:_LONGEST])))
        return next(filter(None, rows), 0)

    def _learn_codes(self, words: Sequence[Word], gaps: Sequence[int]) -> None:
        wanted: set[str] = set()
        for number, word in enumerate(words):
            if is_read_alone(word.text):
                wanted.update(_list_windows(words, gaps, number))
            elif word.text not in self._known:
                wanted.update(_list_readings(word.text))
        self._look_up(wanted)

    def _look_up(self, wanted: set[str]) -> None:
        new = sorted(word for word in wanted if word not in self._codes)
        codes = look_up(new)
        if self._hide:
            codes = [self._hide(word, code) for word, code in zip(new, codes, strict=True)]
        self._codes.update(zip(new, codes, strict=True))
        self._rows.update(zip(new, self._vectors.find(new), strict=True))

    def _describe_word(self, word: str) -> list[str]:
        if is_placeholder(word):
            return ["placeholder"]
        plain = fold_word(word[:_LONGEST])
        bare = strip_marks(plain)
        code = self._codes[plain]
        if not code and bare != plain:
            code = self._codes[bare]
        stems = [self._codes[stem] % COMMON for stem in _list_stems(plain)]
        is_code = _DIGITS.search(plain) is not None
        seen = [
            f"w{_name_word(plain, code, is_code)}",
            f"s{describe_form(word)}",
            f"c{code}",
            f"t{max((stem % 3 for stem in stems), default=0)}{max((stem // 3 for stem in stems), default=0)}",
        ]
        if not _is_word(plain):
            return seen
        parts = list_parts(word)
        if len(parts) > 1 or is_code:
            seen += [f"{place}q{self._codes[part]}" for place, part in enumerate(parts[:_MAX_PARTS])]
            first = _name_word(parts[0], self._codes[parts[0]], False) if is_code and parts else ""
            seen.append(f"r{len(parts)}{first}")
            seen += [""] * (_PART_FEATURES - len(seen))
        elif not code and len(plain) > _MIN_PART:
            seen += [f"i{self._codes[plain[1:]] % COMMON}", f"j{self._describe_split(plain)}"]
        seen += [""] * (_PART_FEATURES - len(seen))
        if not is_code:
            seen += [f"p{size}{plain[:size]}" for size in (1, 2, 3, 4)]
            seen += [f"e{size}{plain[-size:]}" for size in (1, 2, 3, 4, 5)]
            seen.append(f"b{bare[-3:]}")
        seen += [""] * (EXACT - len(seen))
        framed = f"<{bare}>"
        grams = [f"g{framed[place : place + 4]}" for place in range(max(1, len(framed) - 3))]
        return seen + grams[:GRAMS]

    def _describe_split(self, plain: str) -> str:
        """The two known words of which an unknown one consists, as far as they are names or ordinary."""
        best = (0, "")
        for first, last in _list_splits(plain):
            kinds = [_classify(self._codes[part]) for part in (first, last)]
            if all(kinds):
                best = max(best, (min(len(first), len(last)), "".join(kinds)))
        return best[1]

    def _describe_character(self, words: Sequence[Word], gaps: Sequence[int], number: int) -> tuple[int, ...]:
        before2, before, here, behind, behind2 = (
            _get_neighbor(words, gaps, number, distance) for distance in (-2, -1, 0, 1, 2)
        )
        first, last, common = self._match_windows(words, gaps, number)
        seen = (
            f"1{here}",
            f"2{before}{here}",
            f"3{here}{behind}",
            f"4{before}{here}{behind}",
            f"5{before2}{before}{here}",
            f"6{here}{behind}{behind2}",
            f"7{before}",
            f"8{behind}",
            f"9{before2}{before}",
            f"0{behind}{behind2}",
            f"C{self._codes.get(here, 0)}",
            f"F{first}",
            f"L{last}",
            f"O{common}",
            f"A{first}{last}{common}",
        )
        size, place, _level = map(int, common)
        whole = "".join(word.text for word in words[number - place : number - place + max(size, 1)])
        return _pad(list(seen), self._rows.get(whole, 0))

    def _match_windows(self, words: Sequence[Word], gaps: Sequence[int], number: int) -> tuple[str, str, str]:
        """The longest first name, last name and ordinary word around a character: length and place in it."""
        best = {FIRST: (0, 0, 0), LAST: (0, 0, 0), COMMON: (0, 0, 0)}
        low = number
        while (
            low > 0
            and number - low < _MAX_WINDOW - 1
            and gaps[low] == 0
            and is_read_alone(words[low - 1].text)
        ):
            low -= 1
        for start in range(low, number + 1):
            joined = "".join(word.text for word in words[start:number])
            for end in range(number, min(start + _MAX_WINDOW, len(words))):
                if end > start and (gaps[end] or not is_read_alone(words[end].text)):
                    break
                joined += words[end].text
                code = self._codes.get(joined, 0)
                if code and end > start:
                    facts = read_code(code)
                    size = end - start + 1
                    for weight, level in ((FIRST, facts.first), (LAST, facts.last), (COMMON, facts.common)):
                        if level and size > best[weight][0]:
                            best[weight] = (size, number - start, level)
        return tuple("".join(map(str, best[weight])) for weight in best)  # type: ignore[return-value]


def describe_form(word: str) -> str:
    """Capitals, digits, length and script, as far as they distinguish names from other words."""
    if not word[0].isalnum() and not _is_word(word):
        return word if len(word) == 1 else "sign"
    if "@" in word[1:] or "://" in word:
        return "address"
    if _DIGITS.search(word):
        form = re.sub(r"[^\W\d_]+", lambda part: "X" if part.group().isupper() else "x", word)
        return re.sub(r"\d+", lambda part: "0" * min(len(part.group()), 9), form)[:24]
    if "_" in word:
        return "x_x"
    if word.islower():
        case = "x"
    elif word.isupper():
        case = "X" if len(word) > 1 else "I"
    elif word[0].isupper() and word[1:].islower():
        case = "Xx"
    else:
        case = "?" if word.lower() == word.upper() else "xX"
    joined = "'" if "'" in word or "’" in word else ""
    return f"{case}{min(len(word), 12)}{_get_script(word[0])}{joined}"


def _get_script(sign: str) -> str:
    point = ord(sign)
    return "L" if point < 0x250 else hex(point >> 7)


def _name_word(plain: str, code: int, is_code: bool) -> str:
    if plain.isdigit():
        return plain if len(plain) < 3 else "0" * min(len(plain), 20)
    if is_code or "@" in plain[1:]:
        return "code"
    return plain if code >= KNOWN_LEVEL * COMMON or len(plain) < 2 else "?"


def _list_readings(word: str) -> list[str]:
    """The strings whose codes a word's features need."""
    plain = fold_word(word[:_LONGEST])
    found = _list_forms(plain)
    if _is_word(plain):
        parts = list_parts(word)
        if len(parts) > 1 or _DIGITS.search(plain):
            found += parts[:_MAX_PARTS]
        elif len(plain) > _MIN_PART:
            found += [plain[1:], *(part for pair in _list_splits(plain) for part in pair)]
    return found


def _is_word(plain: str) -> bool:
    """Whether it is neither a sign nor a number."""
    return (plain[0].isalnum() or (plain[0] == "_" and len(plain) > 2)) and not plain.isdigit()


def list_parts(word: str) -> list[str]:
    """The words that are joined in an identifier, folded: "ravenComet_7" has two."""
    pattern = _CAMEL if word.isascii() else _PART
    return [fold_word(part) for part in pattern.findall(word[:_LONGEST])]


def _list_splits(plain: str) -> list[tuple[str, str]]:
    return [(plain[:at], plain[at:]) for at in range(_MIN_PART, len(plain) - _MIN_PART + 1)]


def _classify(code: int) -> str:
    """Whether a part is known as a name (n), as an ordinary word (w), or not at all."""
    if code >= TELLING_LEVEL * COMMON:
        return "w"
    return "n" if code % COMMON else "v" if code >= COMMON else ""


def _list_forms(plain: str) -> list[str]:
    """A word, without its marks, and its beginnings."""
    return [plain, strip_marks(plain), *_list_stems(plain)]


def _list_stems(plain: str) -> list[str]:
    return [plain[:-cut] for cut in range(1, _MAX_STEM_CUT + 1) if len(plain) - cut >= 3]


def _get_neighbor(words: Sequence[Word], gaps: Sequence[int], number: int, distance: int) -> str:
    """The character at a distance; a blank where the line of characters ends."""
    place = number
    step = 1 if distance > 0 else -1
    for _ in range(abs(distance)):
        edge = place if step < 0 else place + 1
        if not 0 <= place + step < len(words) or gaps[edge]:
            return "_"
        place += step
    text = words[place].text
    return text if len(text) <= 2 else "w"


def _list_windows(words: Sequence[Word], gaps: Sequence[int], number: int) -> list[str]:
    """The strings of up to five characters that begin here."""
    found, joined = [], ""
    for end in range(number, min(number + _MAX_WINDOW, len(words))):
        if end > number and (gaps[end] or not is_read_alone(words[end].text)):
            break
        joined += words[end].text
        found.append(joined)
    return found


def _pad(seen: list[str], vector: int) -> tuple[int, ...]:
    numbers = [
        1 + zlib.crc32(value.encode("utf-8", "surrogatepass")) % (TABLE_ROWS - 1) if value else 0
        for value in seen
    ]
    return (*numbers, *[0] * (FEATURES - len(numbers)), vector)
