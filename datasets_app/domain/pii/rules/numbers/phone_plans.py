"""Whether a bare number is a mobile telephone's, by the numbering plans of libphonenumber."""

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from phonenumbers import PhoneMetadata

# Where people write mobile numbers without a zero or a sign before them.
_BARE_MOBILE_REGIONS = "US IN CN BR RU TR".split()


def is_mobile(digits: str) -> bool:
    """Whether ten digits or more are a mobile number as people write it without any sign."""
    return _compile_mobile_numbers().fullmatch(digits) is not None


@cache
def _compile_mobile_numbers() -> re.Pattern[str]:
    patterns = []
    for metadata in map(_get_metadata, _BARE_MOBILE_REGIONS):
        assert metadata.mobile is not None
        patterns.append(f"(?:{metadata.country_code})?(?:{metadata.mobile.national_number_pattern})")
    return re.compile("|".join(patterns))


def _get_metadata(region: str) -> "PhoneMetadata":
    # Loaded with the first number that needs it: most processes never do.
    from phonenumbers import PhoneMetadata

    metadata = PhoneMetadata.metadata_for_region(region)
    assert metadata is not None
    return metadata
