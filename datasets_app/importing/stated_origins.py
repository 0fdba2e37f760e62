"""The origins that an upload and metadata files state, beside the one chosen for the import."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from datasets_app.catalog import gates, policies
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.models import Dataset


class PreparedUpload(NamedTuple):
    """Who uploaded a file (a user name) and the origin they stated, since somebody else may import it."""

    uploaded_by: str = ""
    origin: str | None = None


def list_stated_origins(
    metadata: Mapping[str, DatasetMetadata | None], upload: PreparedUpload
) -> dict[str, str]:
    """The origins that metadata files and the upload state, by what states them."""
    stated = {"The upload": upload.origin} if upload.origin else {}
    for name, stated_facts in metadata.items():
        origin = stated_facts.extra.get("origin") if stated_facts else None
        if origin in Dataset.Origin.values:
            stated[f"The metadata file of {name}"] = str(origin)
    return stated


def choose_origin(stated: Collection[str]) -> str | None:
    """Production if anything states it, or the only one; the others are then refused."""
    return Dataset.Origin.PRODUCTION if Dataset.Origin.PRODUCTION in stated else next(iter(stated), None)


def check_stated_origins(dataset: Dataset, stated: Mapping[str, str], actor: Any, override: str) -> None:
    request = gates.request_override(actor, override)
    for source, origin in stated.items():
        verdict = policies.decide_stated_origin(dataset.origin, origin, source, request)
        gates.enforce(verdict, dataset, actor)
