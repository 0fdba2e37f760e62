"""User names by their place in a text: below "Best," in a list of people, in a column, beside another one.

Linear in the length of the text: every pattern begins at a line, a label or a name that was found.
"""

import re
from collections.abc import Iterable, Iterator

from datasets_app.domain.pii.detector import Span
from datasets_app.domain.pii.rules.announced_handles import is_free, is_ordinary
from datasets_app.domain.pii.rules.columns import find_cells
from datasets_app.domain.pii.rules.handle_names import is_certain
from datasets_app.domain.pii.rules.handle_shapes import (
    NAMED,
    NO_NAME,
    OF_NAMES,
    OF_SIGNED_WORDS,
    OF_WORDS,
    rank,
)

_NAME = r"@?(?P<name>[A-Za-z_](?:[\w.-]{1,38}\w|_))"
# "Best, jdoe", also on two lines; "~jdoe".
_SIGN_OFF = re.compile(
    r"(?:^|(?<=[.!?\n])[ \t])[ \t]*(?:(?:(?:kind|best|warm|many) )?(?:regards|wishes|thanks|thank you"
    r"|greetings|love)"
    r"|best|cheers|thx|ty|br|rgds|yours|sincerely|signed|sent by|ciao|(?:viele |liebe |beste )?grü(?:ß"
    r"|ss)e|gruß"
    r"|[lvm]f?g|danke|merci|cordialement|saludos|gracias|saluti|grazie|abraços|obrigad[oa]|groet(?:jes|en)?"
    r"|pozdrawiam|hälsningar|hilsen|terveisin)"
    rf"[ \t]*(?:[,.!:–—-]{{1,3}}[ \t]*\r?\n?|\r?\n)[ \t]*[-–—~]{{0,2}}[ \t]*{_NAME}[ \t]*(?=[.!]?\s*$|\n)"
    rf"|^[ \t]*(?:~[ \t]?|[–—]{{1,2}}[ \t]?|--?[ \t]){_NAME.replace('name', 'signed')}[ \t]*\Z",
    re.IGNORECASE | re.MULTILINE,
)
_GREETED = re.compile(
    r"^[ \t]*(?:dear|hi|hello|hey|heya|yo|welcome(?: back)?|hola|bonjour|salut|hallo|guten tag"
    r"|liebe[rs]?|ciao|olá"
    rf"|cześć|witaj|hej|hoi|beste|thanks|thx)[ ,]{{1,2}}{_NAME}[ \t]*(?=[,!:]|\r?$)",
    re.IGNORECASE | re.MULTILINE,
)
_ITEM = re.compile(
    rf"^[ \t]{{0,8}}(?:[-*•·+]|\d{{1,3}}[.)]"
    rf"|#\d{{1,3}}:?)[ \t]{{1,3}}{_NAME}(?:[ \t]{{1,3}}[-–:|(]?[ \t]?\d[\d.,]*"
    r"[ \t]?(?:pts?|points|xp|wins?|kills|elo)?\)?)?[ \t]*\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_PEOPLE = (
    r"members?|attendees|participants|reviewers?|followers|following|mentions|mentioned|cc|players|team(?:mates)?"
    r"|users|admins?|mods?|moderators|owners?|contributors|maintainers|winners|friends|assignees?|recipients"
    r"|online(?: now)?|fans|top fans"
    r"|invitees|invited|authors?|watchers|subscribers|collaborators|approvers|speakers|accounts|usernames|handles"
    r"|logins|gamertags|nicknames?"
)
_PEOPLE_LABEL = re.compile(
    rf"(?<![\w-])(?:\w{{1,12}}_)?(?:{_PEOPLE})(?:\(s\))?[\"']?[ \t]{{0,2}}[:=][ \t]{{0,2}}\[?"
    r"[ \t]{0,2}[\"']?(?=[@A-Za-z_])",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"^[ \t>*-]{0,6}(?:from|to|by|posted by|submitted by|created by|opened by|requested by|reported by"
    r"|uploaded by"
    r"|written by|invited by|shared by|last edited by|modified by|updated by|assigned to|buyer|seller"
    r"|sender|receiver"
    r"|recipient|player|streamer|user|member|author|owner|assignee|reporter|reviewer|requester|commenter|poster|actor"
    r"|gamer|opponent|friend|contact|twitter ?/ ?x|x|threads|nick(?:name)?s?(?:\(s\))?"
    r"|handles?|alias(?:es)?"
    rf"|aka|agent|guest|referrer|referred by|raised by|approved by|edited by|handled by|quote from|main|alt"
    r"|(?:affected|reported|logged[ -]in|current|acting) (?:user|account)|approver|maintainer|creator"
    r"|winner|loser|invited|leader|host|streamer|channel|profile|profil|perfil|spieler|verkäufer|käufer"
    r"|joueur|vendeur|acheteur|jugador|vendedor|venditore)\*{0,2}"
    rf"[ \t]{{0,3}}[:|=]\*{{0,2}}[ \t]{{0,3}}{_NAME}[ \t]*(?=\r?$|[,|(<]|[ \t]on[ \t]|\\n)",
    re.IGNORECASE | re.MULTILINE,
)
_FIELD = re.compile(
    r"(?<![\w.])(?:by|who|actor|target|principal|author|committer|requester|assignee|owner|sender|player|member|seller|buyer"
    rf"|nick|handle|subject|usr|loginname)=[\"']?{_NAME}(?=[\"',;\s&)\]|]|\Z)",
    re.IGNORECASE,
)
# "jdoe (moderator)", "jdoe · 3h ago", "📷 jdoe", "ig/jdoe", "by jdoe".
_MARKED = re.compile(
    rf"^[ \t]{{0,4}}(?:\[{_NAME.replace('name', 'speaker')}\](?=[ ]\w)"
    rf"|{_NAME.replace('name', 'writer')}(?=>[ ]\w)|\*[ ]"
    rf"{_NAME.replace('name', 'actor')}(?=[ ]\w{{3,12}}s\b))|"
    rf"^[ \t]{{0,4}}{_NAME}(?=[ \t]?[·•]|[ \t]\((?:mod|moderator|admin|op|author|owner|host|you|staff"
    rf"|creator)\))"
    r"|(?:[📷📸🎥🎮👤🐦🎨✍]\ufe0f?[ \t]{0,2}:?[ \t]?|(?<![\w/])(?:ig|insta|sc|snap|tg|tt|yt"
    r"|fb|twitter)[/|][ ]?"
    r"|^[ \t]{0,4}(?:by|via|referral from|posted from)[ ])"
    rf"{_NAME.replace('name', 'marked')}(?![\w@\\/(=+-])",
    re.IGNORECASE | re.MULTILINE,
)
_ELEMENT = re.compile(
    rf"<(?:b|strong|a|span|h\d|em|i|td|li|div|p|cite|user)(?:[ ][^<>]{{0,120}})?>{_NAME}(?=</)", re.IGNORECASE
)
_NEXT = re.compile(
    r"[\"'`*]{0,2}(?:[ \t]?[,;/&+|][ \t]?(?:and |und |et |y |e |or )?|[ \t](?:and|und|et|y|e|en|i|och|og"
    r"|or|to|with|vs\.?"
    rf"|into|not|nicht|&|->|=>)[ \t]|,[ \t](?:now|jetzt|maintenant|ahora|adesso|teraz|nu|mine is"
    rf"|formerly|aka)[ \t]|[ \t](?=[@\w.-]*\d))[\"'`*@]{{0,2}}{_NAME}(?![\w@\\/(=:+-]|[.]\w)",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"[\s\"'*]*(?:\w{1,16}[ _-])?(?:user[ _-]?name|user|login|log-?in[ _-]?name|screen[ _-]?name"
    r"|nick(?:[ _-]?name)?|handle"
    r"|gamer[ _-]?tag|author|owner|assignee|reporter|sender|player|member|seller|buyer|poster|creator"
    r"|created[ _-]?by"
    r"|posted[ _-]?by|account|discord|instagram|twitter|telegram|twitch|github|benutzer(?:name)?"
    r"|utilisateur|pseudo"
    r"|usuario|utente)[\s\"'*]*",
    re.IGNORECASE,
)
_CELL = re.compile(rf"[\s\"'*]{{0,4}}{_NAME}[\s\"'*]{{0,4}}")
_MAX_NEIGHBORS = 40


# Without one of these, a name that is marked stands at the beginning of a line.
_MARK_WITHIN = re.compile(r"[/|📷📸🎥🎮👤🐦🎨✍]")
_SENTENCE_SPACE = re.compile(r"[.!?\n](?=[ \t])")
_LABEL_SIGN = re.compile(r"[:=|](?<=[^\W\d].|[)\"'* \t].)")


def _list_line_starts(text: str) -> list[int]:
    return [0, *(sign.end() for sign in _NEWLINE.finditer(text))] if "\n" in text else [0]


_NEWLINE = re.compile("\n")


def _match_at(pattern: re.Pattern[str], text: str, places: Iterable[int]) -> Iterator[re.Match[str]]:
    """What ``finditer`` yields of a pattern that matches at no other ``places``: to try these is quicker."""
    end = 0
    for place in places:
        if place >= end and (match := pattern.match(text, place)):
            yield match
            end = match.end()


def find_in_lines(text: str) -> Iterator[Span]:
    """The names at the ends and beginnings of messages, in lists, behind labels and in columns."""
    lines = _list_line_starts(text)
    sentences = sorted({*lines, *(sign.end() for sign in _SENTENCE_SPACE.finditer(text))})
    for match in _match_at(_SIGN_OFF, text, sentences):
        group = "name" if match["name"] else "signed"
        if group == "signed" and _ends_list(text, match.start()):
            continue
        if is_free(match[group]) and rank(match[group]) >= (OF_WORDS if match["name"] else OF_NAMES):
            yield match.span(group)
    for match in _match_at(_GREETED, text, lines):
        if is_free(match["name"]) and rank(match["name"]) >= OF_WORDS:
            yield match.span("name")
    for match in _MARKED.finditer(text) if _MARK_WITHIN.search(text) else _match_at(_MARKED, text, lines):
        group = str(match.lastgroup)
        if is_free(match[group]) and rank(match[group]) >= (
            OF_WORDS if group in ("name", "marked") else OF_NAMES
        ):
            yield match.span(group)
    if _LABEL_SIGN.search(text):
        for match in _match_at(_LABEL, text, lines):
            if is_free(match["name"]) and rank(match["name"]) >= OF_WORDS:
                yield match.span("name")
        for match in _FIELD.finditer(text) if "=" in text else ():
            if is_free(match["name"]) and rank(match["name"]) >= OF_SIGNED_WORDS:
                yield match.span("name")
        for match in _PEOPLE_LABEL.finditer(text):
            yield from _find_listed(text, match.end())
    if "</" in text:
        for match in _ELEMENT.finditer(text):
            if rank(match["name"]) >= OF_NAMES and (
                not match["name"].isalpha() or is_certain(match["name"].lower())
            ):
                yield match.span("name")
    if "\n" in text:
        yield from _find_in_lists(text, lines)
        yield from _find_in_columns(text)


def _ends_list(text: str, start: int) -> bool:
    """Whether the line before the one at ``start`` is an item of a list, as this one then is."""
    previous = text[:start].rstrip("\n").rpartition("\n")[2].lstrip()
    return previous.startswith(("- ", "* ", "+ "))


def find_beside(text: str, found: Iterable[Span]) -> Iterator[Span]:
    """The names joined to one that was found: "jane77 and t.holm"."""
    known = {end for _, end in found}
    for end in sorted(known):
        for _ in range(_MAX_NEIGHBORS):
            match = _NEXT.match(text, end)
            if match is None or not is_free(match["name"]) or rank(match["name"]) < OF_SIGNED_WORDS:
                break
            yield match.span("name")
            end = match.end()
            if end in known:
                break


_FIRST_LISTED = re.compile(rf"{_NAME}(?![\w@\\/(=+-])", re.IGNORECASE)


def _find_listed(text: str, at: int) -> Iterator[Span]:
    """The names of a list on one line, at least one of which no word or thing is."""
    match = _FIRST_LISTED.match(text, at)
    spans: list[Span] = []
    while match and len(spans) < _MAX_NEIGHBORS:
        spans.append(match.span("name"))
        match = _NEXT.match(text, match.end())
    yield from _choose_names(text, spans, least=1)


def _choose_names(text: str, spans: list[Span], least: int) -> list[Span]:
    """Those of a list that can be user names, if enough of it are and nothing else stands in it."""
    ranks = [rank(text[start:end]) if is_free(text[start:end]) else NO_NAME for start, end in spans]
    certain = sum(value >= OF_NAMES for value in ranks)
    if certain < least or 2 * certain < len(spans):
        return [span for span, value in zip(spans, ranks, strict=True) if value == NAMED]
    return [
        span
        for span, value in zip(spans, ranks, strict=True)
        if value > NO_NAME or not is_ordinary(text[slice(*span)])
    ]


def _find_in_lists(text: str, lines: Iterable[int]) -> Iterator[Span]:
    """Lists of which most items are nothing but a user name."""
    items: list[Span] = []
    last = -1
    for match in _match_at(_ITEM, text, lines):
        if last >= 0 and text[last : match.start()].strip():
            yield from _choose_items(text, items)
            items = []
        items.append(match.span("name"))
        last = match.end()
    yield from _choose_items(text, items)


def _choose_items(text: str, items: list[Span]) -> list[Span]:
    return _choose_names(text, items, least=2) if len(items) > 1 else []


def _find_in_columns(text: str) -> Iterator[Span]:
    """The cells below "login" in the first line of a table."""
    for cell in find_cells(text, 0, text.find("\n"), _HEADING):
        match = _CELL.fullmatch(text, cell.start, cell.end)
        if (
            match
            and is_free(match["name"])
            and (rank(match["name"]) > NO_NAME or not is_ordinary(match["name"]))
        ):
            yield match.span("name")
