"""What Alignmenter reads of a turn beyond its text: the case it belongs to, the sources of an answer, and the
rubrics by which it is graded."""

from collections.abc import Mapping
from typing import Any, NamedTuple

# As Alignmenter's scorers name the sources of an answer, in their order.
_SOURCES = ("excerpts", "passages", "documents", "sources", "context")
_PARTS = ("title", "section", "text", "content", "body")


class Rubric(NamedTuple):
    criterion: str
    points: float


class Case(NamedTuple):
    """``sources`` are texts of ``metadata.context``, ``rubrics`` those of ``metadata.rubrics``."""

    case_id: str = ""
    revision: str = ""
    sources: tuple[str, ...] = ()
    rubrics: tuple[Rubric, ...] = ()


def describe_case(metadata: Any, extra: Any) -> Case | None:
    """None for a turn without any of these."""
    metadata = metadata if isinstance(metadata, Mapping) else {}
    extra = extra if isinstance(extra, Mapping) else {}
    found = Case(
        _as_text(extra.get("case_id")),
        _as_text(extra.get("case_revision")),
        read_sources(metadata.get("context")),
        read_rubrics(metadata.get("rubrics")),
    )
    return found if any(found) else None


def read_sources(context: Any) -> tuple[str, ...]:
    if not isinstance(context, Mapping):
        return ()
    listed: list[Any] = next((context[key] for key in _SOURCES if isinstance(context.get(key), list)), [])
    return tuple(filter(None, map(_read_source, listed)))


def read_rubrics(rubrics: Any) -> tuple[Rubric, ...]:
    """Those that Alignmenter grades by: objects with a criterion."""
    found = []
    for rubric in rubrics if isinstance(rubrics, list) else ():
        criterion = rubric.get("criterion") if isinstance(rubric, Mapping) else None
        if isinstance(criterion, str) and criterion.strip():
            points = rubric.get("points", 1)
            found.append(Rubric(criterion.strip(), points if type(points) in (int, float) else 1))
    return tuple(found)


def wrap_context(context: Any) -> Any:
    """A context of text, or of several, as an object: Alignmenter stops at anything else."""
    if isinstance(context, str):
        return {"excerpts": [context]}
    return {"excerpts": context} if isinstance(context, list) else context


def _read_source(item: Any) -> str:
    if isinstance(item, str):
        return item
    parts = [item[key] for key in _PARTS if item.get(key)] if isinstance(item, Mapping) else []
    return "\n".join(map(str, parts))


def _as_text(value: Any) -> str:
    return str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
