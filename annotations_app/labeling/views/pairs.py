"""Two replies to one conversation, shown as A and B: nothing on the page tells which dataset they are of."""

from typing import Any, NamedTuple

from django.db.models import Exists, OuterRef, QuerySet
from django.http import Http404

from annotations_app.models import Assignment
from datasets_app.models import Turn


class Side(NamedTuple):
    """``turn`` is what ``_turn_text.html`` shows."""

    name: str
    turn: Any


def find_side(assignment: Assignment, name: str) -> Turn:
    """The reply shown as "a" or "b". Raises Http404."""
    pair = assignment.item.pair
    if name not in ("a", "b"):
        raise Http404
    return pair.turn if (name == "a") == pair.swapped else assignment.item.turn


def keep_common(turns: QuerySet[Turn, Any], assignment: Assignment) -> QuerySet[Turn, Any]:
    """The turns before the replies that both conversations have: others would tell whose conversation it is,
    as would those after them."""
    other = assignment.item.pair.turn
    same = Turn.objects.filter(
        dataset=other.dataset_id,
        session=other.session_id,
        turn_index=OuterRef("turn_index"),
        role=OuterRef("role"),
        text=OuterRef("text"),
    )
    return turns.filter(Exists(same), turn_index__lt=assignment.item.turn.turn_index)
