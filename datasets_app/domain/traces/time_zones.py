"""Time zones behind a time, or in the name of its column: "10:00 CET", "10:00 +0100", "Created (MEZ)"."""

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

# Hours from UTC of the abbreviations that mean one zone only.
_HOURS = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "WEZ": 0, "WEST": 1, "WESZ": 1, "CET": 1, "MEZ": 1, "MET": 1,
    "WAT": 1, "CEST": 2, "MESZ": 2, "MEST": 2, "EET": 2, "OEZ": 2, "CAT": 2, "SAST": 2, "EEST": 3, "OESZ": 3,
    "MSK": 3, "EAT": 3, "TRT": 3, "PKT": 5, "NPT": 5.75, "WIB": 7, "WITA": 8, "AWST": 8, "HKT": 8, "SGT": 8,
    "WIT": 9, "JST": 9, "KST": 9, "ACST": 9.5, "AEST": 10, "ACDT": 10.5, "AEDT": 11, "NZST": 12, "NZDT": 13,
    "BRT": -3, "NDT": -2.5, "EDT": -4, "EST": -5, "MDT": -6, "PDT": -7, "AKDT": -8, "AKST": -9, "HDT": -9,
    "HST": -10,
}  # fmt: skip
_SEVERAL = frozenset("CST CDT IST PST BST AST ADT MST SST GST AMT ACT ECT NST".split())
_CLOCK = r"\d[:.h]\d{2}(?:[:.]\d{2}(?:[.,]\d{1,9})?)?(?:\s*Uhr)?(?:\s*[ap]\.?\s?m\b\.?)?"
_NAME = (
    r"\[[\w/+-]{1,40}\]|\([^()\d]{1,60}\)|[A-Za-z]{3,10}/[A-Za-z_/+-]{2,30}|(?!(?:Uhr|[ap]m)\b)[A-Za-z]{1,5}"
)
_OFFSET = r"(?:UTC|GMT)?\s?(?P<sign>[+\u2212-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d{2}))?"
_ZONED = re.compile(
    rf"(?P<time>.*?{_CLOCK})\s*(?:(?P<offset>{_OFFSET})\s*(?:{_NAME})?|(?P<name>{_NAME}))", re.IGNORECASE
)
_STATED = re.compile(rf".*[(\[]\s*(?:(?P<offset>{_OFFSET})|(?P<name>{_NAME}))\s*[)\]]\s*", re.IGNORECASE)
MAX_CHARACTERS = 100


class UnknownZone(Exception):
    """An abbreviation that means no zone, or several. ``name`` is empty if it may be any words."""

    def __init__(self, name: str) -> None:
        super().__init__("a time zone that isn't known")
        self.name = name if len(name) <= 5 and name.isalpha() else ""


def split_zone(text: str) -> tuple[str, tzinfo | None]:
    """A time without its zone, and the zone; None if it has none. Raises UnknownZone."""
    match = _ZONED.fullmatch(text) if len(text) <= MAX_CHARACTERS else None
    return (match["time"], _read_zone(match)) if match else (text, None)


def find_stated_zone(column: str) -> str:
    """ "CET" of the column "Created (CET)"; empty if a remark there is none."""
    match = _STATED.fullmatch(column) if len(column) <= MAX_CHARACTERS else None
    if not match:
        return ""
    name = match["name"] or ""
    is_zone = bool(match["offset"]) or name in _HOURS or name in _SEVERAL or _load_zone(name) is not None
    return (match["offset"] or name) if is_zone else ""


def move_to_zone(seconds: float, zone: tzinfo) -> float:
    """Seconds that were read as if they were UTC."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=zone).timestamp()


def _read_zone(match: re.Match[str]) -> tzinfo:
    if match["offset"]:
        offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
        if offset >= timedelta(hours=24):
            raise UnknownZone("")
        return timezone(offset if match["sign"] == "+" else -offset)
    name = match["name"].strip("()[]").strip()
    if name.upper() in _HOURS:
        return timezone(timedelta(hours=_HOURS[name.upper()]))
    if zone := _load_zone(name):
        return zone
    raise UnknownZone(name)


def _load_zone(name: str) -> ZoneInfo | None:
    """ "Europe/Berlin"."""
    try:
        return ZoneInfo(name) if "/" in name else None
    except (LookupError, ValueError, OSError):
        return None
