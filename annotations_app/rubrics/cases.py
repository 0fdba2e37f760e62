"""The cases of a dataset that have rubrics: what `rubric-grade` grades, and what people judge of it."""

from collections.abc import Iterator
from typing import NamedTuple

from datasets_app.domain.conversations.cases import Rubric, read_rubrics
from datasets_app.models import Dataset, Turn

# As the campaigns of a dataset's cases are named: a number follows.
PREFIX = "rubrics"
MAX_NAME_CHARACTERS = 80


class RubricCase(NamedTuple):
    """A session with its rubrics and the reply that they are about: the last one with a text."""

    session: int
    session_id: str
    reply: Turn
    rubrics: tuple[Rubric, ...]


def read_cases(dataset: Dataset) -> Iterator[RubricCase]:
    """Without excluded sessions, and without those that have no rubric or no reply."""
    asked = Turn.objects.filter(dataset=dataset, session__excluded=False, metadata__has_key="rubrics")
    seen: set[int] = set()
    for turn in asked.select_related("session").order_by("session_id", "turn_index").iterator():
        if turn.session_id in seen or not isinstance((turn.metadata or {}).get("rubrics"), list):
            continue
        seen.add(turn.session_id)
        replies = Turn.objects.filter(dataset=dataset, session=turn.session_id, role="assistant")
        reply = replies.filter(text__regex=r"[^[:space:]]").order_by("-turn_index").first()
        rubrics = read_rubrics((turn.metadata or {})["rubrics"])
        if reply and rubrics:
            yield RubricCase(turn.session_id, turn.session.session_id, reply, rubrics)


def name_campaigns(dataset: Dataset) -> str:
    """How the names of its campaigns begin."""
    return f"{PREFIX}.{dataset.name[:MAX_NAME_CHARACTERS]}."
