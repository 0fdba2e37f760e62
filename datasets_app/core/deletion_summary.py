"""Counts of what was or would be deleted, in words: on pages, on terminals, in certificates shown."""

from collections.abc import Mapping

# By the kinds that delete_contents counts, in the order in which they are told.
_KIND_LABELS = {
    "sessions": ("session", "sessions"),
    "turns": ("turn", "turns"),
    "labels": ("label", "labels"),
    "decisions": ("decision of annotators", "decisions of annotators"),
    "assignments": ("assignment", "assignments"),
    "campaign_items": ("reply of a campaign", "replies of campaigns"),
    "campaigns": ("campaign", "campaigns"),
    "scrub_findings": ("scrub finding", "scrub findings"),
    "scrubs": ("scrub", "scrubs"),
    "marks": ("mark", "marks"),
    "check_findings": ("check finding", "check findings"),
    "check_reports": ("check report", "check reports"),
    "source_files": ("record of an imported file", "records of imported files"),
    "reviews": ("signed review", "signed reviews"),
    "files": ("file of jobs", "files of jobs"),
    "releases": ("release", "releases"),
}
_BYTE_KINDS = ("file_bytes", "release_bytes")


def format_counts(counts: Mapping[str, int]) -> str:
    """``{"sessions": 2, "turns": 8}`` → "2 sessions, 8 turns"; sizes of files come last, in all."""
    told = [
        f"{counts[kind]:,} {words[counts[kind] != 1]}"
        for kind, words in _KIND_LABELS.items()
        if counts.get(kind)
    ]
    size = sum(counts.get(kind, 0) for kind in _BYTE_KINDS)
    return ", ".join([*told, *([_format_size(size)] if size else [])])


def _format_size(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1000
    raise AssertionError
