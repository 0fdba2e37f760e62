"""Whether a term that people want to keep is personal data by its form."""

from datasets_app.domain.pii.detection import find_values
from datasets_app.domain.pii.detector import HANDLE, KINDS
from datasets_app.domain.pii.exemptions import ORDINARY
from datasets_app.domain.pii.rules.finder import RuleDetector


def find_pattern_kind(term: str) -> str:
    """The class, other than names, of a term or a part of it; empty if it has none. A user name must have the
    form of one: what only a network takes for one may be a brand."""
    judged = {match.kind for match in find_values(term)} - {HANDLE}
    kinds = judged | {match.kind for match in RuleDetector([HANDLE]).find(term)}
    return next((kind for kind in KINDS if kind in kinds), ORDINARY)
