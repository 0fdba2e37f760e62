import pickle
import re

import pytest

from datasets_app.domain import lazy_re
from datasets_app.domain.pii.rules import finder  # noqa: F401  which makes the patterns


def test_a_pattern_works_like_one_compiled_at_once() -> None:
    lazy, compiled = (
        lazy_re.compile(r"(?P<word>b+)", re.IGNORECASE),
        re.compile(r"(?P<word>b+)", re.IGNORECASE),
    )
    assert lazy.sub("x", "aBBa") == compiled.sub("x", "aBBa") == "axa"
    assert [found["word"] for found in lazy.finditer("bABB")] == ["b", "BB"]
    assert (lazy.pattern, lazy.flags, lazy.groups) == (compiled.pattern, compiled.flags, compiled.groups)
    assert pickle.loads(pickle.dumps(lazy)).fullmatch("Bb")


def test_all_that_wait_are_valid_and_are_compiled_for_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    lazy_re.compile_waiting()
    lazy = lazy_re.compile("a+")
    lazy_re.compile_waiting()
    monkeypatch.setattr(lazy_re.re, "compile", None)
    assert lazy.search("caat")[0] == "aa"  # type: ignore[index]
