"""The filters of the list of turns, as they are in its address."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from datasets_app.models import Turn

MAX_TEXT_LENGTH = 500


class TurnFilter(NamedTuple):
    """Each is empty if it doesn't limit the list. The fields have the names of the parameters."""

    q: str = ""
    tag: str = ""
    role: str = ""

    @property
    def is_active(self) -> bool:
        return any(self)

    @property
    def has_text(self) -> bool:
        """Whether it names something that stands in a conversation. Such turns may be few and far apart, so
        the search index finds them."""
        return bool(self.q or self.tag)

    def as_parameters(self) -> dict[str, str]:
        """Those that limit the list."""
        return {name: value for name, value in self._asdict().items() if value}


def parse_turn_filter(parameters: Mapping[str, Any]) -> TurnFilter:
    """The filters in an address; leaves out a role that there isn't."""
    role = parameters.get("role", "")
    words, tag = (str(parameters.get(name, "")).strip()[:MAX_TEXT_LENGTH] for name in ("q", "tag"))
    return TurnFilter(words, tag, role if role in Turn.Role.values else "")
