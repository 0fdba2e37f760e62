"""Edits what people state about a dataset, such as license and source."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import transaction

from datasets_app.catalog import gates, policies
from datasets_app.catalog.facts import lock_dataset
from datasets_app.catalog.sharing_requirements import load_requirements
from datasets_app.catalog.written_text import check_written, find_problems
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.domain.model_calls.endpoint import EndpointError, normalize_base_url
from datasets_app.domain.pii.masking import mask_values
from datasets_app.domain.releases.manifest import LINEAGE_KEY
from datasets_app.models import Dataset

EXPORT_PERMISSION = "datasets_app.export_dataset"
# The application records changes to the data itself; people can't edit these keys.
MANAGED_PROVENANCE_KEYS = ("modifications", "anonymization", LINEAGE_KEY)


def keep_managed_provenance(dataset: Dataset, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """``provenance`` plus the managed keys that it omits."""
    own = {key: dataset.provenance[key] for key in MANAGED_PROVENANCE_KEYS if key in dataset.provenance}
    return {**own, **provenance}


def find_table_problems(dataset: Dataset, facts: Mapping[str, Any]) -> dict[str, str]:
    """Reasons why a table import may not make these changes to ``dataset``, by fact."""
    if dataset.status == Dataset.Status.EXPIRED:
        return {"name": "its contents were deleted, so its metadata can't be changed"}
    problems = {}
    if facts.get("legal_hold", dataset.legal_hold) != dataset.legal_hold:
        problems["legal_hold"] = "needs a reason; set or lift it on the dataset's page"
    origin = facts.get("origin", dataset.origin)
    if origin != dataset.origin and origin in Dataset.Origin.values:
        problems["origin"] = (
            f"stays {dataset.origin}: the origin decides which rules apply; a privacy officer can change it "
            "on the dataset's page"
        )
    provenance = facts.get("provenance") or {}
    problems |= find_problems(dataset, _list_written(dataset, facts))
    for key in MANAGED_PROVENANCE_KEYS:
        value = provenance.get(key)
        if key not in provenance or value == dataset.provenance.get(key):
            continue
        is_text_list = isinstance(value, list) and all(isinstance(item, str) for item in value)
        problems["provenance"] = (
            f"{key} is recorded by the application and can't be changed; omit it"
            if is_text_list or key == LINEAGE_KEY
            else f"{key} must be a list of texts"
        )
    return problems


def change_origin(dataset: Dataset, origin: str, *, override: str, actor: Any) -> None:
    """Change the origin, for a reason. Raises UserError without one, or without the permission."""
    with transaction.atomic():
        row = lock_dataset(dataset.pk)
        request = gates.request_override(actor, override)
        verdict = policies.decide_origin_change(gates.load_facts(row), origin, request)
        reason = gates.enforce(verdict, row, actor)
        before, row.origin = row.origin, origin
        row.save(update_fields=["origin", "updated_at"])
        audit.record(
            "change_origin", actor=actor, dataset_name=row.name, origin=[before, origin], reason=reason
        )
    dataset.origin = origin


def _list_written(dataset: Dataset, facts: Mapping[str, Any]) -> dict[str, Any]:
    """What people state anew, for the scrubber: not attribution and license, which must name people."""
    written = {key: facts[key] for key in ("source",) if key in facts and facts[key] != dataset.source}
    for key, value in (facts.get("provenance") or {}).items():
        if key not in MANAGED_PROVENANCE_KEYS and value != dataset.provenance.get(key):
            written.setdefault("provenance", {})[key] = value
    return written


def _check_endpoints(urls: Sequence[str], actor: Any) -> list[str]:
    """Base URLs as they are compared. What is sent there leaves, as an export does. Raises UserError."""
    if actor is not None and not actor.has_perm(EXPORT_PERMISSION):
        raise UserError("Endpoints of judges take the permission to export datasets.")
    try:
        return sorted({normalize_base_url(url) for url in urls if url.strip()})
    except EndpointError as error:
        raise UserError(str(error)) from None


def edit_dataset(pk: int, facts: Mapping[str, Any], *, actor: Any) -> list[str]:
    """Save only the ``facts`` that differ; returns their names. Raises UserError, also for personal data in
    those of a dataset whose scrub was verified, and for weaker requirements without the permission.

    Other fields keep what an import may have written since the form was shown.
    """
    with transaction.atomic():
        dataset = lock_dataset(pk)
        gates.check_can_use(dataset)
        if "judge_endpoints" in facts:
            facts = {**facts, "judge_endpoints": _check_endpoints(facts["judge_endpoints"], actor)}
        changes = {
            name: [getattr(dataset, name), value]
            for name, value in facts.items()
            if getattr(dataset, name) != value
        }
        if not changes:
            return []
        check_written(dataset, _list_written(dataset, facts))
        required = load_requirements(dataset)
        for name, (_, value) in changes.items():
            setattr(dataset, name, value)
        if load_requirements(dataset).is_less_than(required) and not gates.can_override(actor):
            raise UserError(
                "This requires less for sharing than before, which takes the permission to override gates. "
                "Ask a privacy officer."
            )
        dataset.save(update_fields=[*changes, "updated_at"])
        audit.record(
            "edit_dataset",
            actor=actor,
            dataset_name=dataset.name,
            fields=list(changes),
            changes=mask_values(changes),
        )
    return list(changes)
