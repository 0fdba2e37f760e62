"""What a measurement with planted values says. Imports little: every page of a dataset says it."""

from collections.abc import Mapping
from typing import Any

from datasets_app.domain.pii.network.languages import describe_shares

DEFAULT_VALUES, DEFAULT_LIMIT, DEFAULT_SEED = 600, 0.01, 1


def format_percent(share: float) -> str:
    """``0.94 %``, ``12.3 %``: never less than it is."""
    digits = 2 if share < 0.1 else 1
    scale = 10**digits
    percent = -(-100 * share * scale // 1) / scale
    return f"{percent:g} %"


def describe_survival(survival: Mapping[str, Any]) -> str:
    """A measurement as JSON (``Survival.as_json``) in a sentence; more if it failed by its "limit", and by
    language if values were planted in several."""
    limit = survival.get("limit", 1)
    failed = f" It failed: the limit was {format_percent(limit)}." if survival["upper"] > limit else ""
    said = (
        f"At most {format_percent(survival['upper'])} of planted values survive a scrub "
        f"({survival['survived']:,} of {survival['planted']:,} did; {survival['confidence']:.0%} confidence)."
    ).replace("95%", "95 %")
    # Earlier versions planted in one language.
    languages: Mapping[str, Mapping[str, int]] = survival.get("languages", {})
    shares = describe_shares({name: (one["survived"], one["planted"]) for name, one in languages.items()})
    return f"{said}{failed}" + (f" By language: {shares}." if shares else "")
