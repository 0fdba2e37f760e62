"""Whether a number could be dialed, by the numbering plans of libphonenumber.

The plans of some seventy countries are read once, by how their numbers are grouped: a number then costs
microseconds, where parsing it for one country after another would cost milliseconds.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from phonenumbers import NumberFormat, PhoneMetadata

# The countries of most people who have a telephone.
_REGIONS = """
    US GB DE FR ES IT NL BE CH AT PL PT BR MX AR CO CL PE IN AU NZ IE ZA SE NO DK FI CZ SK HU RO BG GR TR
    RU UA RS HR SI LT LV EE IL AE SA QA KW EG MA TN NG KE GH PK BD LK NP PH ID MY SG TH VN CN HK TW JP KR IR
""".split()
# Where people write mobile numbers without a zero or a sign before them.
_BARE_MOBILE_REGIONS = "US IN CN BR RU TR".split()
_KINDS = ("fixed_line", "mobile", "toll_free", "voip", "shared_cost")
_GROUP = re.compile(r"\(\\d\{(\d+)(?:,(\d+))?\}\)|\(((?:\\d)+)\)")


class _Plan(NamedTuple):
    """Patterns of the numbers of one country and grouping. ``prefix`` comes before them for calls within the
    country."""

    prefix: str
    leading: str
    number: str


def is_mobile(digits: str) -> bool:
    """Whether ten digits or more are a mobile number as people write it without any sign."""
    return _compile_mobile_numbers().fullmatch(digits) is not None


def has_national_grouping(groups: Sequence[str]) -> bool:
    """Whether some country writes a number that it has in these groups of digits."""
    digits = "".join(groups)
    return any(
        digits.startswith(plan.prefix)
        and _compile(plan.leading).match(digits, len(plan.prefix)) is not None
        and _compile(plan.number).fullmatch(digits, len(plan.prefix)) is not None
        for plan in _read_plans().get(tuple(map(len, groups)), ())
    )


# Few processes meet numbers that need more than some of them.
_compile = cache(re.compile)


@cache
def _compile_mobile_numbers() -> re.Pattern[str]:
    patterns = []
    for metadata in map(_get_metadata, _BARE_MOBILE_REGIONS):
        assert metadata.mobile is not None
        patterns.append(f"(?:{metadata.country_code})?(?:{metadata.mobile.national_number_pattern})")
    return re.compile("|".join(patterns))


@cache
def _read_plans() -> dict[tuple[int, ...], list[_Plan]]:
    """The plans by how many digits each group has."""
    plans: dict[tuple[int, ...], list[_Plan]] = defaultdict(list)
    for region in _REGIONS:
        metadata = _get_metadata(region)
        kinds = [getattr(metadata, kind) for kind in _KINDS]
        number = "|".join(f"(?:{kind.national_number_pattern})" for kind in kinds if kind)
        for number_format in metadata.number_format:
            leading = (number_format.leading_digits_pattern or [""])[-1]
            for prefix, groups in _list_groupings(metadata, number_format):
                plans[groups].append(_Plan(prefix, leading, number))
    return plans


def _list_groupings(
    metadata: "PhoneMetadata", number_format: "NumberFormat"
) -> Iterator[tuple[str, tuple[int, ...]]]:
    """How many digits each group has: without the prefix, with it as a group, with it in the first group."""
    found = _GROUP.finditer(number_format.pattern or "")
    counts = [
        (len(digits) // 2,) * 2 if digits else (int(low), int(high or low))
        for low, high, digits in map(re.Match.groups, found)
    ]
    prefix = metadata.national_prefix or ""
    for groups in product(*(range(low, high + 1) for low, high in counts)):
        yield "", groups
        if prefix and groups:
            yield prefix, (len(prefix), *groups)
            yield prefix, (groups[0] + len(prefix), *groups[1:])


def _get_metadata(region: str) -> "PhoneMetadata":
    # Loaded with the first number that needs it: most processes never do.
    from phonenumbers import PhoneMetadata

    metadata = PhoneMetadata.metadata_for_region(region)
    assert metadata is not None
    return metadata
