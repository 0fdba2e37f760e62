"""JSON in the answers of models, which may think first, and have text or code fences around it."""

import json
import re
from collections.abc import Iterator
from typing import Any

_MAX_JSON_STARTS = 50
_THINKING_BLOCK = re.compile(r"<think>.*?</think>", re.DOTALL)
# What JSON can spell and PostgreSQL can't store.
UNSTORABLE = re.compile("[\0\ud800-\udfff]")


class UnusableAnswer(Exception):
    """``problems`` describe what is wrong with an answer without quoting it.

    ``repair_hint`` is for the model alone: it quotes what the model must rephrase.
    """

    def __init__(self, *problems: str, repair_hint: str = "") -> None:
        others = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"{problems[0]}{others}")
        self.problems, self.repair_hint = problems, repair_hint or "; ".join(problems)


def find_objects(content: str) -> Iterator[dict[str, Any]]:
    content = _THINKING_BLOCK.sub("", content)
    decoder, place = json.JSONDecoder(), content.find("{")
    for _ in range(_MAX_JSON_STARTS):
        if place < 0:
            return
        try:
            value, end = decoder.raw_decode(content, place)
        except (ValueError, RecursionError):
            end = place + 1
        else:
            yield value
        place = content.find("{", end)
