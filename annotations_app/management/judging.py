"""What commands of judges say."""

from typing import Any

from annotations_app.judges.keep_run import JudgeOutcome
from datasets_app.domain.wording import format_count


def report_outcome(out: Any, judge: str, outcome: JudgeOutcome) -> None:
    earlier = f", {outcome.before:,} before" if outcome.before else ""
    cost = "" if outcome.cost is None else f" for {outcome.cost:.4f}"
    tokens = f"; {outcome.tokens:,} tokens{cost}" if outcome.tokens else ""
    judged = format_count(outcome.judged, "judgment")
    out.write(f"{judge}: {judged}{earlier}{tokens}.")
    missing = sum(outcome.not_judged.values())
    if missing:
        share = missing / max(1, missing + outcome.judged + outcome.before)
        out.write(f"Not judged: {missing:,} ({share:.1%}).")
    for reason, count in sorted(outcome.not_judged.items()):
        out.write(f"  {count:,}: {reason}")
    if outcome.changed:
        pairs = format_count(outcome.changed, "pair")
        out.write(f"Not judged: {pairs} of which the answer changes with the sides.")
    if outcome.excluded:
        out.write(f"Left out: {format_count(outcome.excluded, 'reply', 'replies')} of excluded sessions.")
    if outcome.examples:
        out.write(f"Left out: {format_count(outcome.examples, 'example')} shown to the judge.")
    if outcome.stopped:
        out.write(f"{outcome.stopped} {outcome.left:,} left; run it again to resume.")
    for one in outcome.members:
        missing = f", {one['missing']:,} of them not judged" if one["missing"] else ""
        out.write(f"  {one['judge']}: asked about {format_count(one['asked'], 'reply', 'replies')}{missing}")
        if one["not_asked"]:
            cost = "" if one["saved_cost"] is None else f", {one['saved_cost']:.4f}"
            saved = f": about {one['saved_tokens']:,} tokens{cost} saved" if one["saved_tokens"] else ""
            out.write(f"    {one['not_asked']:,} spared{saved}")
