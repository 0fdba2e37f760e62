"""Better prompts for a judge: proposed from where people differ on the training split, kept if they agree
better with people on the validation split."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from django.db import transaction

from annotations_app.domain.agreement.gain import share_risk
from annotations_app.domain.arrays import IntArray
from annotations_app.domain.judging.better_prompt import Disagreement, build_request
from annotations_app.domain.judging.judge_document import JudgeDocument
from annotations_app.domain.to_json import to_json
from annotations_app.judges.disagreements import read_consensus
from annotations_app.judges.judge_rows import SPLITS, Sessions, look_up, read_sessions, read_verdicts
from annotations_app.judges.judges import get_judge, save_judge
from annotations_app.judges.model_judge import write_instructions
from annotations_app.judges.parameters import DEFAULT_TRIES, JudgeOptions
from annotations_app.judges.replies import EXAMPLE_SPLIT, list_excluded, read_replies
from annotations_app.judges.run_judge import choose_criterion, make_request, run_judge
from annotations_app.judges.versions import VersionChange, compare_versions
from annotations_app.models import Campaign, Judge, JudgeRun, Verdict
from datasets_app.catalog import text_gates
from datasets_app.catalog.written_text import find_written
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.labels.criterion import Criterion
from datasets_app.domain.model_calls.budget import TokenBudget, TokensUsed
from datasets_app.domain.model_calls.endpoint import Endpoint
from datasets_app.domain.wording import format_count
from datasets_app.model_calls.endpoints import require_endpoint
from datasets_app.model_calls.requests import make_model

COMPARED_SPLIT = "validation"
MAX_TRIES, MAX_LISTED = 10, 20
# Shown to the model that writes instructions, and to the judge.
MAX_SHOWN, MAX_EXAMPLES_SHOWN = 12, 8
# Characters of a conversation in a row that instructions may repeat.
MAX_QUOTE = 30
DRAFT = "{}.draft"
EXAMPLES, INSTRUCTIONS = "examples", "instructions"


class Proposal(NamedTuple):
    """A version that was tried: ``change`` against the judge before on the validation split, None with the
    ``problem``."""

    judge: str
    what: str
    instructions: str
    change: VersionChange | None
    accepted: bool = False
    problem: str = ""


class Improvement(NamedTuple):
    """``judge`` is the version that is the best now; ``tries`` counts earlier ones as well; ``before``
    were tried before an interruption."""

    judge: str
    tries: int
    proposals: list[Proposal]
    before: int = 0

    def facts(self) -> dict[str, Any]:
        return to_json(self._asdict())  # type: ignore[no-any-return]

    @property
    def is_complete(self) -> bool:
        return not any(one.problem for one in self.proposals)

    @property
    def sentences(self) -> list[str]:
        before = format_count(self.before, "prompt was", "prompts were")
        interrupted = [f"{before} tried before an interruption."] if self.before else []
        proposals = map(describe_proposal, self.proposals)
        return [*interrupted, *proposals, f"Best now: {self.judge}, of {self.tries} tries."]


class _Labeled(NamedTuple):
    """What most people say of replies that may be sent, ascending by turn."""

    turn: IntArray
    label: IntArray
    sessions: Sessions

    def of_split(self, split: str) -> "_Labeled":
        chosen = self.sessions.split_of(self.turn) == SPLITS.index(split)
        return self._replace(turn=self.turn[chosen], label=self.label[chosen])


def improve_judge(
    campaign: Campaign,
    judge: Judge,
    *,
    criterion: str = "",
    tries: int = DEFAULT_TRIES,
    max_tokens: int | None = None,
    state: dict[str, Any] | None = None,
    keep_state: Callable[[dict[str, Any]], None] = lambda state: None,
    override: str = "",
    actor: Any = None,
    endpoint_actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> Improvement:
    """Try other prompts of ``judge``: with replies that it gets wrong as examples, then with instructions
    that its model writes from them.

    Each is a version of NAME.draft, judges the validation split, and becomes the next version of the judge if
    the lower bound of the gain in agreement is above 0, for as many tries as there were. Nothing of the test
    split is read or sent. ``max_tokens`` limits all of it. Commits for itself: ``keep_state`` stores how far
    it is, with which, as ``state``, an interrupted run goes on. Raises UserError.
    """
    asked, labeled = _check(campaign, judge, criterion, tries)
    endpoint = require_endpoint(judge.content.endpoint or None, endpoint_actor)
    work = _Improving(campaign, asked, labeled, endpoint, max_tokens, override, actor, endpoint_actor)
    work.begin(judge, state or {}, keep_state)
    before = work.state["done"]
    proposals: list[Proposal] = []
    for number in range(before, tries):
        proposal = work.try_once()
        proposals.append(proposal)
        report_progress(number + 1, tries)
        if proposal.problem:
            break
    return Improvement(work.state["judge"], count_tries(judge.name), proposals, before)


def list_proposals(run: JudgeRun) -> list[tuple[Judge, list[tuple[str, VersionChange]]]]:
    """Drafts that weren't accepted, the latest first, against this run: by each criterion that is labeled,
    with its question."""
    drafts = run.campaign.judge_runs.filter(judge__name=DRAFT.format(run.judge.name))
    rows = list(drafts.select_related("judge", "schema")[:MAX_LISTED])
    changes: list[list[tuple[str, VersionChange]]] = [[] for _ in rows]
    for criterion in run.campaign.asked_schema.criteria if rows else ():
        labeled = _read_labeled(run.campaign, criterion).of_split(COMPARED_SPLIT)
        for row, of_row in zip(rows, changes, strict=True):
            if change := _compare(run, row, criterion, labeled):
                of_row.append((criterion.question, change))
    return [(row.judge, of_row) for row, of_row in zip(rows, changes, strict=True)]


def list_comparable(campaign: Campaign) -> list[Criterion]:
    """Those whose agreement can be compared."""
    return [one for one in campaign.asked_schema.criteria if one.has_one_level]


def is_draft(judge: Judge) -> bool:
    return judge.name.endswith(DRAFT.format(""))


def count_tries(name: str) -> int:
    return Judge.objects.filter(name=DRAFT.format(name)).count()


def describe_proposal(proposal: Proposal) -> str:
    change = proposal.change
    if change is None:
        return f"{proposal.judge} ({proposal.what}): {proposal.problem}."
    verdict = "accepted" if proposal.accepted else "not accepted"
    gain = 100 * (change.difference.value or 0.0)
    bound = "too few sessions to tell" if change.bound is None else f"at least {100 * change.bound:+.1f}"
    return (
        f"{proposal.judge} ({proposal.what}): {verdict}. Agreement on {change.replies:,} replies of the "
        f"validation split changes by {gain:+.1f} points, {bound}, from that of {change.earlier}."
    )


def _read_labeled(campaign: Campaign, criterion: Criterion) -> _Labeled:
    turn, label = read_consensus(campaign, criterion)
    sent = ~np.isin(turn, np.array(list_excluded(campaign), np.int64))
    return _Labeled(turn[sent], label[sent], read_sessions(campaign))


def _join_words(text: str) -> str:
    return " ".join(text.casefold().split())


def _check(campaign: Campaign, judge: Judge, key: str, tries: int) -> tuple[Criterion, _Labeled]:
    limit = Judge._meta.get_field("name").max_length - len(DRAFT.format(""))
    if len(judge.name) > limit:
        raise UserError(f"The drafts of a judge carry its name: choose one of at most {limit} characters.")
    if not judge.content.calls_model:
        name = "A jury" if judge.content.jury else "The offline judge"
        raise UserError(f"{name} has no prompt; improve a judge that calls a model.")
    if not 1 <= tries <= MAX_TRIES:
        raise UserError(f"Try 1 to {MAX_TRIES} prompts at a time.")
    request = "Choose the criterion that agreement is measured on"
    criterion = choose_criterion(list_comparable(campaign), key, request)
    labeled = _read_labeled(campaign, criterion)
    for split in (EXAMPLE_SPLIT, COMPARED_SPLIT):
        if not len(labeled.of_split(split).turn):
            raise UserError(
                f"No reply of the {split} split has a label of most people in {campaign.name}. Prompts are "
                f"proposed from the {EXAMPLE_SPLIT} split and compared on the {COMPARED_SPLIT} split."
            )
    return criterion, labeled


def _compare(base: JudgeRun, run: JudgeRun, criterion: Criterion, labeled: _Labeled) -> VersionChange | None:
    """What only the new prompt fails to judge counts as wrong."""
    turns = labeled.turn
    before, now = (look_up(turns, *read_verdicts(one, criterion)) for one in (base, run))
    session = labeled.sessions.session_of(turns)
    risk = share_risk(run.judge.version)
    return compare_versions(base, labeled.label, before, np.where(np.isnan(now), -1, now), session, risk)


class _Improving:
    """Spends up to ``max_tokens`` in all of its runs together."""

    def __init__(
        self,
        campaign: Campaign,
        criterion: Criterion,
        labeled: _Labeled,
        endpoint: Endpoint,
        max_tokens: int | None,
        override: str,
        actor: Any,
        endpoint_actor: Any,
    ) -> None:
        self.campaign, self.criterion, self.endpoint = campaign, criterion, endpoint
        self.train = labeled.of_split(EXAMPLE_SPLIT)
        self.validation = labeled.of_split(COMPARED_SPLIT)
        self._max_tokens, self._override, self._actor = max_tokens, override, actor
        self._endpoint_actor = endpoint_actor

    def begin(
        self, judge: Judge, state: dict[str, Any], keep_state: Callable[[dict[str, Any]], None]
    ) -> None:
        """``judge`` to go on with; tokens of its runs ``earlier``, and of instructions ``written`` since; how
        many prompts are ``done``, and the ``draft`` that is measured now, with what is new in it."""
        self._name, self._keep_state = judge.name, keep_state
        fresh = {"judge": judge.full_name, "earlier": 0, "written": 0, "done": 0, "draft": None}
        self.state = fresh | state
        if not state:
            self._keep(earlier=self._count_tokens())

    def _keep(self, **changed: Any) -> None:
        self.state |= changed
        self._keep_state(dict(self.state))

    def _count_tokens(self) -> int:
        """All that runs of the judge and its drafts have used; killed ones keep count as well."""
        runs = self.campaign.judge_runs.filter(judge__name__in=(self._name, DRAFT.format(self._name)))
        return sum(TokensUsed(**used).total for used in runs.values_list("used", flat=True))

    @property
    def _tokens_left(self) -> int | None:
        if self._max_tokens is None:
            return None
        spent = self._count_tokens() - self.state["earlier"] + self.state["written"]
        return max(0, self._max_tokens - int(spent))

    def try_once(self) -> Proposal:
        judge = get_judge(self.state["judge"])
        base, problem = self._judge(judge, [*self.train.turn.tolist(), *self.validation.turn.tolist()])
        what, document = "as it is", judge.content
        if not problem and not self.state["draft"]:
            what, document, problem = self._propose(base)
        if problem:
            return Proposal(judge.full_name, what, document.instructions, None, problem=problem)
        if not self.state["draft"]:
            with transaction.atomic():
                saved = save_judge(document._replace(name=DRAFT.format(judge.name)), actor=self._actor)
                self._keep(draft=[saved.judge.full_name, what])
        name, what = self.state["draft"]
        return self._compare_draft(base, get_judge(name), what)

    def _compare_draft(self, base: JudgeRun, draft: Judge, what: str) -> Proposal:
        run, problem = self._judge(draft, self.validation.turn.tolist(), swap=base.swap)
        change = _compare(base, run, self.criterion, self.validation)
        accepted = bool(not problem and change and change.bound is not None and change.bound > 0)
        proposal = Proposal(draft.full_name, what, draft.content.instructions, change, accepted, problem)
        with transaction.atomic():
            self._record(proposal)
            judge = self._accept(base.judge, run) if accepted else base.judge
            self._keep(judge=judge.full_name, draft=None, done=self.state["done"] + 1)
        return proposal

    def _judge(self, judge: Judge, turns: list[int], *, swap: bool = False) -> tuple[JudgeRun, str]:
        """The run that has these replies, and why it hasn't all."""
        outcome = run_judge(
            self.campaign,
            judge,
            JudgeOptions(swap=swap, max_new_tokens=self._tokens_left),
            only=turns,
            override=self._override,
            actor=self._actor,
            endpoint_actor=self._endpoint_actor,
        )
        run = JudgeRun.objects.select_related("judge", "campaign", "schema").get(pk=outcome.run)
        return run, outcome.stopped.rstrip(".")

    def _propose(self, base: JudgeRun) -> tuple[str, JudgeDocument, str]:
        """(what is new, the document, why there is none). Examples come first: they cost no call."""
        document = base.judge.content
        wrong = self._list_wrong(base)
        if not len(wrong):
            return (
                INSTRUCTIONS,
                document,
                f"it differs from most people on no reply of the {EXAMPLE_SPLIT} split",
            )
        draft = Judge.objects.filter(name=DRAFT.format(base.judge.name))
        if not any(one.content.examples_from == base.judge.full_name for one in draft):
            examples = max(document.examples, min(MAX_EXAMPLES_SHOWN, 2 * len(wrong)))
            return EXAMPLES, document._replace(examples=examples, examples_from=base.judge.full_name), ""
        for dataset in self.campaign.datasets:
            text_gates.check_judge(
                dataset, self.endpoint.base_url, actor=self._actor, override=self._override
            )
        shown = self._show(base, wrong)
        model = make_model(make_request(document, JudgeOptions(concurrency=1)), self.endpoint)
        budget = TokenBudget(self._tokens_left, TokensUsed())
        request = build_request(document.instructions, self.criterion, shown)
        before = self.state["written"]
        # A call on its way counts as spent: it may be billed.
        written = write_instructions(
            model, request, budget, lambda: self._keep(written=before + budget.used.total + budget.reserved)
        )
        self._keep(written=before + budget.used.total)
        problem = written.failure or self._find_quotes(written.text, shown)
        if problem:
            return INSTRUCTIONS, document, problem
        known = {judge.content.instructions for judge in [base.judge, *draft]}
        problem = "the model wrote instructions that were tried before" if written.text in known else ""
        return INSTRUCTIONS, document._replace(instructions=written.text), problem

    def _find_quotes(self, text: str, shown: list[Disagreement]) -> str:
        """More people see a judge than its replies, and no scrub changes it."""
        if any(find_written(one, {INSTRUCTIONS: text}, always=True) for one in self.campaign.datasets):
            return "the model wrote instructions with what looks like personal data"
        said = [turn for one in shown for _, turn in one.reply.turns]
        said += [turn for one in shown for turn in one.reply.pair or ()]
        # Replies have no limit of length; a quote may be wrapped or written large.
        words = _join_words(text)
        parts = {words[place : place + MAX_QUOTE] for place in range(len(words) - MAX_QUOTE + 1)}
        is_quoted = any(
            turn[place : place + MAX_QUOTE] in parts
            for turn in map(_join_words, said)
            for place in range(len(turn) - MAX_QUOTE + 1)
        )
        return "the model wrote instructions that quote a reply" if is_quoted else ""

    def _list_wrong(self, base: JudgeRun) -> IntArray:
        """Places among the training replies, each time in another order."""
        said = look_up(self.train.turn, *read_verdicts(base, self.criterion))
        places = np.flatnonzero(~np.isnan(said) & (said != self.train.label))
        return np.random.default_rng(count_tries(base.judge.name)).permutation(places)

    def _show(self, base: JudgeRun, wrong: IntArray) -> list[Disagreement]:
        """One of each answer of people before a second of any."""
        label = self.train.label[wrong]
        rank = np.zeros(len(label), np.int64)
        for code in np.unique(label):
            rank[label == code] = np.arange((label == code).sum())
        turns = self.train.turn[wrong[np.argsort(rank, kind="stable")][:MAX_SHOWN]].tolist()
        replies = read_replies(self.campaign, turns)
        verdicts = Verdict.objects.filter(run=base, turn__in=turns, repeat=0, swapped=False)
        names = [level.name for level in self.criterion.levels]
        people = dict(zip(self.train.turn.tolist(), self.train.label.tolist(), strict=True))
        return [
            Disagreement(
                replies[one.turn_id],
                names[people[one.turn_id]],
                names[one.codes[self.criterion.key]],
                one.rationale or "",
            )
            for one in verdicts
            if one.turn_id in replies
        ]

    def _accept(self, judge: Judge, run: JudgeRun) -> Judge:
        """The draft becomes the next version of the judge, with what it has judged."""
        saved = save_judge(run.judge.content._replace(name=judge.name), actor=self._actor).judge
        JudgeRun.objects.filter(pk=run.pk).update(judge=saved)
        return saved

    def _record(self, proposal: Proposal) -> None:
        audit.record(
            "improve_judge",
            actor=self._actor,
            dataset_name=self.campaign.dataset.name,
            campaign=self.campaign.name,
            judge=proposal.judge,
            proposed=proposal.what,
            accepted=proposal.accepted,
        )
