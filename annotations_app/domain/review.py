"""Review tasks of Alignmenter: what they ask, and how judgments are written into them.

A task comes back as it was, but for its ``annotation``: Alignmenter refuses any other change.
"""

import json
import re
import uuid
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from datasets_app.domain.labels.schema import Schema
from datasets_app.domain.labels.schema_document import read_document
from datasets_app.domain.traces.formats.review_tasks import matches

OUTCOME, RATIONALE = "outcome", "rationale"
OUTCOMES = {"met": "Met", "violated": "Violated", "not_applicable": "Not applicable"}
UNANIMOUS = "unanimous"
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._-]+")


class InvalidTask(ValueError):
    """A line that is no review task; the message says why."""


class ReviewCriterion(NamedTuple):
    """What is asked, from the tasks of one criterion; ``rubric`` may be empty."""

    key: str
    rubric: str
    allow_not_applicable: bool

    @property
    def name(self) -> str:
        """The criterion in names of schemas and campaigns."""
        return _NOT_IN_NAMES.sub("-", self.key)[:80].strip("-._") or "criterion"


class Opinion(NamedTuple):
    """What a person, or a model, said; ``adjudicated`` if it settles what others said. ``key`` names the
    decision, so that the same is exported with the same id."""

    key: str
    reviewer: str
    outcome: str
    rationale: str
    adjudicated: bool = False
    is_model: bool = False


def list_criteria(tasks: Iterable[dict[str, Any]]) -> list[ReviewCriterion]:
    found: dict[str, ReviewCriterion] = {}
    for task in tasks:
        asked = task["criterion"]
        found.setdefault(
            asked["id"],
            ReviewCriterion(asked["id"], asked.get("rubric") or "", bool(asked.get("allow_not_applicable"))),
        )
    return list(found.values())


def make_schema(criterion: ReviewCriterion) -> Schema:
    """An outcome and a reason, both of which the tool requires."""
    outcomes = [
        {"value": value, "name": name}
        for value, name in OUTCOMES.items()
        if criterion.allow_not_applicable or value != "not_applicable"
    ]
    question = f"Is the criterion “{criterion.key[:200]}” met?"
    return read_document(
        {
            "schema": f"review.{criterion.name}",
            "criteria": [
                {"key": OUTCOME, "question": question, "kind": "choice", "answers": outcomes},
                {"key": RATIONALE, "question": "Why?", "kind": "text"},
            ],
        }
    )


def read_task(line: str) -> dict[str, Any]:
    """Raises :class:`InvalidTask`."""
    try:
        value = json.loads(line)
        # It is written again: half of a character can't be.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise InvalidTask("is not valid JSON") from None
    if not matches(value) or type(value["criterion"]) is not dict:
        raise InvalidTask("is no review task: export them with `alignmenter review-export RUN --out FILE`")
    asked = value["criterion"]
    texts = (value["review_key"], asked.get("id"), asked.get("rubric") or "")
    if not all(type(text) is str for text in texts) or (
        not _is_uuid(value.get("evaluation_id")) or type(value["annotation"]) is not dict
    ):
        raise InvalidTask("is a damaged review task: export it again")
    return dict(value)


def _is_uuid(value: Any) -> bool:
    try:
        return type(value) is str and bool(uuid.UUID(value))
    except ValueError:
        return False


def settle(opinions: list[Opinion]) -> list[Opinion]:
    """With the judgment that settles them: somebody's decision, else what two or more people all say."""
    people = [one for one in opinions if not one.adjudicated and not one.is_model]
    if any(one.adjudicated for one in opinions) or len(people) < 2:
        return opinions
    if len({one.outcome for one in people}) > 1:
        return opinions
    reason = "; ".join(dict.fromkeys(one.rationale for one in people))
    key = " ".join(sorted(one.key for one in people))
    return [*opinions, Opinion(key, UNANIMOUS, people[0].outcome, reason, adjudicated=True)]


def fill_task(
    task: dict[str, Any], opinions: list[Opinion], previous: dict[tuple[str, str, str], str]
) -> Iterator[str]:
    """The task as a line for each opinion, with all but its annotation as it was.

    ``previous`` has the ids of an earlier file by (review key, role, reviewer): an annotation with another
    id takes the place of that one.
    """
    for opinion in opinions:
        role = "adjudication" if opinion.adjudicated else "opinion"
        own = str(uuid.uuid5(uuid.UUID(task["evaluation_id"]), f"{task['review_key']} {role} {opinion.key}"))
        before = previous.get((task["review_key"], role, "" if opinion.adjudicated else opinion.reviewer))
        annotation = {
            **task["annotation"],
            "id": own,
            "reviewer": opinion.reviewer,
            "outcome": opinion.outcome,
            "rationale": opinion.rationale,
            "role": role,
            "provenance": "model" if opinion.is_model else "human",
            "supersedes": before if before != own else None,
        }
        filled = {**task, "annotation": annotation}
        yield json.dumps(filled, ensure_ascii=False, separators=(",", ":")) + "\n"


def remember_annotation(task: dict[str, Any]) -> tuple[tuple[str, str, str], str] | None:
    """What a later file must supersede, from a task that was filled in; None if it is blank."""
    annotation = task["annotation"]
    if not annotation.get("outcome"):
        return None
    role = str(annotation.get("role"))
    reviewer = "" if role == "adjudication" else str(annotation.get("reviewer"))
    return (task["review_key"], role, reviewer), str(annotation.get("id"))
