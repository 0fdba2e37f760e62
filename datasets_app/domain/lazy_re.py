"""Regular expressions that are compiled when they are first used.

Most commands never search for personal data, and a few of its patterns take as long to compile as all else
that a command imports from the search. For those alone: each use costs a little more than of a compiled one.
"""

import re
from typing import Any, cast

_waiting: list["_Waiting"] = []


class _Compiled:
    """Has the methods of the compiled pattern as attributes."""

    def __init__(self, pattern: str, flags: int) -> None:
        self._arguments = pattern, flags

    def __reduce__(self) -> tuple[Any, tuple[str, int]]:
        return re.compile, self._arguments


class _Waiting(_Compiled):
    def __init__(self, pattern: str, flags: int) -> None:
        super().__init__(pattern, flags)
        _waiting.append(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(*self._arguments)
        public = (attribute for attribute in dir(compiled) if not attribute.startswith("_"))
        self.__dict__.update({attribute: getattr(compiled, attribute) for attribute in public})
        # A class with __getattr__ would cost more at each use.
        self.__class__ = _Compiled  # type: ignore[assignment]
        return getattr(self, name)


def compile(pattern: str, flags: int = 0) -> re.Pattern[str]:
    return cast(re.Pattern[str], _Waiting(pattern, flags))


def compile_waiting() -> None:
    """For a process whose forks are to share what it has compiled."""
    while _waiting:
        _waiting.pop().pattern  # noqa: B018
