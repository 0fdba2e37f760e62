"""Describes deleted data on pages, on the terminal and in displayed certificates."""

from collections.abc import Mapping

# The kinds of ``models/session_data.py`` and of files, in display order.
_KIND_LABELS = {
    "sessions": ("session", "sessions"),
    "turns": ("turn", "turns"),
    "comments": ("comment", "comments"),
    "labels": ("label", "labels"),
    "decisions": ("annotator decision", "annotator decisions"),
    "assignments": ("assignment", "assignments"),
    "campaign_items": ("campaign reply", "campaign replies"),
    "campaigns": ("campaign", "campaigns"),
    "scrub_findings": ("scrub finding", "scrub findings"),
    "audited_turns": ("audited turn", "audited turns"),
    "scrub_audits": ("scrub audit", "scrub audits"),
    "scrubs": ("scrub", "scrubs"),
    "marks": ("reviewer correction", "reviewer corrections"),
    "check_findings": ("check finding", "check findings"),
    "check_reports": ("check report", "check reports"),
    "source_files": ("source file record", "source file records"),
    "reviews": ("signed review", "signed reviews"),
    "attestations": ("attestation", "attestations"),
    "saved_views": ("saved view", "saved views"),
    "selections": ("selection", "selections"),
    "received_requests": ("received request", "received requests"),
    "received_spans": ("received span", "received spans"),
    "files": ("job file", "job files"),
    "releases": ("release", "releases"),
}
_BYTE_KINDS = ("file_bytes", "release_bytes")


def format_counts(counts: Mapping[str, int]) -> str:
    """``{"sessions": 2, "turns": 8}`` → "2 sessions, 8 turns"; the total size of files comes last."""
    parts = [
        f"{counts[kind]:,} {words[counts[kind] != 1]}"
        for kind, words in _KIND_LABELS.items()
        if counts.get(kind)
    ]
    size = sum(counts.get(kind, 0) for kind in _BYTE_KINDS)
    return ", ".join([*parts, *([_format_size(size)] if size else [])])


def _format_size(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    raise AssertionError
