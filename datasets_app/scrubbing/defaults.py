"""What a scrub of a dataset does unless somebody chooses: the same by page, command and API."""

from datasets_app.domain.pii.detector import KINDS, OPTIONAL_KINDS
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import Dataset


def make_default_policy(dataset: Dataset) -> Policy:
    """Numbers of orders and ids of sessions lead to people where customers wrote, and nobody elsewhere."""
    is_production = dataset.origin == Dataset.Origin.PRODUCTION
    return Policy(kinds=(*KINDS, *OPTIONAL_KINDS) if is_production else KINDS, hash_session_ids=is_production)
