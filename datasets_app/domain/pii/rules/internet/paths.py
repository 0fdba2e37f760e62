"""Paths of a file system that name a user, a machine, or how things are kept inside a house.

``/usr/bin/python`` and ``C:\\Windows`` are the same everywhere and name nobody; nor do the paths
of addresses and of programming interfaces (``/v1/users``). Linear in the length of the text.
"""

import re
from collections.abc import Iterator

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.detector import PATH, Match, Span, drop_overlaps
from datasets_app.domain.pii.names.things import is_software
from datasets_app.domain.pii.word_lists import read_word_lists


def search_folded(text: str) -> list[Match]:
    """Every path that names something, in a folded text without placeholders; by start, no overlaps."""
    found: list[Span] = []
    if "/" in text:
        found += _find_unix_paths(text)
        found += _find_share_urls(text)
    if "\\" in text or ":/" in text:
        found += _find_windows_paths(text)
    return drop_overlaps(PATH, found)


# --- Unix -------------------------------------------------------------------------------------

_NAME = r"[^\s/\\\"'`<>|;,()\[\]{}:*?“”‘’]"
# A name with spaces counts where it begins with a capital and the path goes on behind it:
# /Library/Application Support/… The first quantifier takes all of the name, so that nothing is
# tried twice.
_SPACED_NAME = (
    r"(?:\\? (?=[A-Z0-9(&][^\s/\\\"'`<>|;,]{0,40}(?: [A-Z0-9(&-][^\s/\\\"'`<>|;,]{0,40}){0,2}/)"
    + _NAME
    + "{1,60})"
)
_PATH_REST = rf"(?:/{_NAME}{{1,255}}{_SPACED_NAME}{{0,3}}){{0,40}}/?"
# Folders below which every house keeps its own; where it is a user's, one name behind it is enough.
_UNIX_PATH = lazy_re.compile(
    rf"/(?<![\w./~$%+-]/)(?:(?P<user>(?:(?:export|usr|var|nfs)/)?home/|(?:private/|mnt/"
    rf"|cygdrive/)?[a-z]/Users/|Users/"
    r"|System/Volumes/Data/Users/|root/|var/mail/|var/spool/(?:mail|cron/crontabs)/|Volumes/|media/"
    r"|run/user/)"
    r"|(?P<own>srv/|mnt/|opt/|var/www/|nfs/|net/|export/|scratch/|volume\d/|builds/|workspaces?/|u\d\d/"
    r"|mount/|shares?/"
    r"|var/lib/jenkins/|var/backups/|private/var/folders/|var/folders/|gpfs/|lustre/|afs/|cluster/|pool/"
    r"|tank/)"
    rf"|(?P<weak>data/|projects?/|work/|apps/|storage/|backups?/|archive/|shared/|sites/|repos?/|var/opt/))"
    rf"(?P<first>{_NAME}{{1,255}}){_SPACED_NAME}{{0,3}}{_PATH_REST}"
)
_HOME_PATH = re.compile(
    rf"~(?<![\w~/.=]~)(?P<user>[A-Za-z_][\w.-]{{0,31}})?/(?P<first>{_NAME}{{1,255}}){_PATH_REST}"
)
# Names that exist on every machine.
_STANDARD_NAMES = read_word_lists(__file__)["standard names"]
# Where anything is mounted; what is below it is somebody's.
_MOUNTS = frozenset("usb usbstick cdrom dvd sdcard sd iso disk data nas cache array".split())
_HTTP_REQUEST = re.compile(
    r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|route|endpoint|url|uri|href)\b[\s:=\"'`(]{0,4}\Z", re.I
)
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,8}\Z")
_TRAILING_PUNCTUATION = ".,;:!?…\x1c"
_MAX_PATH_CHARACTERS = 1000


def _find_unix_paths(text: str) -> Iterator[Span]:
    for match in _UNIX_PATH.finditer(text):
        if match["first"] in _STANDARD_NAMES or not match["first"].strip(".~*-_"):
            continue
        if match["first"] in _MOUNTS and match[0].endswith(
            (f"mnt/{match['first']}", f"media/{match['first']}")
        ):
            continue
        if match["own"] == "opt/" and is_software(match["first"]):
            continue
        if match["user"] is None and not _is_deep_enough(match):
            continue
        if match["user"] is None and _HTTP_REQUEST.search(text, max(0, match.start() - 24), match.start()):
            continue
        yield _extend_to_end(text, match)
    if "~" in text:
        for match in _HOME_PATH.finditer(text):
            # ~/.bashrc is there for everybody; ~jane is not.
            if match["user"] or not match["first"].startswith("."):
                yield _extend_to_end(text, match)


def _is_deep_enough(match: re.Match[str]) -> bool:
    """/data/items may be part of an address: two names, or a file, must follow such a folder."""
    value = match[0].rstrip("/" + _TRAILING_PUNCTUATION)
    depth = value.count("/") - (match["own"] or match["weak"]).count("/")
    if match["own"] is not None:
        return depth >= 1
    return depth >= 3 or (depth >= 2 and _EXTENSION.search(value) is not None)


def _extend_to_end(text: str, match: re.Match[str]) -> Span:
    """The path to its end: to the closing quotation mark, if it stands in a pair of them."""
    start, end = match.span()
    quote = text[start - 1] if start else ""
    if quote and quote in "\"'`":
        closing = text.find(quote, end, start + _MAX_PATH_CHARACTERS)
        if closing >= 0 and "\n" not in text[start:closing] and _may_continue(text[end:closing]):
            return start, closing
    while end > start + 1 and text[end - 1] in _TRAILING_PUNCTUATION:
        end -= 1
    return start, end


def _may_continue(rest: str) -> bool:
    return len(rest) <= 120 and not set(rest) & set('<>|;"`')


# --- file:// and shares -----------------------------------------------------------------------

_SHARE_URL = re.compile(r"\b(?:file|smb|cifs|nfs|afp)://(?=[^\s\"'`<>])[^\s\"'`<>|]{1,1000}", re.IGNORECASE)


def _find_share_urls(text: str) -> Iterator[Span]:
    if "://" in text:
        for match in _SHARE_URL.finditer(text):
            value = match[0].rstrip(_TRAILING_PUNCTUATION + ")]}")
            yield match.start(), match.start() + len(value)


# --- Windows ----------------------------------------------------------------------------------

_WINDOWS_START = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z]:(?:\\{1,2}|/)(?![/\\])"
    r"|(?<![\\\w])\\\\(?:\\\\)?[A-Za-z0-9][\w.$-]{2,62}\\{1,2}(?!\\)"
)
_PART_CHARACTER = r"[^\s\\/:*?\"<>|'`,;()]"
_PLAIN_PART = re.compile(_PART_CHARACTER + "{1,255}")
# With spaces only if the path goes on behind them (C:\Users\Jane Doe\…), or ends in a file
# (Annual Report 2023.xlsx).
_SPACED_FOLDER = re.compile(rf"{_PART_CHARACTER}{{1,80}}(?: [(]?{_PART_CHARACTER}{{1,60}}[)]?){{1,4}}(?=\\)")
_SPACED_FILES = [
    re.compile(
        rf"{_PART_CHARACTER}{{1,80}}(?: "
        rf"[A-Z0-9(&-]{_PART_CHARACTER}{{0,60}}){{1,5}}(?<=\w\.{extension})(?!\w)"
    )
    for extension in (r"[A-Za-z]{3}", r"[a-z]{4}")
]
_PART_PATTERNS = (_SPACED_FOLDER, *_SPACED_FILES, _PLAIN_PART)
_SEPARATOR = re.compile(r"\\{1,2}|/")
_WINDOWS_SYSTEM_FOLDER = re.compile(
    r"(?:windows|winnt|program files(?: \(x86\))?|programdata|system32|temp|tmp|perflogs|recovery|msys64"
    r"|cygwin\d*|mingw\d*|\$recycle\.bin|python\d*|drivers|intel|amd|nvidia|users\\{1,2}(?:public|default))"
    r"(?:[\\/\s]|\Z)",
    re.IGNORECASE,
)


def _find_windows_paths(text: str) -> Iterator[Span]:
    place = 0
    while start := _WINDOWS_START.search(text, place):
        place = end = _find_windows_path_end(text, start.end())
        is_share = start[0].startswith("\\")
        if end > start.end() and (is_share or not _WINDOWS_SYSTEM_FOLDER.match(text, start.end(), end)):
            while text[end - 1] in _TRAILING_PUNCTUATION:
                end -= 1
            yield start.start(), end


def _find_windows_path_end(text: str, place: int) -> int:
    """Where the path ends whose first name begins at ``place``."""
    while part := next(filter(None, (pattern.match(text, place) for pattern in _PART_PATTERNS)), None):
        separator = _SEPARATOR.match(text, part.end())
        if separator is None:
            return part.end()
        place = separator.end()
    return place
