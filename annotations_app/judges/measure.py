"""How far a judge can be trusted: its verdicts against what most people say, by agreement statistics."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from annotations_app.agreement.charts import ConfusionCell, shade_rows
from annotations_app.domain.agreement.agreement_report import Comparison, Statistic
from annotations_app.domain.agreement.comparisons import compare_two
from annotations_app.domain.agreement.intervals import jackknife_interval, sum_squared_influence
from annotations_app.domain.agreement.length_bias import measure_length_bias
from annotations_app.domain.agreement.preference import score_side_a
from annotations_app.domain.arrays import FloatArray, IntArray
from annotations_app.domain.estimates.alternative import DEFAULT_EPSILON, AlternativeTest
from annotations_app.domain.scales import scale_of
from annotations_app.domain.to_json import to_json
from annotations_app.judges.alternative import check_epsilon, measure_alternative
from annotations_app.judges.costs import compute_cost, describe_members
from annotations_app.judges.disagreements import find_consensus
from annotations_app.judges.judge_rows import (
    SPLITS,
    count_not_judged,
    list_outdated,
    look_up,
    read_characters,
    read_length_differences,
    read_lengths,
    read_people_at_random,
    read_raters,
    read_repeats,
    read_sessions,
    read_tags,
    read_verdicts,
)
from annotations_app.judges.reveal import Following, measure_following
from annotations_app.judges.sides import SideCheck, measure_sides
from annotations_app.judges.versions import VersionChange, compare_versions, find_earlier
from annotations_app.models import JudgeRun
from datasets_app.domain.labels.criterion import Criterion, Kind
from datasets_app.domain.model_calls.budget import TokensUsed

NOTHING_COMPARED = "no reply has both a verdict and a label of most people"


class LevelRate(NamedTuple):
    """Of the replies to which most people give this answer, the share to which the judge does. Of a yes/no
    criterion the true-positive rate (yes) and the true-negative rate (no)."""

    name: str
    people: int
    rate: Statistic


class Compared(NamedTuple):
    """A judge against the consensus of people; rows of the comparison's table are those of the judge."""

    name: str
    comparison: Comparison
    rates: list[LevelRate]

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, **to_json(self.comparison), "rates": to_json(self.rates)}


class MeasuredCriterion(NamedTuple):
    """``ties`` are replies on which people have no majority; ``unlabeled`` those that nobody labeled.
    ``itself`` compares repeated judgments of a reply with the first. ``tag`` is one of several."""

    criterion: Criterion
    tag: str
    judged: int
    unlabeled: int
    ties: int
    whole: Compared
    parts: dict[str, list[Compared]]
    itself: Comparison | None
    alternative: AlternativeTest | None
    change: VersionChange | None
    # None where answers have no order.
    length_bias: Statistic | None = None
    # Of pairs.
    sides: SideCheck | None = None

    @property
    def title(self) -> str:
        return f"{self.criterion.question} {self.tag}".strip()

    @property
    def confusion(self) -> list[tuple[str, list[ConfusionCell]]]:
        """What most people say, by what the judge says: those of one kind are the rates."""
        table = zip(*self.whole.comparison.table, strict=True)
        return shade_rows([rate.name for rate in self.whole.rates], list(table))

    def as_json(self) -> dict[str, Any]:
        return {
            "criterion": self.criterion.key,
            "tag": self.tag or None,
            "judged": self.judged,
            "unlabeled": self.unlabeled,
            "ties": self.ties,
            "agreement": to_json(self.whole),
            "by": to_json(self.parts),
            "itself": to_json(self.itself),
            "earlier_version": to_json(self.change),
            "alternative_annotator": to_json(self.alternative),
            "length_bias": to_json(self.length_bias),
            "sides": to_json(self.sides),
        }


class JudgeReport(NamedTuple):
    """``not_judged`` counts replies without a judgment by the reason; ``cost`` is that of a thousand
    judgments, None without prices. ``outdated`` are criteria that were others when they were judged.
    ``members`` are those of a jury."""

    run: JudgeRun
    judged: int
    not_judged: dict[str, int]
    criteria: list[MeasuredCriterion]
    following: list[Following]
    cost: float | None
    outdated: list[str]
    members: list[dict[str, Any]]

    @property
    def missing(self) -> int:
        return sum(self.not_judged.values())

    @property
    def missing_share(self) -> float:
        return self.missing / max(1, self.judged + self.missing)

    def as_json(self) -> dict[str, Any]:
        return {
            "judge": self.run.judge.full_name,
            "prompt_digest": self.run.prompt_digest,
            "judged": self.judged,
            "not_judged": self.not_judged,
            "not_judged_share": self.missing_share,
            "tokens": TokensUsed(**self.run.used).total,
            "cost_per_thousand": self.cost,
            "criteria": to_json(self.criteria),
            "outdated_criteria": self.outdated,
            "members": self.members,
            "following": [{**one._asdict(), "share": one.share} for one in self.following],
        }


class _Matched(NamedTuple):
    """Of each reply with both, sorted by session: turn, session, and what the judge and most people say."""

    turn: IntArray
    session: IntArray
    judge: IntArray
    people: IntArray


def measure_judge(run: JudgeRun, *, with_tags: bool = True, epsilon: float = DEFAULT_EPSILON) -> JudgeReport:
    """Where people were shown a verdict, what they said before counts. Tags may quote raw text. ``epsilon``
    is that of the test of :mod:`alternative`. Raises UserError."""
    check_epsilon(epsilon)
    sessions = read_sessions(run.campaign)
    parts = {"tag": read_tags(run.campaign) if with_tags else {}, "length": read_lengths(run.campaign)}
    criteria = [
        measured
        for criterion in run.campaign.asked_schema.criteria
        if criterion.levels
        for measured in _measure(run, criterion, sessions, parts, epsilon)
    ]
    judged, reasons = count_not_judged(run)
    members = describe_members(run)
    cost = compute_cost(run, members)
    is_revealed = run.campaign.revealed_judge_id == run.judge_id
    return JudgeReport(
        run,
        judged,
        reasons,
        criteria,
        measure_following(run.campaign) if is_revealed else [],
        1000 * cost / judged if cost is not None and judged else None,
        list_outdated(run),
        members,
    )


def find_replies(
    run: JudgeRun, key: str, tag: str, judge: int, people: int
) -> tuple[str, tuple[str, str], list[int]] | None:
    """(what is asked, what the judge and people say, the turns of which they do); None for what isn't
    asked."""
    criterion = run.campaign.asked_schema.find(key)
    if criterion is None or not criterion.levels:
        return None
    for own_tag, names, read in _list_scales(criterion):
        if own_tag == tag and max(judge, people) < len(names):
            label_turn, label = read_people_at_random(run.campaign, criterion)
            turns, codes, _ = find_consensus(label_turn, read(label), len(names))
            verdict_turn, verdict = read_verdicts(run, criterion)
            sessions = read_sessions(run.campaign)
            matched = _match(turns, look_up(turns, verdict_turn, read(verdict)), codes, sessions)
            wanted = (matched.judge == judge) & (matched.people == people)
            title = f"{criterion.question} {tag}".strip()
            return title, (names[judge], names[people]), sorted(matched.turn[wanted].tolist())
    return None


def _measure(
    run: JudgeRun,
    criterion: Criterion,
    sessions: Any,
    parts: dict[str, dict[str, IntArray]],
    epsilon: float,
) -> Iterator[MeasuredCriterion]:
    verdict_turn, verdict = read_verdicts(run, criterion)
    if not len(verdict_turn):
        return
    label_turn, label = read_people_at_random(run.campaign, criterion)
    repeats = read_repeats(run, criterion)
    raters, earlier = read_raters(run.campaign, criterion), find_earlier(run)
    before = read_verdicts(earlier, criterion) if earlier else None
    is_pair = criterion.kind == Kind.PREFERENCE
    lengths = read_length_differences(run.campaign) if is_pair else read_characters(run.campaign)
    for tag, names, read in _list_scales(criterion):
        turns, codes, ties = find_consensus(label_turn, read(label), len(names))
        now = look_up(turns, verdict_turn, read(verdict))
        matched = _match(turns, now, codes, sessions)
        weights = scale_of(criterion.kind).weights(len(names))
        yield MeasuredCriterion(
            criterion,
            tag,
            len(verdict_turn),
            int((~np.isin(verdict_turn, label_turn)).sum()),
            ties,
            _compare_whole("all", matched, names, weights),
            {
                kind: _compare_parts(turns_of, matched, names, weights)
                for kind, turns_of in {"split": _split_parts(matched, sessions), **parts}.items()
            },
            _compare_with_itself(repeats, read, sessions, weights),
            measure_alternative(
                raters, (verdict_turn, verdict), sessions, criterion, len(names), read, epsilon
            ),
            compare_versions(
                earlier, codes, look_up(turns, before[0], read(before[1])), now, sessions.session_of(turns)
            )
            if earlier and before
            else None,
            None
            if criterion.kind == Kind.CHOICE
            else _measure_length_bias(matched, lengths, len(names), is_pair),
            measure_sides(run, criterion, sessions) if is_pair else None,
        )


def _measure_length_bias(
    matched: _Matched, lengths: tuple[IntArray, IntArray], levels: int, is_pair: bool
) -> Statistic:
    """Of pairs, how much oftener the reply shown as A is chosen where it is the longer one."""
    length = look_up(matched.turn, *lengths)
    there = ~np.isnan(length) & ~(is_pair & (length == 0))
    judge = score_side_a(matched.judge) if is_pair else matched.judge / (levels - 1)
    return measure_length_bias(
        matched.session[there],
        length[there].astype(np.int64),
        judge[there],
        matched.people[there],
        0 if is_pair else None,
    )


def _list_scales(criterion: Criterion) -> Iterator[tuple[str, list[str], Any]]:
    """(tag, names of the answers, from stored answers to their codes)."""
    if criterion.kind != Kind.TAGS:
        yield "", [level.name for level in criterion.levels], lambda value: value
        return
    for code, level in enumerate(criterion.levels):
        yield level.name, ["No", "Yes"], lambda value, code=code: (value >> code) & 1


def _match(turn: IntArray, judge: FloatArray, people: IntArray, sessions: Any) -> _Matched:
    """Of those that the judge has judged: ``judge`` is NaN of the others."""
    there = ~np.isnan(judge)
    turn, judge, people = turn[there], judge[there], people[there]
    session = sessions.session_of(turn)
    order = np.argsort(session, kind="stable")
    return _Matched(turn[order], session[order], judge[order].astype(np.int64), people[order])


def _compare(matched: _Matched, weights: FloatArray) -> Comparison:
    return compare_two(matched.judge, matched.people, matched.session, weights, NOTHING_COMPARED)


def _compare_with_itself(repeats: Any, read: Any, sessions: Any, weights: FloatArray) -> Comparison | None:
    turn, first, again = repeats
    if not len(turn):
        return None
    return _compare(_match(turn, read(again).astype(np.float64), read(first), sessions), weights)


def _compare_whole(name: str, matched: _Matched, names: list[str], weights: FloatArray) -> Compared:
    rates = [_rate_level(level, code, matched) for code, level in enumerate(names)]
    return Compared(name, _compare(matched, weights), rates)


def _rate_level(name: str, code: int, matched: _Matched) -> LevelRate:
    said = matched.people == code
    if not said.any():
        return LevelRate(name, 0, Statistic(None, note="undefined: people never say so"))
    hits = (matched.judge[said] == code).astype(np.float64)
    rate = float(hits.mean())
    influence = ((hits - rate) / len(hits))[None]
    group = np.zeros(len(hits), np.int64)
    squares, sessions = sum_squared_influence(group, matched.session[said], influence, 1)
    interval = jackknife_interval(rate, float(squares[0][0]), int(sessions[0]), 0.0)
    return LevelRate(name, len(hits), interval)


def _split_parts(matched: _Matched, sessions: Any) -> dict[str, IntArray]:
    split = sessions.split_of(matched.turn)
    return {name: matched.turn[split == number] for number, name in enumerate(SPLITS)}


def _compare_parts(
    parts: dict[str, IntArray], matched: _Matched, names: list[str], weights: FloatArray
) -> list[Compared]:
    compared = []
    for name, turns in parts.items():
        inside = np.isin(matched.turn, turns)
        if inside.any():
            part = _Matched(*(column[inside] for column in matched))
            compared.append(_compare_whole(name, part, names, weights))
    return compared
