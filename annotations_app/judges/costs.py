"""What a run of a judge costs, and of a jury what each member does and what asking it less has saved."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Count

from annotations_app.models import JudgeRun
from datasets_app.domain.model_calls.budget import TokensUsed


def compute_cost(run: JudgeRun, members: Sequence[dict[str, Any]] | None = None) -> float | None:
    """At the judge's prices, of a jury at those of its ``members`` (:func:`describe_members`); None without
    any."""
    if run.members:
        costs = [one["cost"] for one in (members or describe_members(run))]
        return None if None in costs else sum(costs)
    prices = run.judge.content.prices
    used = TokensUsed(**run.used)
    return None if prices is None else prices.cost(used.prompt, used.completion)


def describe_members(run: JudgeRun) -> list[dict[str, Any]]:
    """Of each member of a jury: about how many replies it was ``asked`` and ``not_asked``, as those before it
    were sure; how many it was asked about and didn't judge (``missing``); tokens and cost of those it was
    asked about, at its average for a judgment (of a pair both ways round, for two), and what the others
    would have taken."""
    if not run.members:
        return []
    found = JudgeRun.objects.select_related("judge").annotate(judgments=Count("verdicts"))
    runs = found.in_bulk([one["run"] for one in run.members])
    replies = max((one["asked"] for one in run.members), default=0)
    described = []
    for one in run.members:
        member, asked, not_asked = runs[one["run"]], one["asked"], replies - one["asked"]
        # A jury goes by one judgment of each reply, of pairs by one each way round.
        share = (2 if member.swap else 1) / max(1, member.judgments)
        tokens = share * TokensUsed(**member.used).total
        cost = compute_cost(member)
        cost = cost if cost is None else share * cost
        if not member.judge.content.calls_model:
            cost = 0.0
        described.append(
            {
                "judge": member.judge.full_name,
                "asked": asked,
                "not_asked": not_asked,
                "missing": one["missing"],
                "tokens": round(asked * tokens),
                "cost": None if cost is None else asked * cost,
                "saved_tokens": round(not_asked * tokens),
                "saved_cost": None if cost is None else not_asked * cost,
            }
        )
    return described
