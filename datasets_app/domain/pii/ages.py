"""The age of a person who is named beside it: with the name, it is as good as a year of birth."""

import re
from collections.abc import Iterator, Sequence

from datasets_app.domain.pii.detector import DATE_OF_BIRTH, Match
from datasets_app.domain.pii.rules.numbers.dates import has_year, match_date

MAX_DISTANCE = 100
_AGE = re.compile(
    r"(?<![\w.,/$€£-])(?P<years>\d{1,3}(?:[ -]?(?:years?|yrs?)[ -]?old|[ -]?y/?o|[ ]?(?:jahre alt|ans|años"
    r"|anni|anos|jaar oud|år|lat)))(?!\w)"
    r"|\b(?:aged?|alter|âge|edad|età|idade|leeftijd|ålder|wiek)\b[\"']?(?:[ ]?[:=]|[ ](?:is|of|de|von))?[ "
    r"\"']{0,3}(?P<number>\d{1,3})(?![\w.,/%-]\d|\w)"
    r"|(?<![\w.,/$€£-])(?P<written>\d{1,3}(?:[ -]years?[ ]of[ ]age|[ ]?y\.[ ]?o\.|[ ]jaar|[ -]?jährige?[rns]?"
    r"|[ -]?vuotias|[ ]let))(?!\w)"
    r"|\b(?:i['’]?m|i am|s?he['’]?s|s?he is|ich bin|sono|turned|turning|j['’]?ai|tengo|tiene)[ ]"
    r"(?:only |just |now )?(?P<said>[1-9]\d)"
    r"(?=[,;!?)]|\.?\s*\Z|\.\s|\s(?:and|but|so|now|years?|yrs|today|this|next|in|on|und|et|y|e)\b)",
    re.IGNORECASE,
)
# "Maria, 34, called": right behind the name.
_APPOSITION = re.compile(
    r"(?:,[ ]?|[ ]\(|[ ](?:is|turned|turns|has turned)[ ](?:now[ ])?)(?P<number>\d{2})"
    r"(?=[,);/]|[ ]?\Z|\.(?:\s|\Z)|[ ]?[FMfm]\b|[ ](?:and|from|of|who|is|was|called|lives)\b)"
)
# "Jane Doe (3/12/1984)", "Jane Doe, * 3.12.1984": of those who are old enough to be no news.
_BEFORE_DATE = re.compile(r"[ ]?[,(|/-]?[ ]?\*?[ ]?(?=[\dA-Z])")
_FULL_YEAR = re.compile(r"(?<!\d)(?:19\d\d|200\d|201[0-2])(?!\d)")
_SENTENCE_END = re.compile(r"[.!?][\s\"')]|\n\n")
_NUMBER = re.compile(r"\d+")
_OLDEST = 120


def find_ages(text: str, names: Sequence[Match]) -> Iterator[Match]:
    """The ages in the sentences of ``names``, with the score of the name."""
    if not names or not any(map(str.isdigit, text)):
        return
    for name in names:
        found = _APPOSITION.match(text, name.end)
        if found:
            yield Match(DATE_OF_BIRTH, *found.span("number"), name.score)
        elif before := _BEFORE_DATE.match(text, name.end):
            end = match_date(text, before.end())
            if end and (
                _FULL_YEAR.search(text, before.end(), end)
                or ("(" in before[0] and has_year(text[before.end() : end]))
            ):
                yield Match(DATE_OF_BIRTH, before.end(), end, name.score)
    for found in _AGE.finditer(text):
        start, end = found.span(found.lastgroup or 0)
        nearby = next((name for name in names if _is_same_sentence(text, name, start, end)), None)
        if nearby and 0 < int(_NUMBER.findall(found[0])[0]) <= _OLDEST:
            yield Match(DATE_OF_BIRTH, start, end, nearby.score)


def _is_same_sentence(text: str, name: Match, start: int, end: int) -> bool:
    first, last = (name.end, start) if name.end <= start else (end, name.start)
    return 0 <= last - first <= MAX_DISTANCE and not _SENTENCE_END.search(text, first, last)
