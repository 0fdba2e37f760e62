"""The report of a split, for people: lines of text."""

from collections.abc import Iterator
from typing import Any

from datasets_app.domain.wording import format_count

MAX_STRATA_SHOWN = 20


def format_report(report: dict[str, Any], leaks: list[dict[str, Any]]) -> Iterator[str]:
    """``report`` as :mod:`decision` makes it; ``leaks`` name sessions, splits and similarity."""
    for split, share in report["splits"].items():
        yield (
            f"{split}: {format_count(share['sessions'], 'session')}, "
            f"{share['share']:.1f} % (target {share['wanted']:g} %)"
        )
    if report["settings"]["stratify"] != "none":
        yield from _format_strata(report)
    together = report["grouped_sessions"]
    yield (
        f"{format_count(together, 'session')} kept together in {report['groups']:,} groups, the largest of "
        f"{report['largest_group']:,}."
        if together
        else "No near-duplicates, no siblings: every session stands for itself."
    )
    yield from format_warnings(report)
    yield from format_leaks(report, leaks)


def format_warnings(report: dict[str, Any]) -> Iterator[str]:
    """Why the splits miss the target shares, as sentences."""
    if report["largest_group_exceeds"]:
        yield (
            f"{report['largest_group']:,} sessions belong together, more than the smallest split is to have; "
            f"all of them are in {report['largest_group_split']}, and shares can't be kept. Are they the "
            "same text with other numbers in it? A higher similarity tells more of them apart."
        )
    if report["strata_off"]:
        yield (
            f"{report['strata_off']:,} of {report['strata_count']:,} strata deviate by more than a "
            "percentage point and a session, because of groups that stay together or earlier placements."
        )


def format_leaks(report: dict[str, Any], leaks: list[dict[str, Any]]) -> Iterator[str]:
    """Pairs that belong together and stand in different splits."""
    total = report["leaking_pairs"]
    if not total:
        yield "No leak: no session has a near-duplicate or a sibling in another split."
        return
    yield f"Pairs that belong together and stand in different splits, as they were placed before: {total:,}"
    for leak in leaks:
        one, other = leak["sessions"]
        first, second = leak["splits"]
        alike = "siblings" if leak["similarity"] is None else f"similarity {leak['similarity']:.2f}"
        yield f"  {one} ({first}) and {other} ({second}): {alike}"
    if total > len(leaks):
        yield f"  … and {total - len(leaks):,} more."


def _format_strata(report: dict[str, Any]) -> Iterator[str]:
    for row in report["strata"][:MAX_STRATA_SHOWN]:
        counts = ", ".join(f"{split} {row[split]:,}" for split in report["splits"])
        deviation = f"deviation {row['points_off']:.1f} points, {row['sessions_off']:.1f} sessions"
        yield f"  {row['stratum']}: {counts} ({deviation})"
    more = report["strata_count"] - min(MAX_STRATA_SHOWN, len(report["strata"]))
    if more > 0:
        yield f"  … and {more:,} more strata."
