"""Describes deleted data on pages, on the terminal and in displayed certificates."""

from collections.abc import Mapping

from datasets_app.domain.wording import format_count
from datasets_app.models.session_data import list_all

# The kinds of ``models/session_data.py`` and of files in display order, others after them; words for some.
_KINDS = (
    "sessions turns comments labels judgments verdicts judge_runs judge_certificates decisions"
    " assignments campaign_items campaigns scrub_findings audited_turns scrub_audits scrubs marks"
    " check_findings check_reports source_files reviews evaluation_runs attestations saved_views selections"
    " received_requests received_spans files file_names releases"
).split()
_WORDS = {
    "verdicts": "judgments by models",
    "judge_runs": "runs of judges",
    "judge_certificates": "certificates of judges",
    "decisions": "annotator decisions",
    "campaign_items": "campaign replies",
    "marks": "reviewer corrections",
    "source_files": "source file records",
    "reviews": "signed reviews",
    "evaluation_runs": "evaluation runs",
    "files": "job files",
}
_BYTE_KINDS = ("file_bytes", "release_bytes")


def format_counts(counts: Mapping[str, int]) -> str:
    """``{"sessions": 2, "turns": 8}`` → "2 sessions, 8 turns"; the total size of files comes last."""
    kinds = dict.fromkeys([*_KINDS, *(data.kind for data in list_all())])
    parts = [_format_kind(kind, counts[kind]) for kind in kinds if counts.get(kind)]
    size = sum(counts.get(kind, 0) for kind in _BYTE_KINDS)
    return ", ".join([*parts, *([_format_size(size)] if size else [])])


def _format_kind(kind: str, count: int) -> str:
    words = _WORDS.get(kind, kind.replace("_", " "))
    singular = f"{words[:-3]}y" if words.endswith("ies") else words[:-1]
    return format_count(count, singular, words)


def _format_size(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    raise AssertionError
