"""Every code is explained in docs/checks.md, under its title, and nothing else is."""

import re
from pathlib import Path

import pytest

from datasets_app.domain.quality.checks import CODE_TITLES

DOCUMENT = Path(__file__).parents[2] / "docs" / "checks.md"
HEADING = re.compile(r"^### ([EW]\d{3}) (.+)$", re.MULTILINE)


def test_every_code_is_documented_under_its_title_and_no_other():
    documented = dict(HEADING.findall(DOCUMENT.read_text(encoding="utf-8")))
    assert documented == CODE_TITLES, "docs/checks.md needs a section “### CODE title” for each code"


def test_codes_stand_in_the_document_in_the_order_of_their_numbers():
    numbers = [code[1:] for code, _ in HEADING.findall(DOCUMENT.read_text(encoding="utf-8"))]
    assert numbers == sorted(numbers)


@pytest.mark.parametrize("code", sorted(CODE_TITLES))
def test_a_code_is_an_error_or_a_warning_and_three_digits(code):
    assert re.fullmatch(r"[EW]\d{3}", code)


def test_every_code_has_a_number_of_its_own():
    assert len({code[1:] for code in CODE_TITLES}) == len(CODE_TITLES)
