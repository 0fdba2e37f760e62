"""Credentials: tokens of providers, private keys, passwords, and what is random near a word like "key".

Standard library only, linear in the length of the text. Git hashes and UUIDs look like keys: only a
word near them that says so makes them credentials.
"""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import CREDENTIAL, Match
from datasets_app.domain.pii.entropy import UUID_PATTERN, is_digest, is_hexadecimal, is_random
from datasets_app.domain.pii.rules.credentials.assignments import find_assigned_values, may_hold_assignment
from datasets_app.domain.pii.rules.credentials.provider_tokens import build_token_pattern

Span = tuple[int, int]


def search_folded(text: str) -> list[Match]:
    """Every credential in a folded text without placeholders, by its start, without overlaps."""
    found: list[Span] = []
    if _LONG_WORD.search(text):
        found += [*_find_tokens(text), *_find_random_words(text), *find_assigned_values(text)]
    elif may_hold_assignment(text):
        found += find_assigned_values(text, has_long_words=False)
    if "-----" in text or "PuTTY" in text or "---- " in text:
        found += _find_private_keys(text)
    found += _find_in_urls(text)
    found += _find_in_commands(text)
    return [Match(CREDENTIAL, start, end) for start, end in _join_spans(found)] if found else []


# Shorter tokens than this are told by the word before them only.
_LONG_WORD = re.compile(r"[A-Za-z0-9_+/=~|.:%-]{14}")


def _join_spans(spans: list[Span]) -> list[Span]:
    """Overlapping spans as one: a token in the value of ``api_key=`` is one credential."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


# --- told by their form -----------------------------------------------------------------------


def _find_tokens(text: str) -> Iterator[Span]:
    for match in build_token_pattern().finditer(text):
        value = match[0].rstrip(".-")
        # Some prefixes are hexadecimal digits: one hash in 65,536 begins with "4b1d", as ClickHouse keys do.
        if not is_digest(value):
            yield match.start(), match.start() + len(value)


_KEY_HEADER = re.compile(
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|PuTTY-User-Key-File-\d:"
)
_KEY_HEADER_WORD = re.compile("BEGIN|PuTTY-User")
_KEY_FOOTER = re.compile(
    r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}|Private-MAC: ?[0-9a-f]{0,80}"
)
# Lines of base64 and of headers; a line break may be written \n. The last line of a key that was
# cut off is short.
_LINE_BREAK = r"(?:\s|\\[nr])"
_KEY_BODY = re.compile(
    rf"(?:{_LINE_BREAK}{{0,8}}(?:[A-Za-z0-9+/=_-]{{24,}}|[A-Z][A-Za-z-]{{2,20}}: [^\r\n\\]{{0,200}}))*"
    rf"(?:{_LINE_BREAK}{{0,8}}[A-Za-z0-9+/=_-]+\s{{0,8}}\Z)?"
)
_KEY_BODY_BACKWARDS = re.compile(r"(?:(?:\s|[nr]\\){0,8}[A-Za-z0-9+/=]{16,})*")
_MAX_KEY_CHARACTERS = 20_000


def _find_private_keys(text: str) -> Iterator[Span]:
    place = 0
    while head := _KEY_HEADER.search(text, place):
        farthest = head.end() + _MAX_KEY_CHARACTERS
        next_head = _KEY_HEADER_WORD.search(text, head.end(), farthest)
        foot = _KEY_FOOTER.search(text, head.end(), next_head.start() if next_head else farthest)
        end = (foot or _KEY_BODY.match(text, head.end(), farthest) or head).end()
        yield head.start(), end
        place = end
    if foot := _KEY_FOOTER.search(text, place):
        # Only its end was copied.
        before = text[max(place, foot.start() - _MAX_KEY_CHARACTERS) : foot.start()][::-1]
        body = _KEY_BODY_BACKWARDS.match(before)
        if body and body.end() > 16:
            yield foot.start() - body.end(), foot.end()


# --- told by where they stand -----------------------------------------------------------------

_URL = re.compile(r"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,30}://(?=([^\s/\"'<>]{1,300}))")


def _find_in_urls(text: str) -> Iterator[Span]:
    """The password of scheme://user:password@host; without a colon a token that is the user."""
    if "://" not in text:
        return
    for url in _URL.finditer(text):
        user, at, _ = url[1].rpartition("@")
        name, colon, password = user.partition(":")
        start = url.start(1)
        if not at or "?" in name or "#" in name or _PLACEHOLDER_VALUE.fullmatch(password or name):
            continue
        if password:
            yield start + len(name) + 1, start + len(user)
        elif not colon and (is_random(name) or is_hexadecimal(name)):
            yield start, start + len(user)


_PLACEHOLDER_VALUE = re.compile(
    r"[*•.xX]*|<.*|\$.*|\{.*|%\w+%|\[.*|(?i:pass(?:word|wd)?|pw|pwd|secret|token)"
)
_VALUE = r"""(?:"([^"\r\n]{2,200})"|'([^'\r\n]{2,200})'|([^\s"'`|;&<>]{2,200}))"""
_COMMAND = re.compile(
    r"(?:\b(?P<user>curl|wget|http|https|ab|svn|lftp|smbclient|ldapsearch|kinit)"
    r"|\b(?P<p>mysql\w{0,10}|mariadb\w{0,8}|mongo\w{0,8}|sshpass|docker login|podman login"
    r"|helm registry login|psexec\w{0,3}|sqlcmd|redis-cli|az login|oc login|winexe|xfreerdp|net use"
    r"|impacket-\w{1,20}|ansible\w{0,10}|pg_dump|influx|cqlsh|bcp|keytool|openssl|zip|unzip|7z))\b"
)
_USER_OPTION = re.compile(
    rf"(?<!\S)(?:-u|--user|--proxy-user|-U)[ =]{{0,2}}[\"']?[^\s:\"'/]{{1,64}}:{_VALUE}"
)
_PASSWORD_OPTION = re.compile(
    rf"(?<!\S)(?:-[pPwWa]|/p:|--pass(?:word|in|phrase)?|--auth)[ =:]{{0,2}}{_VALUE}"
)
_MAX_COMMAND_CHARACTERS = 300


def _find_in_commands(text: str) -> Iterator[Span]:
    if " -" not in text and "/p:" not in text:
        return
    place = 0
    while command := _COMMAND.search(text, place):
        place = command.end()
        option = _USER_OPTION if command["user"] else _PASSWORD_OPTION
        line = text.find("\n", place, place + _MAX_COMMAND_CHARACTERS)
        found = option.search(text, place, line if line >= 0 else place + _MAX_COMMAND_CHARACTERS)
        if found:
            start, end = next(found.span(group) for group in (1, 2, 3) if found[group] is not None)
            if (
                text[start] != "-"
                and not _PLACEHOLDER_VALUE.fullmatch(text[start:end])
                and not _PORT_MAPPING.fullmatch(text, start, end)
            ):
                yield start, end
                place = end


_PORT_MAPPING = re.compile(r"\d{1,5}(?:[:/.]\d+)*(?:/\w+)?|/\S*")

# --- random words -----------------------------------------------------------------------------

_WORD = re.compile(r"(?<![\w+/.~-])[\w+/~-]{20,512}(?![\w+/~-])={0,2}", re.ASCII)
_CONTEXT_CHARACTERS = 48
_KEY_WORDS = re.compile(
    r"key|secret|token|passw|credential|bearer|auth|api\b|jwt|cookie|login|access|private|sign(?:ing"
    r"|ature)|dsn\b|webhook",
    re.IGNORECASE,
)
_OTHER_WORDS = re.compile(
    r"commit|\bsha|md5|hash|digest|checksum|\brev|etag|uuid|guid|trace|request|correlation|order|track|build"
    r"|image|blob|base64,|fingerprint|block|\btx|transaction|serial|wallet|address|integrity|version|public",
    re.IGNORECASE,
)


def _find_random_words(text: str) -> Iterator[Span]:
    for match in _WORD.finditer(text):
        word = match[0]
        if UUID_PATTERN.fullmatch(word) or not (is_random(word) or is_hexadecimal(word)):
            continue
        start, end = match.span()
        before = text[max(0, start - _CONTEXT_CHARACTERS) : start]
        if _OTHER_WORDS.search(before) or _is_part_of_url(text, start):
            continue
        if (
            _has_three_character_kinds(word)
            and len(word) >= 24
            or _KEY_WORDS.search(before)
            or _KEY_WORDS.search(text, end, end + 16)
        ):
            yield start, end


def _is_part_of_url(text: str, start: int) -> bool:
    space = max(text.rfind(sign, max(0, start - 300), start) for sign in " \n\t\"'<(")
    return "://" in text[space + 1 : start] or "www." in text[space + 1 : start]


def _has_three_character_kinds(word: str) -> bool:
    return (
        any("a" <= sign <= "z" for sign in word)
        and any("A" <= sign <= "Z" for sign in word)
        and sum(sign.isdigit() for sign in word) >= 2
        and not is_hexadecimal(word)
        and word.count("/") < 3
    )
