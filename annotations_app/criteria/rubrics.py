"""Rubrics of cases as criteria: a yes/no question for each, and the rubrics themselves as guidelines."""

from collections.abc import Sequence
from typing import Any

from annotations_app.criteria.schemas import save_schema
from annotations_app.models import LabelSchema
from datasets_app.domain.conversations.cases import Rubric
from datasets_app.domain.labels.schema_document import read_document

# Of the names of schemas.
PREFIX = "rubrics."


def key_of(number: int) -> str:
    """The criterion of a rubric, by its place from 1."""
    return f"rubric_{number}"


def ask_rubrics(count: int, *, actor: Any = None) -> LabelSchema:
    """One schema for all cases with so many rubrics."""
    criteria = [
        {"key": key_of(number), "question": f"Is rubric {number} met?", "kind": "yes_no"}
        for number in range(1, count + 1)
    ]
    document = {"schema": f"{PREFIX}{count}", "description": "Rubrics of a case", "criteria": criteria}
    return save_schema(read_document(document), actor=actor).schema


def write_guidelines(rubrics: Sequence[Rubric], *, one: str = "point") -> str:
    """The rubrics themselves: schemas are seen by everybody who labels, guidelines only with the dataset."""
    lines = ["# Rubrics", ""]
    for number, rubric in enumerate(rubrics, 1):
        unit = one if rubric.points == 1 else "points"
        unwanted = " A reply that does this loses points." if rubric.points < 0 else ""
        lines.append(f"{number}. {' '.join(rubric.criterion.split())} ({rubric.points:g} {unit}){unwanted}")
    return "\n".join([*lines, ""])


def are_guidelines_of(rubrics: Sequence[Rubric], guidelines: str) -> bool:
    """Also as earlier versions wrote them, with "1 points": another spelling makes no judgment stale."""
    return guidelines in (write_guidelines(rubrics), write_guidelines(rubrics, one="points"))
