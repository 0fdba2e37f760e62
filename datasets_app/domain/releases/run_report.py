"""Reads the report of an ``alignmenter run``: its ``manifest.json`` and ``results.json``.

Alignmenter itself scores no single reply; ``alignmenter_datasets/reply_scores.py``, which a run takes as
``--custom-scorer``, adds a score for each.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from datasets_app.domain.releases.manifest import encode_canonical_json
from datasets_app.domain.untrusted_json import check_storable

# The scorer with a score for each reply, and the one whose mean these must have: both are rounded.
REPLIES, AUTHENTICITY = "replies", "authenticity"
MAX_ROUNDING = 0.0011
# What is shown of each of Alignmenter's scorers first.
HEADLINES = {AUTHENTICITY: "mean", "safety": "score", "stability": "stability"}
# Names of scorers and of what they measure are shown to everybody.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,79}")
MAX_GROUPS, MAX_TURN_INDEX = 5_000, 2**31 - 1
EARLIEST_YEAR, LATEST_YEAR = 2000, 9000

Scores = dict[str, dict[str, float]]


class InvalidReport(ValueError):
    """Says what is wrong with the report, after "it"."""


class ReplyScore(NamedTuple):
    session_id: str
    turn_index: int
    score: float


class RunReport(NamedTuple):
    """``whole`` and the groups hold the numbers of each scorer. Texts, such as the notes of a judge, are left
    out: they quote conversations."""

    run_id: UUID
    model: str
    ran_at: datetime
    package_version: str
    dataset_digest: str
    persona_digest: str
    whole: Scores
    scenarios: dict[str, Scores]
    personas: dict[str, Scores]
    replies: list[ReplyScore]


def parse_report(manifest: bytes, results: bytes) -> RunReport:
    """Raises InvalidReport."""
    try:
        parsed = [json.loads(part) for part in (manifest, results)]
    except (ValueError, RecursionError):
        raise InvalidReport("isn't valid JSON") from None
    return read_report(*parsed)


def read_report(manifest: Any, results: Any) -> RunReport:
    """Raises InvalidReport."""
    try:
        check_storable([manifest, results])
        scores = results["scores"]
        primary, analytics = scores["primary"], scores.get("analytics") or {}
        report = RunReport(
            UUID(manifest["id"]),
            str(manifest["targets"][0]["model"])[:200],
            datetime.fromisoformat(manifest["created_at"]),
            str(manifest["package_version"])[:40],
            str(manifest["dataset_digest"])[:64],
            str(manifest.get("persona_digest") or "")[:64],
            _read_scores(primary),
            _read_groups(analytics.get("scenarios") or {}),
            _read_groups(analytics.get("personas") or {}),
            [_read_reply(*item) for item in (primary.get(REPLIES) or {}).get("scores", [])],
        )
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, OverflowError):
        raise InvalidReport("isn't a report of alignmenter run that was finished") from None
    if report.ran_at.tzinfo is None or not EARLIEST_YEAR <= report.ran_at.year <= LATEST_YEAR:
        raise InvalidReport("doesn't say when it was made")
    if not report.whole:
        raise InvalidReport("has no scores")
    if len(report.scenarios) + len(report.personas) > MAX_GROUPS:
        raise InvalidReport(f"has more than {MAX_GROUPS:,} scenarios and personas")
    _check_replies(report)
    return report


def _read_scores(scorers: Mapping[str, Any]) -> Scores:
    return {
        scorer: {
            name: value for name, value in metrics.items() if _NAME.fullmatch(name) and _is_number(value)
        }
        for scorer, metrics in scorers.items()
        if isinstance(metrics, Mapping) and _NAME.fullmatch(scorer)
    }


def _read_groups(groups: Mapping[str, Any]) -> dict[str, Scores]:
    return {str(name): _read_scores(one["scores"]) for name, one in groups.items()}


def _is_number(value: Any) -> bool:
    """Raises OverflowError for one that is too large for any other program."""
    return type(value) in (int, float) and math.isfinite(value)


def _read_reply(session_id: Any, turn_index: Any, score: Any) -> ReplyScore:
    if not isinstance(session_id, str) or type(turn_index) is not int or not _is_number(score):
        raise ValueError
    if not 0 < turn_index <= MAX_TURN_INDEX:
        raise ValueError
    return ReplyScore(session_id, turn_index, float(score))


def _check_replies(report: RunReport) -> None:
    """The scorer of single replies is told its persona and embeddings apart from the run's."""
    authenticity = report.whole.get(AUTHENTICITY, {})
    mean = authenticity.get("deterministic_mean", authenticity.get("mean"))
    if not report.replies or mean is None:
        return
    if len({reply[:2] for reply in report.replies}) != len(report.replies):
        raise InvalidReport("scores a reply twice")
    if abs(sum(reply.score for reply in report.replies) / len(report.replies) - mean) > MAX_ROUNDING:
        raise InvalidReport(
            "has scores of single replies whose mean isn't the authenticity of the run: they were made with "
            "another persona or embedding"
        )


def digest_records(lines: Iterable[bytes]) -> str:
    """What a run's manifest has as ``dataset_digest``: of the records in the order of the file."""
    digest = hashlib.sha256(b"[")
    for place, line in enumerate(lines):
        digest.update(b"," * bool(place) + encode_canonical_json(json.loads(line)))
    digest.update(b"]")
    return digest.hexdigest()
