"""Training rows: a text, what each word in it is, and what is left open.

What a corpus doesn't mark is not denied: each word has the set of classes that it may be, and learning
rewards the sum of them.
"""

import gzip
import importlib
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.pii_sets.templates import choose_locale
from benchmarks.pii_sets.values import LOCALES_BY_LANGUAGE
from datasets_app.domain.pii.network.lexicon import COMMON, fold_word, look_up, read_code
from datasets_app.domain.pii.network.runtime import CLASSES, LANGUAGES
from datasets_app.domain.pii.network.words import Word, is_read_alone, split_words
from scripts.marked_texts.sources import make_source
from scripts.network.addresses import Addresses
from scripts.network.identifiers import Identifiers

_BITS = {name: 1 << number for number, name in enumerate(CLASSES)}
ANY = (1 << len(CLASSES)) - 1
ORDINARY, NAME = _BITS["ORDINARY"], _BITS["NAME"]
_THINGS = _BITS["ORGANIZATION"] | _BITS["PLACE"] | _BITS["PRODUCT"]
_NUMBERS = _BITS["PHONE"] | _BITS["DATE_OF_BIRTH"] | _BITS["ID_NUMBER"] | _BITS["ACCOUNT"] | _BITS["ADDRESS"]
_MARKS = {
    "N": "NAME", "U": "HANDLE", "P": "PHONE", "A": "ADDRESS", "D": "DATE_OF_BIRTH", "I": "ID_NUMBER",
    "K": "ACCOUNT",
    "O": "ORGANIZATION", "L": "PLACE", "B": "PRODUCT",
}  # fmt: skip
_LABELS = {
    "PERSON": NAME, "NAME": NAME, "LOC": _BITS["PLACE"] | _BITS["ADDRESS"], "PLACE": _BITS["PLACE"],
    "ORG": _BITS["ORGANIZATION"] | _BITS["PRODUCT"], "ORGANIZATION": _BITS["ORGANIZATION"] | _BITS["PRODUCT"],
    "ORGANISATION": _BITS["ORGANIZATION"] | _BITS["PRODUCT"],
    "ID_BY_CUE": _BITS["ID_NUMBER"], "SSN": _BITS["ID_NUMBER"], "CREDIT_CARD": _BITS["ACCOUNT"],
    "IBAN": _BITS["ACCOUNT"], **{name: _BITS[name] for name in CLASSES[1:8]},
}  # fmt: skip
_MARK = re.compile(r"«([NUPADIKOLB]):([^»]*)»")
_SLOT = re.compile(r"\{(first|last|full|foreign|user|address|line|postal|zip|birth)\}")
LOCALES = dict(
    pair.split(":")
    for pair in (
        "ar:ar_SA bg:bg_BG bn:bn_BD cs:cs_CZ da:da_DK de:de_DE el:el_GR en:en_US es:es_ES et:et_EE "
        "fa:fa_IR fi:fi_FI fr:fr_FR he:he_IL hi:hi_IN hr:hr_HR hu:hu_HU hy:hy_AM id:id_ID is:is_IS "
        "it:it_IT ja:ja_JP ka:ka_GE ko:ko_KR lt:lt_LT lv:lv_LV nl:nl_NL no:no_NO pl:pl_PL pt:pt_BR "
        "ro:ro_RO ru:ru_RU sk:sk_SK sl:sl_SI sv:sv_SE ta:ta_IN th:th_TH tr:tr_TR uk:uk_UA vi:vi_VN "
        "zh:zh_CN"
    ).split()
)


class Row(NamedTuple):
    """``allowed``: for each word the classes it may be, as bits."""

    text: str
    words: list[Word]
    allowed: list[int]
    language: str


def make_row(text: str, spans: Iterable[tuple[int, int, int]], rest: int, language: str) -> Row:
    """``spans``: start, end, classes; ``rest``: the classes of what is in none."""
    words = split_words(text)
    allowed = []
    marked = sorted(spans)
    for word in words:
        found = [bits for start, end, bits in marked if start < word.end and word.start < end]
        extra = _NUMBERS if rest & ORDINARY and rest != ORDINARY | _THINGS and word.text.isdigit() else 0
        allowed.append(found[0] if found else rest | extra)
    return Row(text, words, allowed, language)


_LISTS = Path(__file__).parent / "lists"
_COMPOSED = {"zh": (0.75, ""), "ko": (0.92, "")}  # share of given names of two characters
_FAMILY_FIRST = frozenset({"zh", "ja", "ko", "hu", "vi"})
_UNSPACED = frozenset({"zh", "ja", "ko"})
_OWN_LISTS_SHARE = 0.7


class Names:
    """Names of the people of a language: by Faker, and by lists of our own where Faker has few."""

    def __init__(self, choose: random.Random) -> None:
        from faker import Faker
        from wordfreq import top_n_list

        self._choose = choose
        self._makers: dict[str, Any] = {}
        for language, locale in LOCALES.items():
            self._makers[language] = Faker(locale)
            self._makers[language].seed_instance(choose.randrange(1 << 30))
        self._lists = {path.stem: _read_names(path) for path in sorted(_LISTS.glob("*.txt"))}
        self._lists["first-ja"], self._lists["last-ja"] = _read_japanese()
        self._languages = list(LOCALES)
        self._identifiers = Identifiers(top_n_list("en", _IDENTIFIER_WORDS), choose)
        self._addresses = Addresses(LOCALES, choose)
        self._met: dict[str, set[str]] = {}
        self._pools: dict[str, _Pool] = {}

    def fill(self, slot: str, language: str) -> str:
        """A value for ``slot``: a name (first, last, full, or foreign, a full one of another language), a
        user name, a birth date, an address or a part of one."""
        if slot in ("address", "line", "postal", "zip"):
            return self._addresses.make(slot, language)
        if slot == "birth":
            return self._make_date("DOB", language)
        if slot == "foreign":
            alike = [
                name for name in self._languages if name != language and is_latin(name) == is_latin(language)
            ]
            language, slot = self._choose.choice(alike), "full"
        first, last = self._draw("first", language), self._draw("last", language)
        if slot == "user":
            return self._identifiers.make_user(first, last)
        if slot == "full":
            joiner = "" if language in _UNSPACED and self._choose.random() < 0.8 else " "
            return joiner.join((last, first) if language in _FAMILY_FIRST else (first, last))
        return first if slot == "first" else last

    def fill_ordinary(self, slot: str, language: str) -> str:
        """What isn't a value: an identifier of code or of a thing, a date, a number (``n``, ``d``), or what
        streets and towns are called by (``base``, ``town``)."""
        if slot == "code":
            return self._identifiers.make_code()
        return self._make_date("date", language) if slot == "date" else self._addresses.make_part(slot)

    def _make_date(self, slot: str, language: str) -> str:
        """A date in figures where nothing knows the months of the language."""
        is_known = language in LOCALES_BY_LANGUAGE
        spoken = language if is_known else "de"
        source = make_source(self._choose, choose_locale(self._choose, spoken), spoken)
        while True:
            date = str(source.make(slot)[0].text)
            if is_known or not any(map(str.isalpha, date)):
                return date

    def learn(self, language: str, name: str) -> None:
        """Remembers the words of a person's name that a corpus has, in whatever form."""
        self._met.setdefault(language, set()).update(word for word in name.split() if word.istitle())

    def inflect_another(self, word: str, language: str) -> str:
        """Another name in the form of ``word``: for "Сергею" maybe "Алексею"; ``word`` itself if no name that
        is known has such a form."""
        if language not in self._pools:
            drawn = {self._draw(part, language) for part in ("first", "last") for _ in range(_POOL_DRAWS)}
            self._pools[language] = _Pool(drawn | self._met.get(language, set()))
        return self._pools[language].inflect_another(word, self._choose)

    def _draw(self, part: str, language: str) -> str:
        if self._choose.random() < _OWN_LISTS_SHARE:
            if part == "first" and f"given-{language}" in self._lists:
                share, joiner = _COMPOSED[language]
                signs = self._lists[f"given-{language}"]
                return joiner.join(self._choose.sample(signs, 1 + (self._choose.random() < share)))
            if names := self._lists.get(f"{part}-{language}"):
                return self._choose.choice(names)
        maker = self._makers.get(language) or self._makers["en"]
        return str(maker.first_name() if part == "first" else maker.last_name())


_IDENTIFIER_WORDS = 20_000
_ORDINARY_SLOT = re.compile(r"\{(code|date|n|d|base|town)\}")
_POOL_DRAWS = 5000
_MIN_STEM, _MAX_ENDING, _MAX_FORM_ENDING, _FEWEST_ALIKE = 3, 2, 5, 5


class _Pool:
    """Names of a language, to inflect by analogy: Сергей is to Сергею as Алексей to Алексею."""

    def __init__(self, names: set[str]) -> None:
        self._by_beginning: dict[str, list[str]] = {}
        self._by_ending: dict[str, list[str]] = {}
        for name in sorted(name for name in names if len(name) > _MIN_STEM and name.isalpha()):
            self._by_beginning.setdefault(name[:_MIN_STEM].lower(), []).append(name)
            for size in range(1, 5):
                self._by_ending.setdefault(name[-size:].lower(), []).append(name)

    def inflect_another(self, word: str, choose: random.Random) -> str:
        lower = word.lower()
        base = max(
            self._by_beginning.get(lower[:_MIN_STEM], [""]),
            key=lambda name: (_count_shared(lower, name.lower()), -len(name)),
        )
        shared = _count_shared(lower, base.lower())
        if not base or len(base) - shared > _MAX_ENDING or len(word) - shared > _MAX_FORM_ENDING:
            return word
        for before in (2, 1):
            alike = self._by_ending.get(base[shared - before :].lower(), ())
            if len(alike) >= _FEWEST_ALIKE:
                other = choose.choice(alike)
                made = other[: len(other) - (len(base) - shared)] + word[shared:]
                return made.lower() if word.islower() else made
        return word


def _count_shared(one: str, other: str) -> int:
    count = 0
    while count < min(len(one), len(other)) and one[count] == other[count]:
        count += 1
    return count


def _read_names(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [name for line in lines for name in line.partition("#")[0].split()]


def _read_japanese() -> tuple[list[str], list[str]]:
    """First and last names of the dictionary in Janome, which has no frequencies."""
    first, last = set(), set()
    for number in range(10):
        extra = importlib.import_module(f"janome.sysdic.entries_extra{number}").DATA
        compact = importlib.import_module(f"janome.sysdic.entries_compact{number}").DATA
        for key, (part, *_rest) in extra.items():
            surface = compact[key][0]
            if "人名,姓" in part and 2 <= len(surface) <= 3:
                last.add(surface)
            elif "人名,名" in part and 2 <= len(surface) <= 3:
                first.add(surface)
    return sorted(first), sorted(last)


def is_latin(language: str) -> bool:
    return language not in {
        "ar",
        "bg",
        "bn",
        "el",
        "fa",
        "he",
        "hi",
        "hy",
        "ja",
        "ka",
        "ko",
        "ru",
        "ta",
        "th",
        "uk",
        "zh",
    }


def read_chat_lines(path: Path) -> list[str]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.strip().replace("\\n", "\n") for line in lines if line.strip() and not line.startswith("#")]


# Languages whose names take no endings, so that a name may take another's place.
_UNINFLECTED = frozenset("en de fr es it pt nl sv da no vi id zh ja ko he".split())
_EXCHANGED, _THINGS_LIKE_PEOPLE = 0.5, 0.12
# How often a thing whose name people have ("Julia") has that of other people.
_NAMED_LIKE_PEOPLE = 0.8
_GIVEN_SIGNS = 2  # that a given name has at most in Chinese, Japanese and Korean
_ONE_WORD = re.compile(r"[^\W\d_]+")


def render_chat_line(line: str, language: str, names: Names, choose: random.Random | None = None) -> Row:
    """``choose``: exchange some of the names that are written out, and call some things like people."""
    text, spans, place = "", [], 0
    line = _ORDINARY_SLOT.sub(lambda slot: names.fill_ordinary(slot[1], language), line)
    for mark in _MARK.finditer(line):
        text += line[place : mark.start()]
        value = _SLOT.sub(lambda slot: names.fill(slot[1], language), mark[2])
        if choose and value == mark[2]:
            value = _exchange(value, mark[1], language, names, choose)
        spans.append((len(text), len(text) + len(value), _BITS[_MARKS[mark[1]]]))
        text += value
        place = mark.end()
    return make_row(text + line[place:], spans, ORDINARY | _THINGS, language)


def _exchange(value: str, kind: str, language: str, names: Names, choose: random.Random) -> str:
    """Another name of the same form; a product or place of one word now and then named like a person."""
    words = value.split(" ")
    if kind == "N" and choose.random() < _EXCHANGED:
        if language not in _UNINFLECTED:
            return " ".join(names.inflect_another(word, language) for word in words)
        if all(map(_ONE_WORD.fullmatch, words)) and len(words) < 3:
            is_full = len(words) == 2 or (language in _UNSPACED and len(value) > _GIVEN_SIGNS)
            made = names.fill("full" if is_full else "first", language)
            return made.lower() if value.islower() else made
    elif kind == "U" and value[0].isalnum() and choose.random() < _EXCHANGED:
        return names.fill("user", language)
    elif kind in "BLO" and len(words) == 1 and value.istitle():
        share = _NAMED_LIKE_PEOPLE if _is_first_name(value) else _THINGS_LIKE_PEOPLE
        if choose.random() < share:
            return names.fill(choose.choice(("first", "last")), language)
    return value


def _is_first_name(word: str) -> bool:
    """Whether the word is frequent as a first name."""
    return read_code(look_up([fold_word(word)])[0]).first > 1


def read_news(path: Path, choose: random.Random, most: int, names: Names) -> Iterator[Row]:
    """Sentences of newspapers, encyclopedias and the web in which people are marked."""
    language = path.name.partition(".")[0]
    with gzip.open(path, "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    choose.shuffle(lines)
    for line in lines[:most]:
        spans = [(span["start"], span["end"], _LABELS[span["label"]]) for span in line["spans"]]
        rest = ORDINARY | _BITS["PRODUCT"] if "classes" not in line else ORDINARY | _THINGS
        text = line["text"]
        for start, end, bits in spans:
            if bits == NAME:
                names.learn(language, text[start:end])
        if "Tatoeba" in line["source"] and language in LOCALES and len(spans) == 1 and choose.random() < 0.8:
            start, end, bits = spans[0]
            value = names.fill("first", language)
            text = text[:start] + value + text[end:]
            spans = [(start, start + len(value), bits)]
        yield make_row(text, spans, rest, language)


def read_marked(lines: Iterable[str], rest: int) -> Iterator[Row]:
    """Rows in which somebody marked names and things, and no numbers, user names or addresses."""
    for line in lines:
        row = json.loads(line)
        spans = [
            (span["start"], span["end"], _LABELS.get(span.get("type") or span.get("label"), ANY))
            for span in row["spans"]
        ]
        yield _leave_values_open(make_row(row["text"], spans, rest, "en"), rest)


# What tells that a text may have an address that nobody marked.
_ADDRESS_SIGNS = re.compile(
    r"\d.*\b(street|str|st|road|rd|ave|avenue|drive|dr|lane|ln|blvd|way|court|ct|place|apt|zip)\b"
    r"|\b(address|zip|postcode)\b.*\d|\b[a-z]{2},? \d{5}\b",
    re.IGNORECASE | re.DOTALL,
)


def _leave_values_open(row: Row, rest: int) -> Row:
    """What has a digit may be a value, and in a text that may have an address each word may be part of it."""
    extra = _BITS["ADDRESS"] if _ADDRESS_SIGNS.search(row.text) else 0
    return row._replace(
        allowed=[
            bits | extra | (_NUMBERS | _BITS["HANDLE"] if any(map(str.isdigit, word.text)) else 0)
            if bits & rest & ORDINARY
            else bits
            for word, bits in zip(row.words, row.allowed, strict=True)
        ]
    )


_ANSWERS = 2  # how often an answer comes with its question


def read_examples(examples: Iterable[Any]) -> Iterator[Row]:
    """Texts with marked values (``scripts.marked_texts``): alone, and some behind their question."""
    for example in examples:
        spans = [(span["start"], span["end"], _LABELS.get(span["type"], ANY)) for span in example.spans]
        language = example.language if example.language in LANGUAGES else "en"
        yield make_row(example.text, spans, REST_OF_NAMES, language)
        if example.question:
            before = f"{example.question}\n"
            shifted = [(start + len(before), end + len(before), bits) for start, end, bits in spans]
            for _ in range(_ANSWERS):
                yield make_row(before + example.text, shifted, REST_OF_NAMES, language)


def read_sentences(sentences: Iterable[Any]) -> Iterator[Row]:
    """The sentences of the English name model (``scripts.name_model``)."""
    for sentence in sentences:
        spans = [(span.start, span.end, _LABELS.get(span.label, ANY)) for span in sentence.spans]
        yield make_row(sentence.text, spans, REST_OF_NAMES, "en")


REST_OF_NAMES = ORDINARY | _THINGS
REST_OF_ENTITIES = ORDINARY | _BITS["PRODUCT"]


def restyle(row: Row, choose: random.Random) -> Row:
    """The row as somebody else types it: all lower or upper case, without the marks of accents or the last
    sign."""
    draw = choose.random()
    text = row.text
    if draw < 0.22:
        text = text.lower()
    elif draw < 0.25:
        text = text.upper()
    elif draw < 0.28:
        text = text[:1].lower() + text[1:]
    elif draw < 0.31 and text[-1:] in ".!?":
        text = text[:-1]
    elif draw < 0.34:
        text = text.title() if len(text.title()) == len(text) else text
    if len(text) not in (len(row.text), len(row.text) - 1) or text == row.text:
        return row
    words = split_words(text)
    if [(word.start, word.end) for word in words] != [(w.start, w.end) for w in row.words][: len(words)]:
        return row
    return Row(text, words, row.allowed[: len(words)], row.language)


def cut_beginning(row: Row, choose: random.Random) -> Row:
    """The row from one of its words on, with a capital: what begins a sentence need not be a name."""
    if len(row.words) < 4:
        return row
    first = choose.randrange(1, len(row.words) - 2)
    start = row.words[first].start
    text = row.text[start:]
    if len(text[0].upper()) == 1:
        text = text[0].upper() + text[1:]
    words = split_words(text)
    if [word.start + start for word in words] != [word.start for word in row.words[first:]]:
        return row
    return Row(text, words, row.allowed[first:], row.language)


_MASKED = 0.7
_VOCABULARY, _MIN_VARIED = 60_000, 4
_COUNTED_AS = {"hr": "sh", "sr": "sh", "no": "nb", "tl": "fil"}
_PLACEHOLDERS = {bits: f"[{name}]" for name, bits in _BITS.items() if name in CLASSES[1:8]}


def mask_values(row: Row, choose: random.Random) -> Row:
    """The row as it is after a scrub that found some of its values: placeholders are nobody."""
    values: list[str | None] = []
    for number, bits in enumerate(row.allowed):
        if bits not in _PLACEHOLDERS:
            values.append(None)
        elif number and row.allowed[number - 1] == bits:
            values.append("" if values[-1] is not None else None)
        else:
            values.append(_PLACEHOLDERS[bits] if choose.random() < _MASKED else None)
    return _replace_words(row, values)


def _replace_words(row: Row, values: Sequence[str | None]) -> Row:
    """The row with other words; None leaves one as it is, and an empty one belongs to the word before it."""
    text, end, spans = "", 0, []
    for word, bits, value in zip(row.words, row.allowed, values, strict=True):
        if value != "":
            text += row.text[end : word.start]
            start = len(text)
            text += word.text if value is None else value
            spans.append((start, len(text), ORDINARY if value in _PLACEHOLDERS.values() else bits))
        end = word.end
    return make_row(text, spans, ORDINARY, row.language)


class Vocabulary:
    """The ordinary words of a language by their endings, to say something else in the same grammar."""

    def __init__(self) -> None:
        self._by_ending: dict[str, dict[str, list[str]]] = {}

    def vary(self, row: Row, choose: random.Random) -> Row:
        """The row with a word or two misspelled, or exchanged for rarer ones."""
        values: list[str | None] = [None] * len(row.words)
        for _ in range(choose.choice((1, 1, 2))):
            number = choose.randrange(len(row.words))
            word, bits = row.words[number].text, row.allowed[number]
            if len(word) < _MIN_VARIED or not word.isalpha() or is_read_alone(word):
                continue
            if bits & ORDINARY and choose.random() < 0.6:
                values[number] = self._exchange(word, row.language, choose)
            else:
                values[number] = _misspell(word, choose)
        return _replace_words(row, values)

    def _exchange(self, word: str, language: str, choose: random.Random) -> str:
        if language not in self._by_ending:
            self._by_ending[language] = _read_vocabulary(language)
        other = choose.choice(self._by_ending[language].get(word[-3:].lower(), [word]))
        return other.title() if word[0].isupper() else other


@cache
def is_counted(language: str) -> bool:
    """Whether wordfreq has the words of the language, and not of one near it."""
    from wordfreq import available_languages

    return _COUNTED_AS.get(language, language) in available_languages()


def _read_vocabulary(language: str) -> dict[str, list[str]]:
    from wordfreq import top_n_list

    words = top_n_list(language, _VOCABULARY) if is_counted(language) else []
    codes = look_up([fold_word(word) for word in words])
    found: dict[str, list[str]] = {}
    for word, code in zip(words, codes, strict=True):
        if word.isalpha() and len(word) >= _MIN_VARIED and code % COMMON == 0:
            found.setdefault(word[-3:], []).append(word)
    return found


def _misspell(word: str, choose: random.Random) -> str:
    at = choose.randrange(1, len(word) - 1)
    return choose.choice(
        (
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        )
    )


def join_rows(rows: Sequence[Row], choose: random.Random) -> Row:
    """Several messages as one text."""
    text, words, allowed = "", [], []
    for row in rows:
        shift = len(text)
        text += row.text
        words += [Word(word.text, word.start + shift, word.end + shift) for word in row.words]
        allowed += row.allowed
        text += choose.choice((" ", " ", "\n"))
    return Row(text, words, allowed, rows[0].language)
