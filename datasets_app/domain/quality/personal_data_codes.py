"""The codes of personal data, without the checks that find it."""

from datasets_app.domain.pii import detector

PATTERN_CODES = (
    ("E401", "e-mail address", detector.EMAIL),
    ("E402", "phone number", detector.PHONE),
    ("E403", "social security number", detector.SSN),
    ("E404", "credit card number", detector.CREDIT_CARD),
    ("E405", "IP address", detector.IP),
    ("E407", "credential", detector.CREDENTIAL),
    ("E408", "file-system path", detector.PATH),
    ("E409", "internal host name", detector.HOST),
    ("E410", "user name", detector.HANDLE),
    ("E411", "postal address", detector.ADDRESS),
    ("E412", "bank account (IBAN)", detector.IBAN),
    ("E413", "account number", detector.ACCOUNT),
    ("E414", "identity number", detector.ID_NUMBER),
    ("E415", "date of birth", detector.DATE_OF_BIRTH),
    ("E416", "web address with personal data", detector.URL),
    ("E417", "wallet address", detector.CRYPTO_WALLET),
    ("E418", "hardware address", detector.MAC),
)
NAMES_CODE = "W406"
# Code by class, also of the class that a model tells.
CODE_BY_KIND = {kind: code for code, _, kind in PATTERN_CODES} | {detector.NAME: NAMES_CODE}
# Findings that may be wrong are warnings: see detector.JUDGED_KINDS.
JUDGED_CODES = frozenset(CODE_BY_KIND[kind] for kind in detector.JUDGED_KINDS)


def is_error(code: str) -> bool:
    """Whether a finding of this code is an error, and not something for people to judge."""
    return not code.startswith("W") and code not in JUDGED_CODES
