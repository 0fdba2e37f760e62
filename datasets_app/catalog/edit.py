"""The facts about a dataset that people state: which may change, and the change itself."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from datasets_app.catalog import gates
from datasets_app.core import audit
from datasets_app.models import Dataset

# What was done to the data the application has done itself, or took from the file that came with it.
MANAGED_PROVENANCE_KEYS = ("modifications", "anonymization")


def keep_managed_provenance(dataset: Dataset, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """``provenance`` with the keys the application owns, where it leaves them out."""
    own = {key: dataset.provenance[key] for key in MANAGED_PROVENANCE_KEYS if key in dataset.provenance}
    return {**own, **provenance}


def find_table_problems(dataset: Dataset, facts: Mapping[str, Any]) -> dict[str, str]:
    """Why a table may not change ``dataset`` so, by fact; nothing if it may."""
    if dataset.status == Dataset.Status.EXPIRED:
        return {"name": "its contents were deleted; there is nothing left to state"}
    problems = {}
    if facts.get("legal_hold", dataset.legal_hold) != dataset.legal_hold:
        problems["legal_hold"] = "is set and lifted with a reason, on the dataset's page or by hold_dataset"
    origin = facts.get("origin", dataset.origin)
    if dataset.turn_count and origin != dataset.origin and origin in Dataset.Origin.values:
        problems["origin"] = (
            f"stays {dataset.origin}: there are turns already, and where they are from "
            "decides how they are kept; a table can't change that"
        )
    given = facts.get("provenance") or {}
    for key in MANAGED_PROVENANCE_KEYS:
        if key not in given or given[key] == dataset.provenance.get(key):
            continue
        texts = isinstance(given[key], list) and all(isinstance(item, str) for item in given[key])
        problems["provenance"] = (
            f"{key} is recorded by the application and can't be changed; leave it out"
            if texts
            else f"{key} must be a list of texts"
        )
    return problems


def edit_dataset(pk: int, facts: Mapping[str, Any], *, actor: Any) -> list[str]:
    """Save those of ``facts`` that differ, and nothing else; returns their names.

    An import may have written to the row since it was shown: its counts, status and provenance stay.
    """
    with transaction.atomic():
        dataset = Dataset.objects.select_for_update(no_key=True).get(pk=pk)
        gates.check_can_use(dataset)
        changes = {
            name: [getattr(dataset, name), value]
            for name, value in facts.items()
            if getattr(dataset, name) != value
        }
        if not changes:
            return []
        for name, (_, value) in changes.items():
            setattr(dataset, name, value)
        dataset.save(update_fields=[*changes, "updated_at"])
        audit.record(
            "edit_dataset", actor=actor, dataset_name=dataset.name, fields=list(changes), changes=changes
        )
    return list(changes)
