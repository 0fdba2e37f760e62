"""Levels of a criterion in SQL. All are numbers and texts of a criterion made in code, never of a request."""

import json

from datasets_app.domain.labels.criterion import Criterion
from datasets_app.domain.labels.values import opposite


def json_values(criterion: Criterion) -> str:
    """The values of the levels as a list of jsonb literals."""
    return ", ".join(_json_literal(level.value) for level in criterion.levels)


def decode_json(criterion: Criterion, column: str) -> str:
    """The code of a jsonb value."""
    cases = (f"WHEN {_json_literal(level.value)} THEN {code}" for code, level in enumerate(criterion.levels))
    return f"CASE {column} {' '.join(cases)} END"


def opposite_code(criterion: Criterion, column: str) -> str:
    cases = (f"WHEN {code} THEN {opposite(criterion, code)}" for code in criterion.codes)
    return f"CASE {column} {' '.join(cases)} END"


def count_code(code: int, column: str) -> str:
    """How many rows of a group have this code."""
    return f"count(*) FILTER (WHERE {column} = {code})"


def count_minority(criterion: Criterion, column: str) -> str:
    """How many rows of a group have another code than its most frequent one."""
    counts = ", ".join(count_code(code, column) for code in criterion.codes)
    return f"(count(*) - greatest({counts}))"


def _json_literal(value: int | str) -> str:
    return "'" + json.dumps(value).replace("'", "''") + "'"
