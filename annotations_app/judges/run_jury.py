"""Has a jury judge a campaign: its members are asked in their order, and what they say is combined."""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from annotations_app.domain.arrays import FloatArray, IntArray
from annotations_app.domain.judging.judge_prompt import select_questions
from annotations_app.domain.judging.jury import MISSING, combine_verdicts, load_weights
from annotations_app.domain.judging.jury_document import FOLDS, Jury
from annotations_app.judges.costs import compute_cost
from annotations_app.judges.judge_rows import look_up, read_verdicts
from annotations_app.judges.judges import get_judge
from annotations_app.judges.keep_run import JudgeOutcome, Kept, keep_verdicts, open_run
from annotations_app.judges.model_judge import JudgedTurn
from annotations_app.judges.parameters import JudgeOptions
from annotations_app.judges.replies import count_replies, read_folds
from annotations_app.judges.run_judge import check_run, run_judge
from annotations_app.models import Campaign, Judge, JudgeRun, Verdict
from datasets_app.catalog import gates, text_gates
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ignore_progress
from datasets_app.domain.labels.criterion import Criterion
from datasets_app.domain.labels.schema import Answers, Question, is_asked
from datasets_app.domain.model_calls.budget import TokensUsed
from datasets_app.domain.model_calls.run import RunStopped

NOBODY = "no member of the jury judged it"


class _Replies(NamedTuple):
    """Ascending by ``turn``: the first ``asked`` members have answered for each; ``chances`` (replies,
    answers) are what they make likely, by criterion."""

    turn: IntArray
    fold: IntArray
    asked: IntArray
    chances: dict[str, FloatArray]


class _Decided(NamedTuple):
    """``done`` are the replies of which nobody else need be asked; ``inapplicable`` the turns of which each
    member says that no criterion applies."""

    questions: Sequence[Question]
    runs: Sequence[JudgeRun]
    replies: _Replies
    done: Any
    inapplicable: Sequence[IntArray]


def run_rater(
    campaign: Campaign,
    judge: Judge,
    options: JudgeOptions = JudgeOptions(),  # noqa: B008
    **caller: Any,
) -> JudgeOutcome:
    """As :func:`run_judge`, also of a jury. Its members judge what they haven't yet: each after the first
    only replies of which those before aren't sure enough. Budgets are for all that they have used in this
    campaign."""
    jury = judge.content.jury
    if jury is None:
        return run_judge(campaign, judge, options, **caller)
    if options.repeats != 1:
        raise UserError("A jury judges each reply once; have its members repeat their judgments.")
    questions, members = _select_questions(campaign, jury), _load_members(jury)
    check_members(campaign, members, options, caller)
    turn, fold = read_folds(campaign, FOLDS)
    replies = _Replies(turn, fold, np.zeros(len(turn), np.int64), {})
    runs: list[JudgeRun] = []
    stopped = ""
    for place, member in enumerate(members):
        wanted = (replies.asked == place) & ~_find_sure(questions, jury, replies)
        run, stop = ask_member(campaign, members, member, options, turn[wanted].tolist(), caller)
        stopped = stopped or stop
        runs.append(run)
        replies.asked[wanted & np.isin(turn, _list_answered(run))] = place + 1
        replies = replies._replace(chances=_combine(questions, jury, runs, replies))
    done = (replies.asked == len(members)) | _find_sure(questions, jury, replies)
    decided = _Decided(questions, runs, replies, done, [_list_inapplicable(run, questions) for run in runs])
    run = _open(campaign, judge, decided)
    excluded = count_replies(campaign, [])[1]
    return keep_verdicts(
        Kept(run, campaign.asked_schema, len(turn), 0, excluded, "those of its members"),
        lambda tick: _decide(decided, stopped, tick),
        actor=caller.get("actor"),
        report_progress=caller.get("report_progress", ignore_progress),
    )


def _load_members(jury: Jury) -> list[Judge]:
    members = find_members([member.judge for member in jury.members])
    for member, known in zip(members, jury.members, strict=True):
        if member.digest != known.digest:
            raise UserError(f"{member.full_name} isn't the judge that the weights were learned for.")
    return members


def find_members(names: Sequence[str]) -> list[Judge]:
    """Raises UserError."""
    members = [get_judge(name) for name in names]
    if juries := [one.full_name for one in members if one.content.jury]:
        raise UserError(f"{juries[0]} is a jury itself; name its members.")
    return members


def check_members(
    campaign: Campaign, members: Sequence[Judge], options: JudgeOptions, caller: dict[str, Any]
) -> None:
    """Before the first is asked, and paid: what would stop any of them. Raises UserError."""
    who = {"actor": caller.get("actor"), "override": caller.get("override", "")}
    for member in members:
        _, endpoint = check_run(campaign, member.content, options, caller.get("endpoint_actor"))
        for dataset in campaign.datasets:
            gates.check(text_gates.ask_judge(dataset, endpoint and endpoint.base_url, **who))


def ask_member(
    campaign: Campaign,
    members: Sequence[Judge],
    member: Judge,
    options: JudgeOptions,
    turns: list[int],
    caller: dict[str, Any],
) -> tuple[JudgeRun, str]:
    """Its run, and why it hasn't all of these. Budgets are for all ``members``."""
    used = list(campaign.judge_runs.filter(judge__in=members).select_related("judge"))
    if options.max_tokens is not None:
        tokens = sum(TokensUsed(**run.used).total for run in used)
        options = options._replace(max_new_tokens=max(0, options.max_tokens - tokens))
    if options.max_cost is not None:
        cost = sum(compute_cost(run) or 0.0 for run in used)
        options = options._replace(max_new_cost=max(0.0, options.max_cost - cost))
    outcome = run_judge(campaign, member, options, only=turns, **caller)
    run = JudgeRun.objects.select_related("judge", "campaign", "schema").get(pk=outcome.run)
    return run, outcome.stopped


def read_codes(run: JudgeRun, criterion: Criterion, turns: IntArray) -> IntArray:
    """What it says of each reply, MISSING where nothing."""
    found = look_up(turns, *read_verdicts(run, criterion))
    return np.where(np.isnan(found), MISSING, found).astype(np.int64)


def _select_questions(campaign: Campaign, jury: Jury) -> list[Question]:
    """Raises UserError if the campaign asks another version of a criterion."""
    questions = list(select_questions(campaign.asked_schema, tuple(jury.criteria)).questions)
    for key, learned in jury.criteria.items():
        if learned.digest not in [one.criterion.digest for one in questions]:
            raise UserError(
                f"{campaign.name} doesn't ask {key[:50]} as it was when the jury was formed: form it again."
            )
    return questions


def _list_answered(run: JudgeRun) -> list[int]:
    """Turns that it has judged or failed to judge; examples of its prompt are never asked about."""
    verdicts = Verdict.objects.filter(run=run, repeat=0, swapped=False)
    return [*verdicts.values_list("turn_id", flat=True), *run.examples]


def _find_sure(questions: Sequence[Question], jury: Jury, replies: _Replies) -> Any:
    """Of which replies no further member need be asked: any has answered something, and all are sure."""
    sure = np.full(len(replies.turn), jury.certainty is not None)
    said = np.zeros(len(replies.turn), bool)
    for question in questions if replies.chances else ():
        chance = replies.chances[question.criterion.key].max(axis=1)
        may_miss = question.optional or question.condition is not None
        sure &= (chance >= (jury.certainty or 1.0)) | (np.isnan(chance) & may_miss)
        said |= ~np.isnan(chance)
    return sure & said


def _combine(
    questions: Sequence[Question], jury: Jury, runs: Sequence[JudgeRun], replies: _Replies
) -> dict[str, FloatArray]:
    combined = {}
    for question in questions:
        criterion = question.criterion
        said = np.stack([read_codes(run, criterion, replies.turn) for run in runs])
        chances = np.full((len(replies.turn), len(criterion.levels)), np.nan)
        for number, weights in enumerate(jury.criteria[criterion.key].folds):
            for asked in range(1, len(runs) + 1):
                some = (replies.fold == number) & (replies.asked == asked)
                chances[some] = combine_verdicts(load_weights(weights), said[:, some], asked)
        combined[criterion.key] = chances
    return combined


def _list_inapplicable(run: JudgeRun, questions: Sequence[Question]) -> IntArray:
    """Turns that it has judged without an answer to any of these."""
    keys = [one.criterion.key for one in questions]
    judged = Verdict.objects.filter(run=run, repeat=0, swapped=False, failure="")
    turns = judged.exclude(codes__has_any_keys=keys).values_list("turn_id", flat=True)
    return np.fromiter(turns, np.int64)


def _open(campaign: Campaign, judge: Judge, decided: _Decided) -> JudgeRun:
    """The jury's run, with what its members did for it."""
    questions, runs, replies, done, inapplicable = decided
    prompts = json.dumps([judge.digest, *(run.prompt_digest for run in runs)])
    digest = hashlib.sha256(prompts.encode()).hexdigest()
    run = open_run(campaign, judge, digest, runs[0].persona_digest)
    run.members = []
    for place, member in enumerate(runs):
        asked = replies.turn[done & (replies.asked > place)]
        said = np.stack([read_codes(member, one.criterion, asked) for one in questions])
        missing = (said == MISSING).all(axis=0) & ~np.isin(asked, inapplicable[place])
        run.members.append({"run": member.pk, "asked": len(asked), "missing": int(missing.sum())})
    used = [asdict(TokensUsed(**member.used)) for member in runs]
    run.used = {name: sum(one[name] for one in used) for name in used[0]}
    run.save(update_fields=["members", "used"])
    return run


def _decide(decided: _Decided, stopped: str, tick: Callable[[], None]) -> Iterator[JudgedTurn]:
    """The likeliest answer to each criterion that applies, with how sure the members are together. Raises
    RunStopped in the end if not all were asked."""
    questions, runs, replies, done, inapplicable = decided
    names = [run.judge.full_name for run in runs]
    none_applies = np.isin(replies.turn, np.concatenate(inapplicable))
    for place in np.flatnonzero(done).tolist():
        answers, sure = Answers({}, {}), []
        for question in questions:
            chances = replies.chances[question.criterion.key][place]
            if is_asked(question, answers) and not np.isnan(chances[0]):
                answers.codes[question.criterion.key] = int(chances.argmax())
                sure.append(float(chances.max()))
        turn, asked = int(replies.turn[place]), ", ".join(names[: replies.asked[place]])
        if sure:
            yield JudgedTurn(turn, 0, answers.codes, f"{100 * min(sure):.0f} % sure, by {asked}.")
        elif none_applies[place]:
            yield JudgedTurn(turn, 0, {}, f"Doesn't apply, by {asked}.")
        else:
            yield JudgedTurn(turn, 0, {}, failure=NOBODY)
        tick()
    if stopped:
        raise RunStopped(stopped)
