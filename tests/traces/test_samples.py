"""Real exports, of which somebody has written down what is in them."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.conversations.lines import UnreadableFile
from tests.traces.reading import SAMPLES, convert


def read_truth() -> list[tuple[Path, dict[str, Any]]]:
    return [
        (path.parent / name, truth)
        for path in sorted(SAMPLES.glob("*/ground_truth.json"))
        for name, truth in json.loads(path.read_text()).items()
        if name != "_about" and truth.get("conversations") is not None
    ]


def join(turns: list[tuple[str, str]]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for role, text in turns:
        text = re.sub(r"\s+", " ", text).strip()
        if text and found and found[-1][0] == role:
            found[-1] = (role, f"{found[-1][1]} {text}")
        elif text:
            found.append((role, text))
    return found


def is_right(path: Path, truth: dict[str, Any]) -> bool:
    try:
        sessions, _ = convert(path)
    except UnreadableFile:
        sessions = {}
    allowed = {truth["conversations"], truth.get("with_text_answer", truth["conversations"])}
    first = join(
        [(role, text) for role, text, *_ in truth.get("first") or [] if role in ("user", "assistant")]
    )
    begins = any(
        len(got) >= len(first)
        and all(g[0] == f[0] and g[1].startswith(f[1][:40]) for g, f in zip(got, first, strict=False))
        for got in (join([(turn.role, turn.text) for turn in turns]) for turns in sessions.values())
    )
    return len(sessions) in allowed and (begins or not first or allowed == {0})


@pytest.mark.skipif(not SAMPLES.exists(), reason="../shared/data/traces is not there")
def test_samples_become_their_conversations() -> None:
    truth = read_truth()
    wrong = [str(path.relative_to(SAMPLES)) for path, expected in truth if not is_right(path, expected)]
    assert len(truth) >= 60
    assert len(wrong) * 20 <= len(truth), wrong
