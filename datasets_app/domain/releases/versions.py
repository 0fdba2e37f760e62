"""Versions of a dataset, and which comes next: in the manner of semver.org, said of data."""

import re
from typing import NamedTuple

MAJOR, MINOR, PATCH = "major", "minor", "patch"
BUMPS = (MAJOR, MINOR, PATCH)
_VERSION_PATTERN = re.compile(r"v?(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")


class Version(NamedTuple):
    """Three numbers, compared one after the other."""

    major: int
    minor: int
    patch: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}.{self.patch}"

    def bump(self, bump: str) -> "Version":
        """The next one: ``bump`` is "major", "minor" or "patch"."""
        if bump == MAJOR:
            return Version(self.major + 1, 0, 0)
        if bump == MINOR:
            return Version(self.major, self.minor + 1, 0)
        return Version(self.major, self.minor, self.patch + 1)


FIRST_VERSION = Version(1, 0, 0)


def parse_version(text: str) -> Version:
    """``1.2.0`` or ``v1.2.0`` as a version. Raises ValueError."""
    match = _VERSION_PATTERN.fullmatch(text.strip())
    if match is None:
        raise ValueError("a version is three numbers, for example 1.2.0")
    return Version(*(int(number) for number in match.groups()))
