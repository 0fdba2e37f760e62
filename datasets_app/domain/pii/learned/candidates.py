"""What may be a telephone number, an identity number, a birth date or a user name: the model decides.

Generous and cheap: every expression begins with a digit or a word, and repeats within bounds. Texts come
folded (folding.py), without placeholders.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby, pairwise
from typing import NamedTuple

from datasets_app.domain.pii.rules.dates import MONTH_NAMES

NUMBER, DATE = "number", "date"


class Candidate(NamedTuple):
    """``text[start:end]``, which may be of a class of its ``sort``. ``shape`` is how it is written."""

    sort: str
    start: int
    end: int


# What may not stand before a match is looked for behind its first sign: a search for one of a few signs is
# many times as fast as one that begins with a condition.
_DIGIT_RUN = re.compile(
    r"[+(\d](?<!\w.)(?<!\d[.,:].)(?:(?<=\+)\(?\d|(?<=\()\d|(?<=\d))[\d ().\-/]{4,24}\d(?![\w]|[.,:]\d)"
)
# C01X00T47, 010190-123A, DE-4711.22: letters and digits.
_CODE = re.compile(
    r"[A-Za-z0-9](?:(?<![\w.@/$%&=-].)(?:(?<=\d)|(?=[\w./-]{0,11}\d))"
    r"(?:[A-Za-z0-9]|[./-](?=[A-Za-z0-9])){4,22}(?![\w@]|[./:-]\w)"
    r"|(?<=[A-Z])(?<![\w-].)[A-Z]{0,3}(?: ?\d{2,6}){2,5}(?: ?[A-Z]{1,2})?(?![\w-]))"
)
_MIN_NUMBER_DIGITS, _MIN_CODE_DIGITS = 6, 4
_SIGNS = re.compile(r"\D+")
_DECIMAL = re.compile(r"[1-9]\d*\.\d{1,2}")


def find_numbers(text: str) -> Iterator[Candidate]:
    """Runs of digits with the signs of numbers between them, and codes of letters and digits."""
    for match in _DIGIT_RUN.finditer(text):
        if len(_SIGNS.sub("", match[0])) >= _MIN_NUMBER_DIGITS and not _DECIMAL.fullmatch(match[0]):
            start = match.start()
            if match[0][0] == "(" and ")" not in match[0]:
                start += 1
            yield Candidate(NUMBER, start, match.end())
    for match in _CODE.finditer(text):
        digits = len(_SIGNS.sub("", match[0]))
        if digits >= _MIN_CODE_DIGITS and digits < len(match[0]) and any(map(str.isalpha, match[0])):
            yield Candidate(NUMBER, *match.span())


_ONES = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
    " seventeen eighteen nineteen"
)
_NUMBER_WORDS = (
    f"{_ONES} twenty thirty forty fifty sixty seventy eighty ninety hundred thousand oh zero"
    " first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth"
    " fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth"
    # German, Dutch, Scandinavian, Italian and Finnish also have compounds, which are below.
    " ersten erster zweiten dritten vierten fünften sechsten siebten achten neunten zehnten elften zwölften"
    " eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"
    " premier un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize vingt"
    " trente quarante cinquante soixante cent mille et"
    " primero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis"
    " diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés veinticuatro veinticinco"
    " veintiséis veintisiete veintiocho veintinueve treinta cuarenta cincuenta sesenta setenta ochenta"
    " noventa mil novecientos y"
    " primo due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici"
    " sedici diciassette diciotto diciannove venti ventuno ventidue ventitré ventiquattro venticinque"
    " ventisei ventisette ventotto ventinove trenta trentuno novecento"
    " um dois três quatro sete oito nove dez onze doze treze catorze quinze dezesseis dezasseis dezessete"
    " dezassete dezoito dezenove dezanove vinte trinta cinquenta sessenta oitenta novecentos e"
    " eerste tweede derde vierde vijfde zesde zevende achtste negende tiende een twee drie vier vijf zes"
    " zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien"
    " första andra tredje fjärde femte sjätte sjunde åttonde nionde tionde elfte tolfte trettonde fjortonde"
    " femtonde sextonde sjuttonde artonde nittonde tjugonde trettionde ett två tre fyra fem sex sju åtta nio"
    " første anden andre tredje fjerde femte sjette syvende ottende åttende niende tiende ellevte tolvte"
    " trettende fjortende femtende sekstende syttende attende nittende tyvende tjuende tredivte trettiende"
    " nitten halvtreds tres halvfjerds firs halvfems femti seksti sytti åtti nitti"
    " pierwszego drugiego trzeciego czwartego piątego szóstego siódmego ósmego dziewiątego dziesiątego"
    " jedenastego dwunastego trzynastego czternastego piętnastego szesnastego siedemnastego osiemnastego"
    " dziewiętnastego dwudziestego trzydziestego pięćdziesiątego sześćdziesiątego siedemdziesiątego"
    " osiemdziesiątego dziewięćdziesiątego tysiąc dziewięćset dwa tysiące"
    " prvního druhého třetího čtvrtého pátého šestého sedmého osmého devátého desátého jedenáctého"
    " dvanáctého třináctého čtrnáctého patnáctého šestnáctého sedmnáctého osmnáctého devatenáctého"
    " dvacátého třicátého jedna dva tři čtyři pět šest sedm osm devět padesát šedesát sedmdesát osmdesát"
    " devadesát tisíc devatenáct set tuhat"
    " ensimmäinen toinen kolmas neljäs viides kuudes seitsemäs kahdeksas yhdeksäs kymmenes"
)
_LONG_NUMBER_WORDS = (
    r"(?:[a-zäöüåéø]{2,24}(?:zehn(?:te[nr]?)?|[zß]ig(?:ste[nr]?)?|hundert\w{0,24}|tausend\w{0,24}|cento\w{0,20}"
    r"|tien(?:de)?|tigste?|honderd\w{0,20}|duizend\w{0,20}|nitton\w{0,20}|hundra\w{0,20}|hundrede?\w{0,20}"
    r"|og(?:tyve(?:nde)?|halvtreds|tres|halvfjerds|firs|halvfems)|toista|sataa\w{0,24}|kymmen\w{0,24})"
    r"|[a-zë]{0,16}(?:twin|der|veer|vijf|zes|zeven|tach|negen)tig(?:ste)?"
    r"|(?:nitton|nitten|tjugo|tjue|tretti|femti|seksti|sexti|sytti|sjutti|åtti|nitti)[a-zäöåøæ]{1,24})"
)
JOINTS = "of the de del do di den das le el il o am in day month year and og och".split()


def _make_tree(words: list[str]) -> str:
    """An expression for one of ``words``, sorted, that looks at each letter once."""
    branches = []
    if not words[0]:
        words = words[1:]
        branches.append("")
    for letter, group in groupby(words, lambda word: word[0]):
        branches.append(re.escape(letter) + _make_tree([word[1:] for word in group]))
    return f"(?:{'|'.join(reversed(branches))})" if len(branches) > 1 else "".join(branches)


_DATE_WORD = (
    r"(?:(?:19|20)\d\d|['’]?\d{1,2}(?: ?(?:st|nd|rd|th|er|re|º|ª|°|:?e|:a))?)(?!\w)"
    rf"|{_make_tree(sorted({*MONTH_NAMES, *_NUMBER_WORDS.split()}))}(?![^\W\d_])"
    rf"|{_LONG_NUMBER_WORDS}(?![^\W_])"
)
_DATE = re.compile(
    rf"(?<![\w+#$€£])(?<!\d[.,:/-])(?:{_DATE_WORD})"
    rf"(?:(?:[ \t]{{0,2}}[-/.,]?[ \t]{{0,2}}(?<!\w)|\.[ ]?|(?<=\d)(?=[^\W\d_])|(?<=[^\W\d_])(?=\d)|-)"
    rf"(?:(?:{'|'.join(JOINTS)})[ \t]){{0,2}}(?:{_DATE_WORD})){{1,9}}(?!\w|[-/:]\d|\.\d)"
)
# Words beside it may be numbers, too: "04/22/93 first visit".
_NUMERIC = re.compile(
    r"\d(?<![\w+#$€£].)(?<!\d[.,:/-].)(?:(?:(?<=1)9|(?<=2)0)\d\d([-/.])[01]?\d\1[0-3]?\d"
    r"|(?:(?<=[0-3])\d)?([-/.])[0-3]?\d\2(?:(?:19|20)\d\d|\d\d))(?!\w|[-/:]\d|\.\d)"
)
_COMPACT = re.compile(
    r"[0-3](?<![\w.,:/+-].)(?:(?:(?<=1)9|(?<=2)0)\d\d[01]\d[0-3]\d|\d[0-3]\d(?:19|20)\d\d)(?![\w-]|[.,:]\d)"
)
_YEAR = re.compile(r"[12](?<![\w.,:/#$€£+-].)(?:(?<=1)9[2-9]|(?<=2)0[012])\d(?![\w%€$£-]|[.,:/]\d)")
_PART = re.compile(r"[^\W\d_]+|\d+")
_NUMBER = re.compile(r"\d+")
_DATE_WORDS = MONTH_NAMES | frozenset(_NUMBER_WORDS.split())
_LONG_NUMBER = re.compile(_LONG_NUMBER_WORDS)
_DATE_DIGITS = (1, 2, 4)
# Two joints and an ending: "the 3 rd of the May".
_MAX_PARTS_BETWEEN = 5
_MONTH = re.compile(rf"(?:{'|'.join(sorted(MONTH_NAMES, key=len, reverse=True))})(?![^\W\d_])", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]+")
_MIN_SPOKEN_WORDS = 3
_SPELLED_CENTURY = re.compile(
    r"nineteen[ -][a-z]|two thousand|twenty (?:oh|ten|el|tw|th|f|six|sev|eig|nin)|mil novecent"
    r"|millenov|mille n|dix-neuf cent|hundert|honderd|tausend|negentien|nittonh|nitten|tysiąc|tisíc|tuhat"
    r"|devatenáct set",
    re.IGNORECASE,
)
# 3-V-1980, 3/mai/1980
_MONTH_BETWEEN = re.compile(
    r"(?<![\w.,:/-])\d{1,2}(?:[-/. ](?:i{1,3}|iv|vi{0,3}|ix|xi{0,2})[-/. ]|([-/])[^\W\d_]{3,4}\1"
    r"|(?:jan|feb|mar|apr|ma[ijy]|ju[nl]|aug|ago|sep|set|o[ck]t|out|nov|de[cz]))"
    r"(?:19|20)?\d\d(?!\w)"
)
_MAY_HAVE_MONTH_BETWEEN = re.compile(r"\d[-/. ]?[^\W\d_]{1,4}[-/. ]?\d")


@lru_cache(maxsize=1 << 14)
def may_be_in_date(word: str) -> bool:
    """Whether a word in lower case is the name of a month or a number."""
    return word in _DATE_WORDS or _LONG_NUMBER.fullmatch(word) is not None


def find_dates(text: str) -> Iterator[Candidate]:
    """Days with a month, in numbers or words; full dates without signs; years alone."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = "".join(sign.lower() if len(sign.lower()) == 1 else sign for sign in text)
    found = [match.span() for match in _NUMERIC.finditer(lower)]
    found += (
        (start, end)
        for start, end in _find_parted_dates(lower)
        if not any(start < last and first < end for first, last in found)
    )
    if "19" in lower or "20" in lower:
        found += (match.span() for pattern in (_COMPACT, _YEAR) for match in pattern.finditer(lower))
    if _MAY_HAVE_MONTH_BETWEEN.search(lower):
        found += (match.span() for match in _MONTH_BETWEEN.finditer(lower))
    end = 0
    for start, last in sorted(found, key=lambda span: (span[0], -span[1])):
        if start >= end:
            yield Candidate(DATE, start, last)
            end = last


def _find_parted_dates(lower: str) -> Iterator[tuple[int, int]]:
    """Dates of several parts, which begin where another part is not far."""
    places = [
        (number, part.start())
        for number, part in enumerate(_PART.finditer(lower))
        if (len(part[0]) in _DATE_DIGITS if part[0][0].isdigit() else may_be_in_date(part[0]))
    ]
    end = 0
    for (number, start), (next_number, _) in pairwise(places):
        if start >= end and next_number - number <= _MAX_PARTS_BETWEEN:
            match = _DATE.match(lower, start)
            if match:
                end = match.end()
                if _may_be_date(match[0]):
                    yield match.span()


_MONTH_AND_YEAR = re.compile(r"(?:0?[1-9]|1[0-2])[./-](?:19|20)\d\d")


def _may_be_date(value: str) -> bool:
    numbers = [int(number) for number in _NUMBER.findall(value)]
    words = len(_LETTERS.findall(value))
    if _MONTH.search(value):
        return bool(numbers) or words > 1
    if not numbers:
        return words >= _MIN_SPOKEN_WORDS
    if words:
        return False
    short = [number for number in numbers if number <= 31]
    if len(numbers) == 2:
        if len(short) == 1:
            return _MONTH_AND_YEAR.fullmatch(value) is not None
        return (
            len(short) == 2
            and 0 < min(numbers) <= 12
            and re.fullmatch(r"\d{1,2}[./]\d{1,2}\.?", value) is not None
        )
    return len(numbers) == 3 and len(short) >= 2 and any(0 < number <= 12 for number in short)


def describe_number(value: str) -> Iterator[str]:
    digits = _SIGNS.sub("", value)
    letters = [c for c in value if c.isalpha()]
    groups = _NUMBER.findall(value)
    signs = "".join(sorted({c for c in value if not c.isalnum()}))
    yield f"digits {len(digits)}"
    yield f"groups {'-'.join(str(len(group)) for group in groups)}"
    yield f"signs {signs}"
    yield f"class {classify_number(value)}"
    yield f"first {value[0] if not value[0].isalpha() else 'A'} {len(digits)}"
    yield f"two {digits[:2]}"
    if letters:
        shape = re.sub(
            r"[0-9]+",
            lambda run: f"0{min(len(run[0]), 9)}",
            re.sub(r"[A-Za-z]+", lambda run: f"A{len(run[0])}", value),
        )
        yield f"shape {shape}"


def classify_number(value: str) -> str:
    if any(map(str.isalpha, value)):
        return "code"
    if value[0] in "+(" or value.startswith("0"):
        return "dialed"
    return "bare" if value.isdigit() else "grouped"


def describe_date(value: str) -> Iterator[str]:
    numbers = [int(number) for number in _NUMBER.findall(value)]
    year = next((number for number in numbers if 1900 <= number <= 2099), None)
    if len(value) == 8 and value.isdigit():
        years = [int(value[:4]), int(value[4:])]
        year = next((number for number in years if 1900 <= number <= 2030), None)
    yield f"class {classify_date(value)}"
    yield f"year {year // 5 if year else 'none'}"
    if year:
        yield "old" if year < 2008 else "recent" if year > 2021 else "between"
    if _SPELLED_CENTURY.search(value):
        yield "spelled year"
    yield f"numbers {len(numbers)}"
    shape = _LETTERS.sub("a", re.sub(r"[0-9]", "0", value.lower()))
    yield f"shape {shape[:16]}"


def classify_date(value: str) -> str:
    if value.isdigit():
        return "year" if len(value) == 4 else "compact"
    if not any(map(str.isdigit, value)):
        return "spoken"
    has_month = _MONTH.search(value) is not None
    numbers = _NUMBER.findall(value)
    if len(numbers) >= 3 or (has_month and len(numbers) == 2) or len(_LETTERS.findall(value)) > 2:
        return "full month" if has_month else "full"
    return "short"
