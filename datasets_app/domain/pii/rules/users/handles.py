"""User names by their form: "@jane_doe", "u/jane", "jane#1234", "twitter.com/jane", "username: jane_77".

What follows an @ may also be code, a group, a place or a time. Linear in the length of the text: every
pattern begins with a sign or a word that few texts have, and repeats within bounds.
"""

import re
from collections.abc import Iterator

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.detector import HANDLE, Match, Span, drop_overlaps
from datasets_app.domain.pii.rules.users.profiles import find_profiles, may_hold_profile
from datasets_app.domain.pii.rules.users.user_names import (
    CODE_WORDS,
    GROUP_WORDS,
    UNITS,
    is_mixed,
    is_numbered_thing,
    is_ordinary,
    may_be_user_name,
)

# What a name of letters with digits or signs is called; any other is for the network.
_LABELS = (
    r"user ?-?names?|user ?id|log-?in(?: name| id)?|screen ?-?name|nick(?:name)?|gamer ?tag|battle ?tag"
    r"|handle|alias|benutzername|nutzername|nom d['’ ]?utilisateur|identifiant|pseudo|nombre de usuario"
    r"|nome utente|nome de usu[áa]rio|gebruikersnaam|brugernavn|brukernavn|användarnamn|nazwa użytkownika"
    r"|käyttäjätunnus|логин|никнейм|discord|insta(?:gram)?|snap(?:chat)?|telegram|tiktok|skype|twitter|psn"
    r"|venmo|wechat|twitch"
)
_LABELED = lazy_re.compile(
    rf"(?<![^\W_])(?:{_LABELS})(?:[\"']?[ \t]?[:=]|[ \t](?:is|was|ist|est|es|è|é|är|er|to))"
    r"[ \t]{0,2}[\"'*`]{0,2}"
    r"(?P<name>[^\W_][\w.-]{1,38}\w)(?![\w@\\(\[]|[.+-][\w@]|/\w|:[\w/])",
    re.IGNORECASE,
)
_LABEL_HINTS = tuple(
    word.encode()
    for word in "name user log nick tag handle alias identifiant pseudo nutzer usuario bruker navn användar "
    "käyttäjä логин никнейм discord insta snap telegram tiktok skype twitter psn venmo wechat twitch".split()
)
_TAGGED_HINT = re.compile(rb"[A-Za-z0-9_]#(?:[0-9]{4}|[A-Z0-9]{3,5}\b)")


def may_hold(encoded: bytes, shape: bytes) -> bool:
    return (
        b"@" in encoded
        or (b"#" in encoded and _TAGGED_HINT.search(encoded) is not None)
        or (b"$" in encoded and b"ash" in encoded)
        or (b"/" in encoded and (b"u/" in encoded or b"U/" in encoded))
        or (b"a.a" in shape and may_hold_profile(encoded))
        or _may_hold_label(encoded)
    )


def _may_hold_label(encoded: bytes) -> bool:
    lower = encoded.lower()
    return any(hint in lower for hint in _LABEL_HINTS)


def search_folded(text: str) -> list[Match]:
    """Every user name in a folded text without placeholders, by its start, without overlaps."""
    found = [*find_profiles(text), *_find_labeled(text)]
    if "@" in text:
        found += _find_mentions(text)
        found += (match.span("name") for match in _JOINED_MENTION.finditer(text))
    if "#" in text:
        found += _find_tagged(text)
    if ".bsky.social" in text:
        found += (match.span() for match in _BLUESKY_USER.finditer(text))
    if "$" in text and "ash" in text:
        found += (match.span("name" if match["name"] else "before") for match in _CASHTAG.finditer(text))
    if "u/" in text or "U/" in text:
        found += (match.span() for match in _REDDIT_USER.finditer(text))
    return drop_overlaps(HANDLE, found)


def _find_labeled(text: str) -> Iterator[Span]:
    for match in _LABELED.finditer(text):
        name = match["name"]
        if is_mixed(name) and may_be_user_name(name) and not is_numbered_thing(name):
            yield match.span("name")


# --- behind an @ -------------------------------------------------------------------------------

# Scripts written without spaces: the words behind a name are not part of it. Tweets are passed on with
# names taken apart: "RT @jane _ doe: …", "RT @jane 73: …".
_MENTION = lazy_re.compile(
    r"(?<![\w@+/\\%$#=&~^])(?<![\w)\].]-)(?<![\w)]\.)@(?P<name>(?:_ )?(?:[^\W\u2e80-\u9fff\uac00-\ud7af]"
    r"|[.-](?=[^\W_])){1,64}|[\u2e80-\u9fff\uac00-\ud7af]{2,20})"
    r"(?:(?P<server>@(?:[\w-]{1,63}\.){1,5}[a-z]{2,24})|(?: _ [^\W_]\w{0,30}){1,3})?(?:(?<=[^\W\d_]) "
    r"\d{1,5}(?=:\s))?"
)
_JOINED_MENTION = re.compile(
    r"\b(?:insta(?:gram)?|ig|twitter|tiktok|snap|telegram|tg|thanks|thx|cc|via|rt|follow|by)(?P<name>@[A-Za-z_]\w{2,30})"
    r"(?![\w@-]|\.\w)",
    re.IGNORECASE,
)
# Nightowl#2134, riot id: Nightowl#EUW
_TAGGED = re.compile(
    r"(?<![\w&#/.@-])(?P<name>[^\W\d_][\w.]{2,31})#(?:(?P<number>\d{4,6})|[A-Z0-9]{3,5})(?![\w#-])"
)
_TAG_CUE = re.compile(
    r"battle|riot|discord|blizzard|valorant|league|\btag\b|\badd\b|\bid\b|overwatch", re.IGNORECASE
)
_BLUESKY_USER = re.compile(r"(?<![\w@.-])@?[A-Za-z0-9][\w-]{1,62}\.bsky\.social(?!\w)")
_CASHTAG = re.compile(
    r"(?:cash[ ]?app|cash[ ]?tag|\bcash)\b[^\n$]{0,24}?(?P<name>\$[A-Za-z][\w-]{1,20})(?!\w)"
    r"|(?<![\w$])(?P<before>\$[A-Za-z][\w-]{1,20})(?=[^\w$][^\n$]{0,24}?\bcash[ ]?(?:app|tag))",
    re.IGNORECASE,
)
# <@U024BE7LH> is found by the pattern above, <@123456789012345678> is not.
_NUMBERED_MENTION = re.compile(r"<@!?\d{15,20}>")
_REDDIT_USER = re.compile(r"(?<![\w.~%-])(?<!\w/)/?[uU]/(?=[\w-]{0,39}[A-Za-z])[A-Za-z0-9_-]{3,40}(?![\w/-])")
_VERSION = re.compile(r"\d{1,4}\.\d{1,4}\.\d")
_DOMAIN = re.compile(
    r".*\.(?:com|net|org|edu|gov|info|biz|io|co|dev|app|me|us|uk|de|fr|es|it|nl|eu|ch|at|ca|au|in|jp|br|ru)",
    re.I,
)
_NUMBER_WITH_UNIT = re.compile(r"\d[\d.,:-]*([^\W\d_]*)")
# What makes code of a name: a call, a scope of packages, an assignment, a key in quotation marks.
_CODE_BEHIND = re.compile(
    r"[({`]|\\(?![\"'nrt])|/(?!@)|::|\._|[ \t]*(?::=|[-+*|]?=(?!=))|[\"']\s{0,3}:"
    r"|[ \t]{1,2}(?:decorator|annotation|directive|rule|scope|package|keyword|macro|mixin|attribute|symbol"
    r"|sign|block|quer(?:y|ies)|import|param(?:eter)?|tag|operator|syntax|namespace|modifier|wrapper)s?\b"
)
_CODE_BEFORE = re.compile(
    r"(?:(?:\b(?:SET|DECLARE|SELECT|EXEC|WHERE|INTO|OUTPUT|PRINT|AND|declare|select|exec|decorator"
    r"|annotation|directive"
    r"|mixin|(?:npm|yarn|pnpm|bun)(?:[ \t](?:i|install|add|run|remove|update|dlx|exec))?|npx)"
    r"|(?<!\w)-(?:d|F|T)|--(?:data|form|upload)[\w-]{0,20})[ \t]{1,2}[\"']?"
    r"|(?:^|\n)[ \t]{0,20}(?:///?!?|/\*\*|--|\*(?=[ \t]@\w{1,30}[ \t]{1,3}[{<]))[ \t]{0,4})\Z"
)


_NUMBERED_NAME = re.compile(r"[A-Za-z][\w.-]*[A-Za-z_]\d{2,}")
_COMMENT_LINE = re.compile(r"(?:^|\n)[ \t]*/?\*+[ \t]*\Z")


def _find_mentions(text: str) -> Iterator[Span]:
    for match in _MENTION.finditer(text):
        start, end = match.span()
        if match["server"] or _is_name(match["name"]) and not _is_code(text, start, end):
            yield start, end
    if "<@" in text:
        for match in _NUMBERED_MENTION.finditer(text):
            yield match.span()


def _find_tagged(text: str) -> Iterator[Span]:
    """Names with their number: of a word, "issue#1234", only beside what says it is a name."""
    for match in _TAGGED.finditer(text):
        has_cue = _TAG_CUE.search(text, max(0, match.start() - 40), match.start()) is not None
        if has_cue or (match["number"] and not is_ordinary(match["name"])):
            yield match.span()


def _is_name(name: str) -> bool:
    lower = name.lower()
    if len(name) < 2 or lower in GROUP_WORDS or lower in CODE_WORDS or _DOMAIN.fullmatch(name):
        return False
    if "." in lower and not CODE_WORDS.isdisjoint(lower.split(".")):
        return False
    if lower.endswith(("-team", "_team", "-bot", "[bot]")):
        return False
    if name[0].isdigit():
        quantity = _NUMBER_WITH_UNIT.fullmatch(lower)
        return quantity is None or (len(quantity[1]) >= 3 and quantity[1] not in UNITS)
    return sum(map(str.isalpha, name)) >= 2


def _is_code(text: str, start: int, end: int) -> bool:
    is_numbered = _NUMBERED_NAME.fullmatch(text, start + 1, end) is not None
    if text[start - 1 : start] == "`" and text[end : end + 1] == "`":
        return True
    if "*/" in text and _COMMENT_LINE.search(text, max(0, start - 40), start):
        return True
    behind = _CODE_BEHIND.match(text, end)
    if behind and is_numbered and behind[0].strip().isalpha():
        behind = None  # "@jane77 block him"
    return behind is not None or _CODE_BEFORE.search(text, max(0, start - 240), start) is not None
