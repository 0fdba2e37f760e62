"""User names of plain letters, by the phrase before them: "signed in as jdoe", "author": "jdoe", <jdoe> hi.

Nothing about "jdoe" tells it from a word, so the phrase has to, and no dictionary may have the word. Linear
in the length of the text: every pattern begins with one of a few words and repeats within bounds.
"""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import Span
from datasets_app.domain.pii.rules.announced_handles import (
    TECHNICAL,
    is_free,
    is_frequent,
    is_mixed,
    is_ordinary,
)
from datasets_app.domain.pii.rules.cue_words import find_cue_starts, make_cue_starts, make_cues
from datasets_app.domain.pii.rules.handle_names import is_run_together
from datasets_app.domain.pii.rules.handle_shapes import OF_NAMES, OF_WORDS, is_account_shape, rank
from datasets_app.domain.pii.rules.handle_words import TAG_WORDS

_VALUE = (
    r"[\"'“‘`(]?(?P<value>(?:\d{1,4}(?=[^\W\d_]{3}))?[^\W\d][\w.-]{1,38}\w)"
    r"(?![\w@\\/(=+]|[.-]\w|[\"']?:[\w/])"
)
_AS = r"(?:as|als|en tant que|comme|como|come|som|jako|under|with (?:the )?(?:username|user|login))"
_SIGNED_IN = re.compile(
    r"(?:(?:logged|signed|log|sign|logging|signing|logs|signs)[ -]?(?:in|on|up|into|back in)?|registered"
    r"|registering"
    r"|authenticated|connected|eingeloggt|angemeldet|registriert|connectée?|inscrite?|identifiée?"
    r"|conectad[oa]"
    r"|registrad[oa]|sesión|ingelogd|aangemeld|geregistreerd|inloggad|registrerad|logget (?:inn?|på)"
    r"|zalogowan[yae]|zarejestrowan[yae]|loggat[oa]|registrat[oa]|(?:find|add|look|reach|know)[ ](?:me"
    r"|us)(?:[ ]up)?)"
    rf"(?:[ \t](?!as\b|als\b)[\w']{{1,12}}){{0,3}}?[ \t]{_AS}[ \t:]{{1,2}}(?:user[ \t]"
    rf"|the user[ \t])?{_VALUE}",
    re.IGNORECASE,
)
_NAMED_USER = re.compile(
    r"(?:user|player|member|account|profile|seller|someone|somebody|streamer"
    r"|channel)s?[ \t](?:\w{2,8}[ \t]){0,2}?"
    rf"(?:named|called|nicknamed|by the name of|by the name|with the name)[ \t]{_VALUE}",
    re.IGNORECASE,
)
# "my handle used to be jdoe", "username I chose was jdoe", "screen name ..... jdoe"
_IN_CLAUSE = re.compile(
    r"(?:user[ _-]?names?|user[ _-]?id|(?<=my[ ])user(?=[ ])|screen[ _-]?name|gamer[ _-]?tag"
    r"|log-?in[ _-](?:name|id)|handles?|nick(?:[ _-]?name)?|ign"
    r"|alias|psn|account[ ]name|profile[ ]name|player[ ]name|character[ ]name|display[ ]name|benutzername"
    r"|nutzername"
    r"|identifiant|pseudo|usuario|usuário|nome utente|gebruikersnaam|brugernavn|brukernavn"
    r"|användarnamn)(?:['’]s)?"
    r"(?:(?:[ \t]{1,2}|,[ ])[\w']{1,12}){0,5}?"
    r"(?:[ \t]{0,2}(?:\.{2,40}|…|[:=|>→➡👉]|->|[-–—](?=[ \t]))[ \t]{0,3}|(?:[ \t]|,[ ])(?:is|was|be|to"
    r"|from|as|called|named"
    r"|ist|war|est|était|es|era|è|é|är|var|er|til|to|now|changed|just|actually|unban)[ \t:]{1,2}"
    r"|(?<=['’]s)[ \t]|[ \t]{0,2}\r?\n[ \t]{0,4})"
    rf"(?:now[ ]|still[ ]|just[ ]|set to[ ])?(?!(?:be|now|a|the|my|is|was|to|not|it|in|on|at|so"
    rf"|as|given|told|assigned|issued|sent|provided|using|supposed|trying)\b){_VALUE}",
    re.IGNORECASE,
)
_BEFORE_END = re.compile(
    r"(?:user[ _-]?name|screen[ _-]?name|gamer[ _-]?tag|log-?in[ ]name|nick(?:[ ]?name)?|ign"
    r"|psn(?:[ ]id)?|snap(?:chat)?|insta(?:gram)?"
    rf"|discord|telegram|tiktok|twitch|gt|xbl|kik)[ \t]{_VALUE}(?=[ ]?(?:[,;.!?)]|\Z|\n))",
    re.IGNORECASE,
)
# "auth failure for jdoe from", "login attempt by jdoe", "auth success: jdoe"
_LOG_EVENT = re.compile(
    r"(?:auth\w{0,12}|log-?[io]n|log-?out|sign-?in|password|session|access|mfa|2fa|otp|account|publickey"
    r"|user)"
    r"(?:[ \t:_-]{1,2}(?:fail\w{0,4}|success\w{0,3}|succeeded|ok|denied|granted|accepted|attempts?"
    r"|errors?|opened|closed"
    r"|started|ended|expired|revoked|reset|changed?|request(?:ed)?|reject(?:ed)?|lock(?:ed|out)|unlocked"
    r"|blocked"
    r"|enabled|disabled|deleted|created|suspended|verified|timeout)){1,3}"
    rf"(?:[ \t](?:for|by|of|from)(?:[ \t](?:invalid[ ]|unknown[ ])?user)?[ \t]|:[ \t]"
    rf"|[ \t](?=\w*\d)){_VALUE}",
    re.IGNORECASE,
)
_LOG_SESSION = re.compile(
    r"for user (?P<value>[A-Za-z_][\w.-]{1,38})(?=\(uid=)|uid=\d{1,7}\((?P<id>[A-Za-z_][\w.-]{1,38})\)"
    r"|session (?:opened|closed) for user (?P<opened>[A-Za-z_][\w.-]{0,38}\w)(?=[ \t]*(?:by \w|\n|\Z))"
)
# "author": "jdoe", 'from_user': 'jdoe'
_KEY = re.compile(
    r"(?P<mark>\\?[\"'])(?:\w{1,12}[_.-])?(?:user(?:[_-]?(?:name|handle))?|log-?in(?:[_-]?name)?|handle"
    r"|nick(?:[_-]?name)?"
    r"|screen[_-]?name|author|sender|owner|assignee|assigned[_-]?to|reporter|created[_-]?by"
    r"|updated[_-]?by|modified[_-]?by|target|principal|requester|requested[_-]?by|buyer|seller|poster|opponent"
    r"|friend|streamer|sub|follower|profile|gamer|rival|teammate|creator|approver|leader|maintainer|committer"
    r"|recipient|submitter|channel[_-]?name|display[_-]?name|approved[_-]?by|requested[_-]?by|invited[_-]?by|host"
    r"|submitted[_-]?by|posted[_-]?by|uploaded[_-]?by|uploader|commenter|reviewer|member|player"
    r"|gamer[_-]?tag|account"
    r"|account[_-]?name|from|to|mention|actor|participant"
    r"|speaker)(?P=mark)[ \t]{0,3}[:=][ \t]{0,3}(?P=mark)@?"
    r"(?P<value>(?:\d{1,4}(?=[^\W\d_]{3}))?[^\W\d][\w.-]{1,38}\w)(?P=mark)",
    re.IGNORECASE,
)
_BARE_KEY = re.compile(
    r"(?:user(?:[_-]?name)?|log-?in|handle|nick|screen[_-]?name|author|created[_-]?by|assignee|owner|sender)"
    r"[ ]?[:=][ ]?(?P<value>[^\W\d][\w.-]{1,38}\w)(?=[ ]?[,;}|]|[ ]\w{1,16}=)",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"(?:co-authored|signed-off|reviewed|acked|tested|reported|suggested)-by:[ \t]{1,2}"
    r"(?P<value>[^\W\d][\w.-]{0,37}\w)(?=[ \t]?<)",
    re.IGNORECASE,
)
_WHOLE = re.compile(r"[A-Za-z][\w.-]{2,38}\w")
# By themselves they say that a name follows, whatever it is made of.
_CERTAIN = (_SIGNED_IN, _IN_CLAUSE)
_PHRASES = (*_CERTAIN, _BEFORE_END, _NAMED_USER, _LOG_EVENT, _BARE_KEY)
_STARTS = make_cue_starts(
    """
    logged signed log sign register regist authenticat connect eingeloggt angemeldet inscrit identifié
    conectad
    sesión ingelogd aangemeld geregistreerd inloggad zalogowan zarejestrowan find_me find_us add_me
    look_me reach_me reach_us know_me
    benutzername nutzername identifiant pseudo usuario usuário nome_utente gebruikersnaam brugernavn
    brukernavn användarnamn
    gamer log-in psn snap insta discord telegram tiktok twitch gt xbl kik ign alias character display
    user player member account profile seller some streamer channel auth session password access mfa 2fa
    otp publickey
    handle nick screen author created assignee owner sender
    """
)
# The platform or the program, not a person; what a dictionary doesn't have of ordinary words.
_NO_PERSONS = frozenset(
    "facebook google apple twitter instagram discord steam github gitlab microsoft amazon netflix paypal "
    "linkedin tiktok "
    "spotify openai chatgpt claude gemini noreply no-reply donotreply mailer-daemon wifi vpn ssh ldap "
    "kerberos "
    "oauth saml sso localhost sudo sshd api http https admin2 superuser webmaster hostmaster postmaster "
    "wordpress "
    "samsung android iphone windows macos linux ubuntu chrome firefox ai_assistant chatbot gpt llm".split()
)
_LINK_OF_SIGN_IN = re.compile(rb" (?:as|als|under|com[eo]|comme|som|jako|with|que) ")
_LINK_OF_EVENT = re.compile(rb" (?:for|by|of|from) |: ")
_SIGNS_OF_KEY = (b'":', b"':", b"=", b" named ", b" called ", b" name ", b"uid=", b" by the name")
_SIGN_IN_CUES = make_cues(
    """
    logged signed log sign logging signing registered authenticated connected eingeloggt angemeldet
    registriert
    connecté connectée inscrit inscrite identifié conectado conectada registrado registrada sesión
    ingelogd aangemeld
    geregistreerd inloggad registrerad logget zalogowany zalogowana zarejestrowany zarejestrowana loggato
    loggata
    registrato registrata find add look reach know
    """
)
_EVENT_CUES = make_cues(
    "auth authentication login logon logout session password access mfa otp account user publickey"
)
_KEY_CUES = make_cues(
    "user username login handle nick nickname screenname author sender owner assignee reporter by "
    "uploader commenter "
    "reviewer member player gamertag account from to mention actor participant speaker name createdby"
)


def may_hold_phrase(encoded: bytes, cues: frozenset[bytes]) -> bool:
    """Whether one of the words is there, with what has to be near it."""
    if not cues:
        return False
    return (
        (not _SIGN_IN_CUES.isdisjoint(cues) and _LINK_OF_SIGN_IN.search(encoded) is not None)
        or (not _EVENT_CUES.isdisjoint(cues) and _LINK_OF_EVENT.search(encoded) is not None)
        or (any(sign in encoded for sign in _SIGNS_OF_KEY) and not _KEY_CUES.isdisjoint(cues))
    )


def find_in_phrases(text: str) -> Iterator[Span]:
    for start in find_cue_starts(_STARTS, text):
        for pattern in _PHRASES:
            match = pattern.match(text, start)
            if (
                match
                and not _is_person_named_nick(match)
                and _is_name(match["value"], certain=pattern in _CERTAIN)
            ):
                yield match.span("value")
    if '"' in text or "'" in text:
        for match in _KEY.finditer(text):
            if _is_name(match["value"]):
                yield match.span("value")
    if "-by: " in text:
        for match in _TRAILER.finditer(text):
            if _is_account(match["value"]):
                yield match.span("value")
    if "uid=" in text or "session " in text:
        for match in _LOG_SESSION.finditer(text):
            group = str(match.lastgroup)
            if _is_name(match[group]) or (group == "opened" and _is_account(match[group])):
                yield match.span(group)


def is_account_name(value: str) -> bool:
    """Whether a value of its own, as under a key of an object, looks like a user name only."""
    bare = value.lstrip("@")
    if not _WHOLE.fullmatch(bare):
        return False
    if is_run_together(bare) or (bare != value and is_free(bare)) or is_account_shape(bare):
        return True
    return "-" in bare and rank(bare) >= OF_WORDS


def _is_person_named_nick(match: re.Match[str]) -> bool:
    return match[0].startswith("Nick ") and match["value"][0].isupper()


def _is_name(value: str, *, certain: bool = False) -> bool:
    """Whether a token where only a user name stands is one: no word, no state, no account of all machines."""
    if not is_free(value) or value.lower() in _NO_PERSONS or TECHNICAL.fullmatch(value):
        return False
    if is_mixed(value):
        return certain or is_account_shape(value)
    return len(value) >= 4 and not is_ordinary(value)


def _is_account(value: str) -> bool:
    """Whether a token where nothing but an account stands is a person's: any word, none of all machines."""
    return is_free(value) and value.lower() not in _NO_PERSONS and not is_frequent(value)


# --- in front of a line, and in its place ------------------------------------------------------

_IN_BRACKETS = re.compile(
    r"^[ \t]{0,4}(?P<time>[\[(]?(?:\d{4}-\d\d-\d\d[T ])?\d{1,2}:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z"
    r"|[ ]?[aApP][mM])?[\])]?"
    r"[ \t]{1,2})?(?:\[?#[\w-]{1,30}\]?:?[ \t])?<[@+%&~!]?"
    r"(?P<name>[A-Za-z_\[\]{}^`|\\][\w\[\]{}^`|\\-]{1,30})>(?=[ \t]+[^\s<])",
    re.MULTILINE,
)
_BEFORE_COLON = re.compile(
    r"^[ \t]{0,4}(?P<time>[\[(]?(?:\d{4}-\d\d-\d\d[T ]"
    r"|\d{1,2}[./]\d{1,2}[./]\d{2,4},?[ ])?\d{1,2}:\d\d(?::\d\d)?(?:[ ]?[AP]M)?[\])]?"
    r"[ \t]{1,2}(?:-[ \t])?)?\*{0,2}(?P<name>[A-Za-z_][\w.-]{2,30}):?\*{0,2}:?[ \t](?<=[:*][ \t])(?=\S)",
    re.MULTILINE,
)
_EVENT_LINE = re.compile(
    r"^(?:[\[(]?[\d:. T-]{4,20}[\])]?[ \t])?(?:\*{1,3}|-!-|-->|<--|→|←)[ \t](?P<name>[A-Za-z_][\w.-]{1,30})"
    r"(?=[ \t](?:\[|\(|has |is now|joined|left|quit|sets? mode))",
    re.MULTILINE,
)
_MIN_LINES = 2
_ROLES = frozenset(
    "me you user agent support customer client bot assistant admin mod operator helper advisor rep".split()
)


def _is_speaker(name: str) -> bool:
    return is_run_together(name) or (is_account_shape(name) and any(map(str.isdigit, name)))


def find_speakers(text: str) -> Iterator[Span]:
    """<jane> or "jane77:" in front of what she writes, as chats are logged; no element of a page, no key."""
    if "<" in text:
        for match in _IN_BRACKETS.finditer(text):
            name = match["name"]
            if name.lower() in TAG_WORDS or f"</{name}" in text:
                continue
            if match["time"] or not is_ordinary(name):
                yield match.span("name")
    if ": " in text:
        lines = list(_BEFORE_COLON.finditer(text))
        people = [match for match in lines if _is_speaker(match["name"])]
        roles = sum(match["name"].lower() in _ROLES for match in lines)
        others = [match for match in lines if match not in people and rank(match["name"]) >= OF_WORDS]
        if len(people) + roles + len(others) >= _MIN_LINES:
            people += others if people else []
        else:
            people = [match for match in lines if match["time"] and rank(match["name"]) >= OF_NAMES]
        for match in people:
            yield match.span("name")
    for match in _EVENT_LINE.finditer(text):
        if is_free(match["name"]) and not is_ordinary(match["name"]):
            yield match.span("name")
