"""User names that the words around them announce: "username: jane77", "add me on discord, jane#1234".

How much is required of a name depends on the words: "username: jane" is one, "user jane" may be anything.
"""

import re
from collections.abc import Iterator

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.detector import Span
from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.rules.cue_words import find_cue_starts, make_cue_starts, make_cues
from datasets_app.domain.pii.rules.handle_names import is_word_pair
from datasets_app.domain.pii.rules.handle_words import GROUP_WORDS, STATE_WORDS

# One of these words is in every text that announces a user name, and the words begin so.
HANDLE_CUES = make_cues(
    """
    username usernames userid userhandle nick nickname gamertag gamer ign insta
    instagram ig discord skype snap snapchat sc telegram tg tiktok tik twitter psn xbox kik venmo cashapp
    wechat twitch
    reddit fb battletag mastodon bluesky bsky tumblr pinterest github gitlab minecraft
    roblox fortnite nintendo youtube viber linkedin soundcloud spotify screenname pseudo pseudonyme
    identifiant
    utilisateur usuario usuário utente gebruikersnaam brugernavn brukernavn användarnamn użytkownika kullanıcı
    käyttäjätunnus käyttäjätunnukseni käyttäjänimi käyttäjänimeni uživatelské felhasználónév
    felhasználónevem benutzername
    nutzername логин пользователя ник никнейм uname usr ruser acct logname publickey samaccountname
    """
)
_CUE_STARTS = make_cue_starts(
    """
    user screen gamer game ingame in-game log battle nom nome nombre gebruiker bruger bruker användar nazwa
    kullanıcı käyttäjä
    uživatel felhaszn benutzer nutzer имя никнейм ник handle nick ign alias pseudo identifiant usuario
    usuário display profile
    account логин discord insta ig snap telegram tg tik skype psn xbox twitter kik venmo cash wechat twitch
    tumblr mastodon
    bluesky bsky reddit facebook fb steam epic riot github gitlab pinterest minecraft roblox fortnite
    nintendo youtube viber
    linkedin soundcloud spotify sc usr uname ruser acct publickey password samaccount live:
    """
)
_ACCOUNT_NAME = (
    r"user[ _-]?name|user[ _-]?id|user[ _-]?handle|screen[ _-]?name|gamer ?tag|in-?game name|log-?[io]n ?"
    r"(?:name|id)"
    r"|battle ?tag|nom d['’ ]?utilisateur|nombre de usuario|nome utente|nome de usu[áa]rio|gebruikersnaam"
    r"|brugernavn"
    r"|brukernavn|användarnamn|nazwa użytkownika|kullanıcı ad[ıi]m?|käyttäjä(?:tunnus|nimi|nime)\w{0,4}"
    r"|uživatelské jméno|felhasználóneve?m?|benutzername|nutzername|имя пользователя|никнейм"
)
# Words of other meanings, too.
_LOOSE_NAME = (
    r"handle|nick(?:[ -]?name)?|ign|alias|log-?in|pseudo(?:nyme?)?|identifiant|usuario|usuário|display "
    r"name|profile name|account name|логин|ник"
)
_PLATFORM = (
    r"discord|insta(?:gram)?|ig|snap(?:chat)?|telegram|tg|tik ?tok|skype|psn|xbox(?: live)?|twitter|kik"
    r"|venmo|cash ?app|wechat"
    r"|twitch|tumblr|mastodon|bluesky|bsky|reddit|facebook|fb|steam|epic(?: games)?|riot|github|gitlab"
    r"|pinterest|minecraft|roblox|fortnite|nintendo|youtube|viber|linkedin|soundcloud|spotify"
)
# Those after which a colon introduces a name, and hardly anything else.
_PERSONAL_PLATFORMS = frozenset(
    "discord insta instagram ig snap snapchat telegram tg tiktok skype psn kik venmo cashapp wechat "
    "twitch sc xbox xboxlive tumblr mastodon bluesky bsky".split()
)
_POSSESSIVE = (
    r"(?:my|his|her|their|our|your|ur|mein|meine|dein|ihr|mon|ton|son|mi|tu|su|il mio|meu|minha|mijn|mitt|min"
    r"|mój|moja)"
)
_VALUE = (
    r"(?:[\"'“‘«`(\[](?P<quoted>[@$]?[^\W_][\w.-]{0,39}(?:#\w{3,5})?)[\"'”’»`)\]]"
    r"|(?P<value>[@$]?[\w](?:[\w.-]{0,38}\w)?(?:#\w{3,5})?)(?![\w@\\]|[.+-][\w@]|/\w|[(\[]|:[\w/]))"
)
_SIGN = r"(?P<sign>[\"'`\]*]{0,3}[ \t]{0,2}(?::|=>?|[-–—](?=[ \t]))[ \t]{0,2}\*{0,2})"
_VERB = (
    r"(?P<verb>[ \t](?:(?:for|on|at|in)[ \t](?:the |this |that |my |your )?[\w.]{1,20}[ \t](?:account "
    r"|app |site |server )?)?"
    r"(?:(?:is|was|ist|est|es|è|é|är|er|on|to|named|called|będzie|jest|adı)|(?:will|would|should|must) be)"
    r"(?:[ \t](?:now|still|just|currently|simply|probably|set to|the same,|also|actually)){0,2}[ \t:]{1,2})"
)
_SPACE = r"(?P<space>[ \t]{1,2})"
_ANNOUNCED = lazy_re.compile(
    rf"(?:(?P<platform>{_PLATFORM}|sc)(?:['’]s)?(?:[ \t](?:handle|name|user ?name|user|id|tag|account|acct"
    rf"|profile|nick|acc))?"
    rf"|(?P<account>{_ACCOUNT_NAME})s?|(?P<loose>{_LOOSE_NAME}))(?:{_SIGN}|{_VERB}|{_SPACE}){_VALUE}",
    re.IGNORECASE,
)
_PLATFORM_NAME = re.compile(rf"(?:{_PLATFORM})\b", re.IGNORECASE)
_OWN = re.compile(rf"(?<![^\W_]){_POSSESSIVE}[ \t](?:\w{{2,12}}[ \t])?\Z", re.IGNORECASE)
_REACH_ON = re.compile(
    r"\b(?:add|follow|find|hit|dm|message|text|reach|contact|hmu|pm|ping|catch|friend|invite|look)"
    r"(?:[ \t](?:me|us|him|her|them|up)){0,2}[ \t](?:up )?(?:on|at|via|over|through|in)[ \t](?:my )?\Z",
    re.IGNORECASE,
)
_NAME_BEHIND_PLATFORM = re.compile(
    rf"(?:{_PLATFORM})(?P<sign>[ \t]?[,:(–-]{{1,2}}[ \t]?|[ \t](?:at|as|with|under|by|@|i['’]m|my (?:name"
    rf"|user|tag|id) is)[ \t]|[ \t])"
    rf"(?:(?:at|as|under|i['’]m|it['’]s)[ \t])?{_VALUE}",
    re.IGNORECASE,
)
# "auf insta heiß ich panda", "en instagram soy jane"
_CALLED_ON = re.compile(
    rf"(?:{_PLATFORM})[ \t](?:hei(?:ß|ss)e? ich|bin ich|soy|me llamo|je suis|je m['’]appelle|sono|mi chiamo"
    rf"|sou|me chamo|heet ik|ben ik|heter jag|är jag|hedder jeg|heter jeg)[ \t]{_VALUE}",
    re.IGNORECASE,
)
_IS_HANDLE = re.compile(r"(?:handle|user ?name)[ \t]", re.IGNORECASE)
_NAME_ON = re.compile(
    rf"\b(?:i['’]?m|i am|as|at|add|follow|it['’]?s|search(?: for)?|dm|message|user|username|me:?)[ "
    rf"\t]{_VALUE}"
    r"[ \t](?:over )?on[ \t](?:my )?\Z",
    re.IGNORECASE,
)
_IS_USER_NAME = re.compile(
    rf"(?<![\w@.-]){_VALUE}[ \t](?:is|was|=|ist|est|es|è)[ \t]{_POSSESSIVE}[ \t](?:\w{{2,12}}[ \t])?\Z",
    re.IGNORECASE,
)
_NAME_OF_ACCOUNT = re.compile(rf"(?:{_ACCOUNT_NAME}|handle|ign|{_PLATFORM})\b", re.IGNORECASE)
_SKYPE_ID = re.compile(r"live:(?P<value>(?:\.cid\.)?[A-Za-z0-9][\w.-]{3,40}\w)")
# user=jane, "for user jane from", "Accepted publickey for jane from"
_LOG_FIELD = re.compile(
    r"(?:user|usr|uname|ruser|acct|logname|username|login|sAMAccountName)[\"']?=[ \t]?(?P<mark>[\"']?)"
    r"(?P<value>\w[\w.-]{1,38}\w)"
    r"(?=[\"',;\s&)\]|]|\Z)(?!,? ?\w{1,30}=\w{0,30}[.(])",
    re.IGNORECASE,
)
_NEXT_FIELD = re.compile(r"[ \t]{1,4}[A-Za-z_]{2,20}=[^\s,()]{1,60}(?=\s|\Z)")
_LOG_USER = re.compile(
    r"user[ \t]\(?(?P<mark>[\"'`]?)(?P<value>[A-Za-z_][\w.-]{1,38}\w)[\"'`]?\)?(?![\w@(=\\/]|[.+-][\w@])",
    re.IGNORECASE,
)
_LOG_USER_BEFORE = re.compile(r"\b(?:for|by|as|from|invalid|unknown|illegal) \Z", re.IGNORECASE)
_LOG_SSH = re.compile(
    r"(?:password|publickey) for (?:invalid user )?(?P<value>[A-Za-z_][\w.-]{0,38}) from\b", re.IGNORECASE
)
_STANDARD_ACCOUNTS = frozenset(
    "root deploy ubuntu ec2-user admin administrator centos debian pi vagrant jenkins ansible azureuser core "
    "postgres oracle hadoop backup www-data app svc nobody daemon mysql nginx apache redis git ftp mail "
    "system sys sa dbo guest public default service self request this req ctx session context current_user "
    "auth kwargs args obj instance settings anonymous unauthenticated other another new old each any every "
    "me my your".split()
)
_REACH = 80
# As it is dictated: "user name is jane 22 password is …".
_NUMBER_BEHIND = re.compile(r"(?<=[^\W\d_]) \d{1,6}(?=[ ,.;]{0,2}(?:\Z|\n|and\b|password\b))")
_WORD = re.compile(r"[^\W\d_]+")
_STATE_ENDING = re.compile(r".{3,}(?:ed|ing|able|ible|less|ful|ly|ious|ally)", re.IGNORECASE)
_GOES_ON = re.compile(
    r"[ \t]+(?!(?:and|or|but|on|if|so|thanks|thank|please|plz|pls|in|at|with|for|y|und|et|e|i)\b)[^\W\d_]",
    re.IGNORECASE,
)
_CUE_IN_VALUE = re.compile(r"user|login|name|handle|alias|auth|pass|key|[a-z]_?id\b", re.IGNORECASE)
_INNER_CAPITAL = re.compile(r"[a-z][A-Z]")
TECHNICAL = re.compile(
    r"v?\d+(?:[.,:/-]\d+)*\w{0,3}|\w{0,3}\d(?:fa|d|g|k|st|nd|rd|th|x)|[\w.-]{1,30}\.(?:js|py|ts|net|io|com"
    r"|org|php|html?|json|ya?ml"
    r"|xml|txt|md|exe|png|jpe?g|csv|log|de|co|uk|fr|in)|utf-?\d+|oauth\d?|api\d?|ipv[46]|[a-z]+_(?:id|name"
    r"|key|token|type|list|model)s?"
    r"|\d{1,2}[:.]\d\d\w{0,2}|[a-z]+_[a-z_]+\.[a-z_]+|[a-z_]+\.[a-z]+_[a-z_]+|(?-i:[A-Z]{2,5})-\d{1,6}",
    re.IGNORECASE,
)


def find_announced_handles(text: str) -> Iterator[Span]:
    for start in find_cue_starts(_CUE_STARTS, text):
        yield from _find_at(text, start)


def _find_at(text: str, start: int) -> Iterator[Span]:
    """The names that the word at ``start`` announces, behind it or before it."""
    first = max(0, start - _REACH)
    own = _OWN.search(text, max(0, start - 24), start) is not None
    match = _ANNOUNCED.match(text, start)
    if match and _is_accepted(match, text, own):
        yield _value_span(match)
    if _PLATFORM_NAME.match(text, start):
        match = _NAME_BEHIND_PLATFORM.match(text, start) if _REACH_ON.search(text, first, start) else None
        if match and _is_reached(match, text):
            yield _value_span(match)
        match = _CALLED_ON.match(text, start)
        if match and is_free(_value_of(match)) and _may_be_announced_word(match, text):
            yield _value_span(match)
        match = _NAME_ON.search(text, first, start)
        if match and _may_be_named_before(match):
            yield _value_span(match)
    if own and _NAME_OF_ACCOUNT.match(text, start):
        match = _IS_USER_NAME.search(text, first, start)
        if match and _may_be_named_before(match):
            yield _value_span(match)
    yield from _find_in_log(text, start)


def _find_in_log(text: str, start: int) -> Iterator[Span]:
    field = _LOG_FIELD.match(text, start)
    is_field = field and text[start - 1 : start] != "." and is_free(field["value"])
    if (
        field
        and is_field
        and not field["value"].isdigit()
        and (field["mark"] or not is_ordinary(field["value"]) or _is_in_log_line(field, text))
    ):
        yield field.span("value")
    user = _LOG_USER.match(text, start)
    if user and (user["mark"] or _LOG_USER_BEFORE.search(text, max(0, start - 10), start)):
        value = user["value"]
        if is_free(value) and not TECHNICAL.fullmatch(value) and (user["mark"] or not is_ordinary(value)):
            yield user.span("value")
    ssh = _LOG_SSH.match(text, start)
    if ssh and is_free(ssh["value"]):
        yield ssh.span("value")
    skype = _SKYPE_ID.match(text, start)
    if skype and (".cid." in skype[0] or "kype" in text):
        yield skype.span()


def _is_in_log_line(field: re.Match[str], text: str) -> bool:
    """Whether more fields of a log follow: "user=panda action=login", but not "user=owner, role=role"."""
    return not is_frequent(field["value"]) and _NEXT_FIELD.match(text, field.end()) is not None


def is_ordinary(value: str) -> bool:
    """Whether it consists of words that a dictionary has: no name by itself."""
    if is_mixed(value) or is_word_pair(value):
        return False
    words = _WORD.findall(value)
    return not words or all(len(word) < 3 or look_up_word(word).common for word in words)


def is_frequent(value: str) -> bool:
    """Whether it consists of words that everybody uses: no name even where one is announced."""
    if is_mixed(value) or is_word_pair(value):
        return False
    words = _WORD.findall(value)
    return not words or all(len(word) < 3 or look_up_word(word).common > 1 for word in words)


def may_be_user_name(value: str) -> bool:
    """Whether a value that stands where a user name does can be one."""
    return len(value) <= 64 and is_free(value) and not value.isdigit()


_ANSWER = re.compile(
    r"(?:\s|[,.:;!\-–]|\b(?:yes|yeah|yep|sure thing|sure|just|only|mine|the one|named|called|ok|okay"
    r"|of course|hi|hello|it'?s|it is|its|i'?m|i am|my "
    r"(?:\w{2,12} ){0,2}(?:is|=)"
    r"|that'?s|c['’]est|es ist|das ist|ist|es|é|è|är|er|to|sono|mein|mon|mi|is|the|user ?name|user ?id"
    r"|handle|gamer ?tag|nick(?:name)?|under|as|please|here|try|should "
    r"be|think|i|on file)\b)*",
    re.IGNORECASE,
)
_ANSWERED_NAME = re.compile(_VALUE)


def find_answered_handles(reply: str) -> Iterator[Span]:
    """The user name with which a reply begins, after "sure, it's …"."""
    start = _ANSWER.match(reply)
    match = _ANSWERED_NAME.match(reply, start.end() if start else 0)
    if match is None or not may_be_user_name(_value_of(match)):
        return
    is_alone = not reply[match.end() :].strip(" .!?,\n")
    if is_mixed(_value_of(match)) or is_alone or not is_ordinary(_value_of(match)):
        yield _value_span(match)


def _value_of(match: re.Match[str]) -> str:
    return str(match["quoted"] or match["value"])


def _value_span(match: re.Match[str]) -> Span:
    start, end = match.span("quoted" if match["quoted"] else "value")
    number = None if match["quoted"] else _NUMBER_BEHIND.match(match.string, end)
    return start, number.end() if number else end


def _is_accepted(match: re.Match[str], text: str, own: bool) -> bool:
    value = _value_of(match)
    if not is_free(value) or (match["loose"] and _CUE_IN_VALUE.search(value)):
        return False
    if (
        match["sign"]
        and "=" in match["sign"]
        and (match["loose"] or (not match["quoted"] and is_ordinary(value)))
    ):
        return False
    if match["space"] is not None:
        if not is_mixed(value):
            return _IS_HANDLE.search(match[0]) is not None and _may_be_announced_word(match, text)
        return match["account"] is not None or own or "#" in value
    if (
        match["platform"]
        and match["sign"]
        and match["platform"].lower().replace(" ", "") in _PERSONAL_PLATFORMS
    ):
        return _may_be_name(match, text)
    if is_mixed(value) or (match["account"] and match["sign"] and value.isdigit() and len(value) > 3):
        return (
            match["account"] is not None or own or (match["sign"] is not None and match["platform"] is None)
        )
    if match["account"] is None and not own:
        return match["sign"] is not None and match["platform"] is None and _may_be_name(match, text)
    if match["quoted"] is None and _GOES_ON.match(text, match.end()):
        return False
    return match["account"] is not None or not is_frequent(value)


def _is_reached(match: re.Match[str], text: str) -> bool:
    """Of "find me on twitter as jane" or "follow us on twitter for updates", the first."""
    value = _value_of(match)
    return is_free(value) and (is_mixed(value) or _may_be_name(match, text))


def _may_be_named_before(match: re.Match[str]) -> bool:
    value = _value_of(match)
    return is_free(value) and (is_mixed(value) or not is_ordinary(value))


def _may_be_announced_word(match: re.Match[str], text: str) -> bool:
    """The same of any word but frequent ones."""
    return not is_frequent(_value_of(match)) and not _GOES_ON.match(text, match.end())


def _may_be_name(match: re.Match[str], text: str) -> bool:
    """Whether a word is a user name: one that no dictionary has, and no sentence goes on behind it."""
    value = _value_of(match)
    return is_mixed(value) or (not is_ordinary(value) and not _GOES_ON.match(text, match.end()))


def is_free(value: str) -> bool:
    """Whether it can be a name at all: no state, no group, no account that all machines have."""
    lower = value.lstrip("@$").lower()
    if len(lower) < 2 or lower in STATE_WORDS or lower in GROUP_WORDS or lower in _STANDARD_ACCOUNTS:
        return False
    if (
        "." in lower
        and lower.partition(".")[0] in _STANDARD_ACCOUNTS
        and is_ordinary(lower.partition(".")[2])
    ):
        return False
    if lower.isalpha() and _STATE_ENDING.fullmatch(lower) and look_up_word(lower).common:
        return False
    return any(map(str.isalnum, lower)) and lower not in ("http", "https", "www")


def is_mixed(value: str) -> bool:
    """Letters with digits or signs among them: jane_77, j.doe, jane#1234, JaneDoe."""
    bare = value.lstrip("@$")
    if bare != value and len(bare) > 1:
        return True
    if TECHNICAL.fullmatch(bare) or not any(map(str.isalpha, bare)):
        return False
    return not bare.replace("-", "").isalpha() or _INNER_CAPITAL.search(bare) is not None
