"""User names in what machines read: <login>jdoe</login>, /users/jdoe/settings, ssh jdoe@host, useradd jdoe.

Linear in the length of the text: every pattern begins with a constant and repeats within bounds.
"""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import Span
from datasets_app.domain.pii.rules.announced_handles import TECHNICAL, is_free, is_ordinary
from datasets_app.domain.pii.rules.profiles import is_name_on_site

_VALUE = r"(?P<value>[A-Za-z_][\w.-]{1,38}\w)"
_LABELS = (
    r"(?:user(?:[_-]?(?:name|login|handle))?|log-?in(?:[_-]?name)?|nick(?:[_-]?name)?|handle"
    r"|screen[_-]?name|author|owner"
    r"|sender|player|member|gamer[_-]?tag|account[_-]?name|assignee|reporter|createdby|creator)"
)
_ELEMENT = re.compile(rf"<(?:\w{{1,12}}[:_-])?{_LABELS}(?: [^<>]{{0,60}})?>@?{_VALUE}(?=</)", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    rf"(?:name|id)=[\"']{_LABELS}[\"'][^<>]{{0,40}}?value=[\"']@?{_VALUE}(?=[\"'])"
    rf"|<user [^<>]{{0,40}}?name=[\"'](?P<name>"
    r"[A-Za-z_][\w.-]{1,38}\w)(?=[\"'])",
    re.IGNORECASE,
)
_CELLS = re.compile(
    rf"(?:<t[dh]>|\|)[ \t]{{0,4}}(?:{_LABELS}|user name"
    rf"|screen name)[ \t]{{0,4}}(?:</t[dh]>\s{{0,4}}<t[dh]>|\|)[ \t]{{0,4}}@?{_VALUE}"
    r"(?=[ \t]{0,4}(?:</t|\||\n|\Z))",
    re.IGNORECASE,
)
_FOLDER = re.compile(
    rf"(?<=/)(?:users?|u|profiles?|members?|people|players?|authors?|accounts?|channels?"
    rf"|user-profile)/@?{_VALUE}(?![\w@.-])"
)
_AT_FOLDER = re.compile(r"(?<![\w/@])/(?P<value>@[A-Za-z_][\w.-]{1,38}\w)(?![\w@/])")
_ACCESS_LOG = re.compile(rf"(?<=\d) - {_VALUE} (?=\[\d)")
_COMMAND = re.compile(
    r"(?:\bssh(?:[ ]-\w[ ]?\S{0,30})?[ ]|\bscp[ ]|\bsftp[ ]"
    r"|\brsync[ ](?:-\w{1,8}[ ])?)(?P<login>[A-Za-z_][\w.-]{1,38})(?=@)"
    rf"|(?:\bsudo[ ]-u[ ]|\bsu[ ]-[ ]|\b(?:user(?:add|del|mod)|adduser|passwd|kinit|chage|chfn"
    rf"|finger)[ ](?:-\S{{1,12}}[ ](?:docker[ ]|sudo[ ]|wheel[ ])?){{0,2}}"
    rf"|[ ]-[uUl][ ]|[ ]--user(?:name)?[ =]|\bchown[ ](?:-R[ ])?|user\.name[ =][\"']?|\bCREATE USER[ ]"
    rf"|\bALTER USER[ ]|\bDROP USER[ ]"
    rf"|\bROLE[ ]|\b[Rr]ole[ ]\"|\bGRANT [\w ,*.]{{1,40}} TO[ ]|authenticating user[ ]|\b(?:uid|cn"
    rf"|sAMAccountName)=)[\"'`]?{_VALUE}(?![\w@/(])"
)
# "jdoe@web01:~$", "/w jdoe", "live:jdoe"
_ON_MACHINE = re.compile(
    r"(?<![\w.@/:+~-])(?P<value>[A-Za-z_][\w.-]{1,38})(?=@(?:[a-z][a-z-]{1,30}\d{1,4}|localhost|bastion|gateway|(?:\w{1,20}-)?"
    r"(?:laptop|macbook|desktop|server|pc|host|node|vm))(?![\w.@-]))",
    re.IGNORECASE,
)
_CHAT_COMMAND = re.compile(
    rf"(?<![\w/])/(?:w|msg|tell|whisper|invite|kick|ban|unban|mute|friend|query|whois|nick|dm|pm|duel"
    rf"|trade|tpa|op|deop)[ ]"
    rf"@?{_VALUE}(?![\w/(])"
)
# ACME\\jdoe, jdoe:x:1000:1000:, ?u=jdoe, users/jdoe
_IN_DOMAIN = re.compile(rf"(?<![\w\\/:.-])[A-Za-z][A-Za-z0-9-]{{1,14}}\\{{1,2}}{_VALUE}(?![\w\\/.(])")
_PASSWD_LINE = re.compile(rf"^{_VALUE}(?=:[x*!]:\d{{1,6}}:\d{{1,6}}:)", re.MULTILINE)
_QUERY = re.compile(rf"[?&](?:u|usr|user|login|handle|nick|author|member|player)={_VALUE}(?=[&#\s\"')]|\Z)")
_LOOSE_FOLDER = re.compile(
    r"(?<![\w./-])(?:users?|profiles?|members?|players?|authors?|u)/@?(?P<value>[A-Za-z_][\w.-]{1,38}\w)(?![\w@./-])"
)
_FIELD_ELEMENT = re.compile(
    rf"(?:name|id|key)=[\"']{_LABELS}[\"'][^<>]{{0,40}}>[ ]?@?{_VALUE}(?=[ ]?</)", re.IGNORECASE
)
_LIVE_ID = re.compile(rf"(?<![\w.])live:{_VALUE}(?![\w/:])")
# Such an address is personal as a whole.
_IN_ADDRESS = re.compile(r"://[^\s<>\"']{0,90}\Z")
_HINT = re.compile(
    rb"<[A-Za-z_:-]{0,12}(?:user|login|nick|handle|screen|author|owner|sender|player|member|gamer|account"
    rb"|assignee|report|creat)"
    rb"|/(?:users?|u|profiles?|members?|people|players?|authors?|accounts?|channels?)/|/@| - [\w.-]+ \[\d"
    rb"|\b(?:ssh|scp|sftp|rsync|sudo|su|useradd|userdel|usermod|adduser|passwd|kinit|chown|finger) "
    rb"| -[uUl] |--user|user\.name"
    rb"|USER |ROLE |ole \"|GRANT |authenticating user|\b(?:uid|cn)=|=[\"']?(?:user|login|nick)"
    rb"|\| ?(?:user|login|nick|handle|author|owner)"
    rb"|>(?:user|login|nick|handle|author)|[a-z]@[a-z]|[A-Za-z]\\\\?[A-Za-z]|:[x*!]:"
    rb"|[?&]u=|users?/|members?/|profiles?/|players?/|authors?/|\bu/"
    rb"|/(?:w|msg|tell|whisper|invite|kick|ban|mute|friend|nick) |live:",
    re.IGNORECASE,
)
_SIGNS = (
    *(b"/", b"@", b"=", b" -", b"<", b"|", b"\\", b"user", b"USER", b"ssh", b"sudo", b"ROLE", b'ole "'),
    b"live:",
)
_DOUBTFUL = (_IN_DOMAIN, _LOOSE_FOLDER)
# Elements of paths and words of manuals.
_PLACES = frozenset(
    "settings login logout new edit register search share bin local lib include src app username "
    "password".split()
)


def may_hold_carrier(encoded: bytes) -> bool:
    for sign in _SIGNS:
        if sign in encoded:
            return _HINT.search(encoded) is not None
    return False


# With each pattern constants, one of which is in whatever it matches.
_CARRIERS = (
    (_ELEMENT, ("</",)),
    (_ATTRIBUTE, ('="', "='")),
    (_CELLS, ("|", "<t", "<T")),
    (_FOLDER, ("/",)),
    (_AT_FOLDER, ("/@",)),
    (_ACCESS_LOG, (" - ",)),
    (
        _COMMAND,
        (
            *("ssh", "scp", "sftp", "rsync", "sudo", "su -", "user", "passwd", "kinit", "chage", "chfn"),
            *("finger", " -u", " -U", " -l", "chown", "USER ", "ROLE ", 'ole "', "GRANT ", "uid=", "cn="),
            "sAMAccountName=",
        ),
    ),
    (_ON_MACHINE, ("@",)),
    (_CHAT_COMMAND, ("/",)),
    (_LIVE_ID, ("live:",)),
    (_IN_DOMAIN, ("\\",)),
    (_PASSWD_LINE, (":x:", ":*:", ":!:")),
    (_QUERY, ("=",)),
    (_LOOSE_FOLDER, ("/",)),
    (_FIELD_ELEMENT, ("</",)),
)


def find_in_carriers(text: str) -> Iterator[Span]:
    for pattern, constants in _CARRIERS:
        if not any(map(text.__contains__, constants)):
            continue
        for match in _find_folders(text) if pattern is _FOLDER else pattern.finditer(text):
            group = next(name for name in ("value", "name", "login") if match.groupdict().get(name))
            if pattern in _DOUBTFUL and is_ordinary(match[group]):
                continue
            if _is_name(match[group]) and not _IN_ADDRESS.search(
                text, max(0, match.start() - 100), match.start()
            ):
                yield match.span(group)


def _find_folders(text: str) -> Iterator[re.Match[str]]:
    """What ``_FOLDER.finditer`` yields: to try it behind each slash is quicker."""
    place = text.find("/")
    while place >= 0:
        match = _FOLDER.match(text, place + 1)
        if match:
            yield match
        place = text.find("/", match.end() - 1 if match else place + 1)


def _is_name(value: str) -> bool:
    bare = value.lstrip("@")
    return (
        is_free(bare)
        and bare.lower() not in _PLACES
        and not bare.isupper()
        and TECHNICAL.fullmatch(bare) is None
        and is_name_on_site(bare)
        and (value != bare or not is_ordinary(bare))
    )
