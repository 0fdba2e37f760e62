"""Forms a jury of judges: learns how much each counts from labels of people, and has it judge a campaign."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from annotations_app.domain.arrays import IntArray
from annotations_app.domain.judging.judge_document import JURY, OFFLINE, JudgeDocument
from annotations_app.domain.judging.jury import learn_weights
from annotations_app.domain.judging.jury_document import (
    FOLDS,
    MAX_ANSWERS,
    MAX_MEMBERS,
    MIN_MEMBERS,
    Jury,
    JuryCriterion,
    Member,
    check_certainty,
)
from annotations_app.domain.to_json import to_json
from annotations_app.judges.disagreements import read_consensus
from annotations_app.judges.judge_rows import SPLITS, read_sessions
from annotations_app.judges.judges import save_judge
from annotations_app.judges.keep_run import JudgeOutcome
from annotations_app.judges.parameters import JudgeOptions
from annotations_app.judges.replies import list_excluded, read_folds
from annotations_app.judges.run_jury import ask_member, check_members, find_members, read_codes, run_rater
from annotations_app.models import Campaign, Judge, JudgeRun
from datasets_app.catalog.policies import LOCKED_SPLIT
from datasets_app.core.errors import UserError
from datasets_app.domain.labels.criterion import Criterion
from datasets_app.domain.labels.schema_document import NAME_PATTERN

MIN_REPLIES, MIN_SESSIONS, MIN_OF_ANSWER = 50, 20, 5


class FormedJury(NamedTuple):
    """``learned`` counts the labeled replies by criterion. Others have no weights: ``left_out`` says which
    no jury answers, ``too_few`` of which labels are missing, and why."""

    judge: str
    learned: dict[str, int]
    left_out: dict[str, str]
    too_few: dict[str, str]
    outcome: JudgeOutcome

    @property
    def is_complete(self) -> bool:
        return self.outcome.is_complete and not self.too_few

    def facts(self) -> dict[str, Any]:
        return to_json(self._asdict())  # type: ignore[no-any-return]


class _Labels(NamedTuple):
    """What most people say of replies that may be learned from, with the fold of each."""

    criterion: Criterion
    turn: IntArray
    label: IntArray
    fold: IntArray


def form_jury(
    campaign: Campaign,
    name: str,
    members: Sequence[str],
    *,
    certainty: float | None = None,
    options: JudgeOptions = JudgeOptions(),  # noqa: B008
    **caller: Any,
) -> FormedJury:
    """Have the ``members`` (NAME or NAME@VERSION, the cheapest first) judge the replies that people labeled,
    outside of the test split; learn their weights, save the jury as the next version of ``name``, and have it
    judge the campaign. With ``certainty`` a member is asked only where those before it are less sure.

    Commits for itself; an interrupted one goes on with what was judged. Raises UserError.
    """
    judges = _check(name, members, certainty)
    check_members(campaign, judges, options, caller)
    labels, left_out, too_few = _read_labels(campaign)
    if not labels:
        reasons = "; ".join(f"{key}: {reason}" for key, reason in (left_out | too_few).items())
        raise UserError(f"There are too few labels of people to learn weights from. {reasons}.")
    turns = np.unique(np.concatenate([one.turn for one in labels])).tolist()
    runs = []
    for judge in judges:
        run, stopped = ask_member(campaign, judges, judge, options, turns, caller)
        if stopped:
            raise UserError(f"{judge.full_name} hasn't judged all labeled replies. {stopped}")
        runs.append(run)
    jury = Jury(
        tuple(Member(judge.full_name, judge.digest) for judge in judges),
        certainty,
        {one.criterion.key: _learn(one, runs) for one in labels},
    )
    document = JudgeDocument(name, model=JURY, criteria=tuple(jury.criteria), jury=jury)
    saved = save_judge(document, actor=caller.get("actor")).judge
    outcome = run_rater(campaign, saved, options, **caller)
    learned = {one.criterion.key: len(one.turn) for one in labels}
    return FormedJury(saved.full_name, learned, left_out, too_few, outcome)


def _check(name: str, members: Sequence[str], certainty: float | None) -> list[Judge]:
    if not NAME_PATTERN.fullmatch(name):
        raise UserError("A jury's name has at most 100 letters, digits, dots, dashes and underscores.")
    try:
        check_certainty(certainty)
    except ValueError as error:
        raise UserError(f"{str(error).capitalize()}.") from None
    judges = find_members(members)
    if not MIN_MEMBERS <= len({judge.pk for judge in judges}) == len(judges) <= MAX_MEMBERS:
        raise UserError(f"A jury has {MIN_MEMBERS} to {MAX_MEMBERS} different judges.")
    taken = Judge.objects.filter(name=name).order_by("-version").first()
    if name == OFFLINE or (taken and not taken.content.jury):
        raise UserError(f"{name} is another judge; choose a name for the jury.")
    return judges


def _read_labels(campaign: Campaign) -> tuple[list[_Labels], dict[str, str], dict[str, str]]:
    """(labels by criterion, why no jury answers others, why there aren't enough of others): of any split but
    the locked one."""
    labels: list[_Labels] = []
    left_out: dict[str, str] = {}
    too_few: dict[str, str] = {}
    sessions, excluded = read_sessions(campaign), np.array(list_excluded(campaign), np.int64)
    known, folds = read_folds(campaign, FOLDS)
    for criterion in campaign.asked_schema.criteria:
        if not criterion.has_one_level or not 2 <= len(criterion.levels) <= MAX_ANSWERS:
            left_out[criterion.key] = f"juries answer criteria with 2 to {MAX_ANSWERS} answers, one of them"
            continue
        turn, label = read_consensus(campaign, criterion)
        kept = (sessions.split_of(turn) != SPLITS.index(LOCKED_SPLIT)) & ~np.isin(turn, excluded)
        turn, label = turn[kept], label[kept]
        if reason := _find_shortage(label, sessions.session_of(turn)):
            too_few[criterion.key] = reason
            continue
        labels.append(_Labels(criterion, turn, label, folds[np.searchsorted(known, turn)]))
    return labels, left_out, too_few


def _find_shortage(label: IntArray, session: IntArray) -> str:
    if len(label) < MIN_REPLIES or len(np.unique(session)) < MIN_SESSIONS:
        needed = f"{MIN_REPLIES} in {MIN_SESSIONS} sessions are needed"
        return f"{len(label)} labeled replies outside of the test split, {needed}"
    _, counts = np.unique(label, return_counts=True)
    if np.sum(counts >= MIN_OF_ANSWER) < 2:
        return f"fewer than {MIN_OF_ANSWER} replies of a second answer"
    return ""


def _learn(labels: _Labels, runs: Sequence[JudgeRun]) -> JuryCriterion:
    """The weights of each fold are those of the others' replies."""
    said = np.stack([read_codes(run, labels.criterion, labels.turn) for run in runs])
    answers = len(labels.criterion.levels)
    folds = tuple(
        learn_weights(said[:, labels.fold != fold], labels.label[labels.fold != fold], answers).as_stored()
        for fold in range(FOLDS)
    )
    return JuryCriterion(labels.criterion.digest, len(labels.turn), folds)
