"""Paths of a file system that name a user, a machine, or how things are kept inside a house.

``/usr/bin/python`` and ``C:\\Windows`` are the same everywhere and name nobody; nor do the paths
of addresses and of programming interfaces (``/v1/users``). Linear in the length of the text.
"""

import re
from collections.abc import Iterator

from datasets_app.domain.pii.detector import PATH, Match
from datasets_app.domain.pii.folding import find_in_fold

Span = tuple[int, int]


def find(text: str) -> list[Match]:
    """Every path in ``text`` that tells something, in order of its start, none overlapping another."""
    return find_in_fold(text, search)


def search(text: str) -> list[Match]:
    """The same in a text that is folded, its placeholders blanked."""
    found: list[Span] = []
    if "/" in text:
        found += _unix(text)
        found += _addresses(text)
    if "\\" in text or ":/" in text:
        found += _windows(text)
    kept: list[Match] = []
    for start, end in sorted(found, key=lambda span: (span[0], -span[1])):
        if not kept or start >= kept[-1].end:
            kept.append(Match(PATH, start, end))
    return kept


# --- Unix -------------------------------------------------------------------------------------

_NAME = r"[^\s/\\\"'`<>|;,()\[\]{}:*?“”‘’]"
# A name with spaces counts where it begins with a capital and the path goes on behind it:
# /Library/Application Support/… The first quantifier takes all of the name, so that nothing is
# tried twice.
_SPACED = (
    r"(?:\\? (?=[A-Z0-9(&][^\s/\\\"'`<>|;,]{0,40}(?: [A-Z0-9(&-][^\s/\\\"'`<>|;,]{0,40}){0,2}/)"
    + _NAME
    + "{1,60})"
)
_REST = rf"(?:/{_NAME}{{1,255}}{_SPACED}{{0,3}}){{0,40}}/?"
# Folders below which every house keeps its own; where it is a user's, one name behind it is enough.
_UNIX = re.compile(
    rf"/(?<![\w./~$%+-]/)(?:(?P<user>(?:(?:export|usr|var|nfs)/)?home/|(?:private/|mnt/|cygdrive/)?[a-z]/Users/|Users/"
    r"|System/Volumes/Data/Users/|root/|var/mail/|var/spool/(?:mail|cron/crontabs)/|Volumes/|media/|run/user/)"
    r"|(?P<own>srv/|mnt/|opt/|var/www/|nfs/|net/|export/|scratch/|volume\d/|builds/|workspaces?/|u\d\d/|mount/|shares?/"
    r"|var/lib/jenkins/|var/backups/|private/var/folders/|var/folders/|gpfs/|lustre/|afs/|cluster/|pool/|tank/)"
    rf"|(?P<weak>data/|projects?/|work/|apps/|storage/|backups?/|archive/|shared/|sites/|repos?/|var/opt/))"
    rf"(?P<first>{_NAME}{{1,255}}){_SPACED}{{0,3}}{_REST}"
)
_HOME = re.compile(rf"~(?<![\w~/.=]~)(?P<user>[A-Za-z_][\w.-]{{0,31}})?/(?P<first>{_NAME}{{1,255}}){_REST}")
# What stands there on every machine.
_ON_EVERY_MACHINE = """
    html bin lib lib64 share local homebrew conda miniconda anaconda anaconda3 miniconda3 venv google
    microsoft containerd rocm intel nvidia X11 android java jdk python python3 node cni splunk gitlab rh
    puppetlabs brew kafka tomcat spark hadoop Shared Public default localhost
"""
_COMMON = frozenset(_ON_EVERY_MACHINE.split())
_REQUEST = re.compile(
    r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS|route|endpoint|url|uri|href)\b[\s:=\"'`(]{0,4}\Z", re.I
)
_EXTENSION = re.compile(r"\.[A-Za-z0-9]{1,8}\Z")
_TRAILING = ".,;:!?…\x1c"
_LONGEST = 1000


def _unix(text: str) -> Iterator[Span]:
    for match in _UNIX.finditer(text):
        if match["first"] in _COMMON or not match["first"].strip(".~*-_"):
            continue
        if match["user"] is None and not _is_deep_enough(match):
            continue
        if match["user"] is None and _REQUEST.search(text, max(0, match.start() - 24), match.start()):
            continue
        yield _whole(text, match)
    if "~" in text:
        for match in _HOME.finditer(text):
            # ~/.bashrc is there for everybody; ~jane is not.
            if match["user"] or not match["first"].startswith("."):
                yield _whole(text, match)


def _is_deep_enough(match: re.Match[str]) -> bool:
    """/data/items may be part of an address: two names, or a file, must follow such a folder."""
    value = match[0].rstrip("/" + _TRAILING)
    depth = value.count("/") - (match["own"] or match["weak"]).count("/")
    if match["own"] is not None:
        return depth >= 1
    return depth >= 3 or (depth >= 2 and _EXTENSION.search(value) is not None)


def _whole(text: str, match: re.Match[str]) -> Span:
    """The path to its end: to the closing quotation mark, if it stands in a pair of them."""
    start, end = match.span()
    quote = text[start - 1] if start else ""
    if quote and quote in "\"'`":
        closing = text.find(quote, end, start + _LONGEST)
        if closing >= 0 and "\n" not in text[start:closing] and _may_go_on(text[end:closing]):
            return start, closing
    while end > start + 1 and text[end - 1] in _TRAILING:
        end -= 1
    return start, end


def _may_go_on(rest: str) -> bool:
    return len(rest) <= 120 and not set(rest) & set('<>|;"`')


# --- file:// and shares -----------------------------------------------------------------------

_ADDRESS = re.compile(r"\b(?:file|smb|cifs|nfs|afp)://(?=[^\s\"'`<>])[^\s\"'`<>|]{1,1000}", re.IGNORECASE)


def _addresses(text: str) -> Iterator[Span]:
    if "://" in text:
        for match in _ADDRESS.finditer(text):
            value = match[0].rstrip(_TRAILING + ")]}")
            yield match.start(), match.start() + len(value)


# --- Windows ----------------------------------------------------------------------------------

_START = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z]:(?:\\{1,2}|/)(?![/\\])"
    r"|(?<![\\\w])\\\\(?:\\\\)?[A-Za-z0-9][\w.$-]{2,62}\\{1,2}(?!\\)"
)
_PART = r"[^\s\\/:*?\"<>|'`,;()]"
_PLAIN_PART = re.compile(_PART + "{1,255}")
# With spaces only if the path goes on behind them (C:\Users\Jane Doe\…), or ends in a file
# (Annual Report 2023.xlsx).
_SPACED_FOLDER = re.compile(rf"{_PART}{{1,80}}(?: [(]?{_PART}{{1,60}}[)]?){{1,4}}(?=\\)")
_SPACED_FILES = [
    re.compile(rf"{_PART}{{1,80}}(?: [A-Z0-9(&-]{_PART}{{0,60}}){{1,5}}(?<=\w\.{extension})(?!\w)")
    for extension in (r"[A-Za-z]{3}", r"[a-z]{4}")
]
_PARTS = (_SPACED_FOLDER, *_SPACED_FILES, _PLAIN_PART)
_SEPARATOR = re.compile(r"\\{1,2}|/")
_SYSTEM = re.compile(
    r"(?:windows|winnt|program files(?: \(x86\))?|programdata|system32|temp|tmp|perflogs|recovery|msys64"
    r"|cygwin\d*|mingw\d*|\$recycle\.bin|python\d*|drivers|intel|amd|nvidia|users\\{1,2}(?:public|default))"
    r"(?:[\\/\s]|\Z)",
    re.IGNORECASE,
)


def _windows(text: str) -> Iterator[Span]:
    place = 0
    while start := _START.search(text, place):
        place = end = _end_of_windows(text, start.end())
        is_share = start[0].startswith("\\")
        if end > start.end() and (is_share or not _SYSTEM.match(text, start.end(), end)):
            while text[end - 1] in _TRAILING:
                end -= 1
            yield start.start(), end


def _end_of_windows(text: str, place: int) -> int:
    """Where the path ends whose first name begins at ``place``."""
    while part := next(filter(None, (pattern.match(text, place) for pattern in _PARTS)), None):
        separator = _SEPARATOR.match(text, part.end())
        if separator is None:
            return part.end()
        place = separator.end()
    return place
