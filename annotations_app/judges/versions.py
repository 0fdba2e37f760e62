"""A version of a judge, or a run under another prompt, against the one before, on the same replies."""

from typing import NamedTuple

import numpy as np

from annotations_app.domain.agreement.agreement_report import Statistic
from annotations_app.domain.agreement.gain import RISK, measure_gain
from annotations_app.domain.arrays import FloatArray, IntArray
from annotations_app.models import JudgeRun


class VersionChange(NamedTuple):
    """Of ``replies`` that both judged, how many each answers as most people do; ``gained`` are right now and
    weren't before, ``lost`` the reverse. ``difference`` has an interval by sessions. ``bound`` is too high
    with a probability of at most the ``risk``; None with too few sessions."""

    earlier: str
    prompt_digest: str
    replies: int
    before: int
    now: int
    gained: int
    lost: int
    difference: Statistic
    bound: float | None = None


def find_earlier(run: JudgeRun) -> JudgeRun | None:
    """The run before of a judge of the same name in the same campaign."""
    runs = JudgeRun.objects.filter(campaign=run.campaign_id, judge__name=run.judge.name, pk__lt=run.pk)
    return runs.select_related("judge").order_by("-pk").first()


def compare_versions(
    earlier: JudgeRun,
    people: IntArray,
    before: FloatArray,
    now: FloatArray,
    session: IntArray,
    risk: float = RISK,
) -> VersionChange | None:
    """Verdicts by reply, NaN where there is none; None if there is no reply that both judged."""
    both = ~np.isnan(before) & ~np.isnan(now)
    if not both.any():
        return None
    order = np.argsort(session[both], kind="stable")
    people, session = people[both][order], session[both][order]
    was, is_right = before[both][order] == people, now[both][order] == people
    return VersionChange(
        earlier.judge.full_name,
        earlier.prompt_digest,
        len(was),
        int(was.sum()),
        int(is_right.sum()),
        int((is_right & ~was).sum()),
        int((was & ~is_right).sum()),
        *measure_gain(was, is_right, session, risk),
    )
