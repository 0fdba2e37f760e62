"""What a source delivers for one pull."""

from array import array
from datetime import datetime
from pathlib import Path
from typing import NamedTuple


class Delivery(NamedTuple):
    """``files`` with their formats. ``names`` are remembered, ``spans`` are deleted, and the source has been
    pulled ``until`` then, in the transaction that imports. With ``more``, another pull follows at once."""

    files: list[tuple[Path, str]]
    names: list[str] = []
    spans: "array[int]" = array("q")
    until: datetime | None = None
    more: bool = False
