"""The checks that look for one class of personal data each."""

from datasets_app.domain.quality.personal_data import PersonalDataCheck
from datasets_app.domain.quality.personal_data_codes import PATTERN_CODES


def _make_check(code: str, title: str, kind: str) -> type[PersonalDataCheck]:
    return type(f"Find{kind}", (PersonalDataCheck,), {"code": code, "title": title, "kind": kind})


PERSONAL_DATA_CHECKS = tuple(_make_check(*row) for row in PATTERN_CODES)
