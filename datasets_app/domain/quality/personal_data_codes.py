"""The codes of personal data, without the checks that find it."""

from operator import itemgetter

from datasets_app.domain.pii import detector

CODE_BY_KIND = dict(sorted(((item.kind, item.code) for item in detector.CLASSES), key=itemgetter(1)))
# Findings that may be wrong are warnings: see detector.JUDGED_KINDS.
JUDGED_CODES = frozenset(CODE_BY_KIND[kind] for kind in detector.JUDGED_KINDS)


def is_error(code: str) -> bool:
    """Whether a finding of this code is an error, and not something for people to judge."""
    return not code.startswith("W") and code not in JUDGED_CODES
