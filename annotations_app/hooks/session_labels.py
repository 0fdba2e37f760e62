"""Labels in the list of the sessions of a dataset: how many, and which sessions have some."""

from collections.abc import Sequence
from typing import Any

from django.urls import reverse

from datasets_app.core.queries import fetch_all
from datasets_app.domain.labels.on_brand import ON_BRAND
from datasets_app.domain.labels.values import count_code, name_of
from datasets_app.hooks import SessionLabels

_COUNTS = f"""
SELECT t.session_id, {", ".join(count_code(code, "a.label") for code, _ in ON_BRAND.downwards)}
FROM datasets_app_turn t JOIN annotations_app_annotation a ON a.turn_id = t.id
WHERE t.dataset_id = %(dataset)s AND t.session_id = ANY(%(sessions)s) AND a.kind IN ('label', 'adjudicated')
GROUP BY t.session_id
"""
# The annotations decide which turns are read: few turns are labeled.
_LABELED = """
    SELECT DISTINCT t.session_id FROM annotations_app_annotation a
    JOIN datasets_app_turn t ON t.dataset_id = %(dataset)s AND t.id = a.turn_id
    WHERE a.dataset_id = %(dataset)s AND a.kind IN ('label', 'adjudicated'){which}"""
# OFFSET 0 keeps the planner from joining all turns.
_HAS_LABEL = """EXISTS (
    SELECT FROM datasets_app_turn t JOIN annotations_app_annotation a ON a.turn_id = t.id
    WHERE t.dataset_id = %(dataset)s AND t.session_id = s.id AND a.kind IN ('label', 'adjudicated'){which}
    OFFSET 0)"""
# Annotators labeled the same reply differently for the same persona.
_IS_DISPUTED = """ AND a.kind = 'label' AND EXISTS (
    SELECT FROM annotations_app_annotation b
    WHERE b.turn_id = a.turn_id AND b.persona_id = a.persona_id AND b.kind = 'label'
      AND b.label <> a.label)"""
_WHICH = (
    {"any": ("Labeled", "")}
    | {level.slug: (level.name, f" AND a.label = {code}") for code, level in ON_BRAND.downwards}
    | {"disputed": ("Disputed", _IS_DISPUTED)}
)


def describe_labels(dataset: int, sessions: Sequence[int]) -> dict[int, list[str]]:
    """ "3 on-brand" and "1 off-brand" for each session with labels."""
    rows = fetch_all(_COUNTS, {"dataset": dataset, "sessions": list(sessions)})
    return {session: _describe(counts) for session, *counts in rows}


def _describe(counts: list[int]) -> list[str]:
    names = [name_of(ON_BRAND, code) for code, _ in ON_BRAND.downwards]
    return [f"{count:,} {name}" for count, name in zip(counts, names, strict=True) if count]


SESSION_LABELS = SessionLabels(
    "annotations_app.view_annotation",
    describe_labels,
    {
        value: (label, _HAS_LABEL.format(which=which), _LABELED.format(which=which))
        for value, (label, which) in _WHICH.items()
    }
    | {"none": ("Not labeled", f"NOT {_HAS_LABEL.format(which='')}", "")},
)


def list_selection_links(dataset: Any, selection: Any, user: Any) -> list[tuple[str, str]]:
    if not (
        user.has_perm("annotations_app.change_campaign") and user.has_perm("annotations_app.view_campaign")
    ):
        return []
    return [("Add to campaign", reverse("admin:annotations_app_campaign_sessions", args=[selection.pk]))]
