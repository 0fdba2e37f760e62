"""Has a judge answer the criteria of a campaign for each of its replies."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from annotations_app.domain.judging.judge_document import JudgeDocument
from annotations_app.domain.judging.judge_prompt import build_system_prompt, hash_prompt, select_questions
from annotations_app.domain.judging.offline_judge import judge_offline
from annotations_app.judges.disagreements import list_wrong
from annotations_app.judges.keep_run import JudgeOutcome, Kept, keep_verdicts, open_run
from annotations_app.judges.model_judge import JudgedTurn, ModelJudge
from annotations_app.judges.parameters import JudgeOptions
from annotations_app.judges.replies import ReplyToJudge, choose_examples, count_replies, read_missing
from annotations_app.models import Campaign, Judge, JudgeRun, Verdict
from datasets_app.catalog import text_gates
from datasets_app.catalog.personas import parse_persona_text
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.labels.criterion import Criterion, Kind
from datasets_app.domain.labels.schema import Schema
from datasets_app.domain.model_calls.budget import Prices, TokenBudget, TokensUsed
from datasets_app.domain.model_calls.endpoint import Endpoint
from datasets_app.domain.personas.persona import PersonaDocument
from datasets_app.model_calls.endpoints import require_endpoint
from datasets_app.model_calls.parameters import ModelParameters
from datasets_app.model_calls.requests import check_request, make_model

MAX_REPEATS = 10


class _Work(NamedTuple):
    """What a run is made of. ``model`` is None for the judge that works offline."""

    campaign: Campaign
    persona: PersonaDocument
    schema: Schema
    model: ModelJudge | None
    prices: Prices | None
    options: JudgeOptions
    only: list[int] | None


def run_judge(
    campaign: Campaign,
    judge: Judge,
    options: JudgeOptions = JudgeOptions(),  # noqa: B008
    *,
    only: list[int] | None = None,
    override: str = "",
    actor: Any = None,
    endpoint_actor: Any = None,
    report_progress: ProgressCallback = ignore_progress,
) -> JudgeOutcome:
    """Judge what isn't judged yet under the prompt as it is now, and again what failed before; of ``only``
    these turns.

    Commits for itself. ``endpoint_actor`` decides which endpoints may be called: None is a command. Raises
    UserError.
    """
    document = judge.content
    assert document.jury is None  # see run_rater()  # nosec B101
    schema, endpoint = check_run(campaign, document, options, endpoint_actor)
    for dataset in campaign.datasets:
        text_gates.check_judge(dataset, endpoint and endpoint.base_url, actor=actor, override=override)
    persona, persona_digest = parse_persona_text(campaign.persona.yaml, campaign.persona.persona_id)
    wrong = list_wrong(campaign, document.examples_from, schema.criteria)
    examples = choose_examples(campaign, 0 if endpoint is None else document.examples, wrong)
    system = build_system_prompt(
        document.instructions, schema, persona, campaign.guidelines, [one for _, one in examples]
    )
    run = open_run(campaign, judge, hash_prompt(system), persona_digest, [turn for turn, _ in examples])
    run.repeats, run.swap = max(run.repeats, options.repeats), run.swap or options.swap
    run.save(update_fields=["repeats", "swap"])
    model = endpoint and ModelJudge(make_model(make_request(document, options), endpoint), system, schema)
    work = _Work(campaign, persona, schema, model, document.prices, options, only)
    return _perform(run, work, actor=actor, report_progress=report_progress)


def check_run(
    campaign: Campaign, document: JudgeDocument, options: JudgeOptions, endpoint_actor: Any
) -> tuple[Schema, Endpoint | None]:
    """What a judge would answer and where it is called, None offline. Raises UserError if it can't run, but
    for what :func:`text_gates.check_judge` says."""
    _check_options(document, options)
    schema = _select_schema(campaign, document)
    if options.swap and not schema.compares_replies:
        raise UserError(f"{campaign.name} asks the judge of one reply at a time, which has no sides to swap.")
    endpoint = None if document.is_offline else require_endpoint(document.endpoint or None, endpoint_actor)
    return schema, endpoint


def _check_options(document: JudgeDocument, options: JudgeOptions) -> None:
    if not 1 <= options.repeats <= MAX_REPEATS:
        raise UserError(f"A reply is judged 1 to {MAX_REPEATS} times.")
    if options.max_cost is not None and not options.max_cost > 0:
        raise UserError("The budget must be more than 0.")
    if options.max_cost is not None and not (document.is_offline or document.prices):
        raise UserError("A budget in money needs the judge's prices; add them to its YAML.")
    if not document.is_offline:
        check_request(make_request(document, options))


def choose_criterion(offered: Sequence[Criterion], key: str, request: str) -> Criterion:
    """The one with this key, or the only one. Raises UserError: the ``request`` with what is ``offered``."""
    found = [one for one in offered if key in ("", one.key)]
    if len(found) != 1:
        names = ", ".join(one.key for one in offered) or "none of this campaign"
        raise UserError(f"{request}: {names}.")
    return found[0]


def make_request(document: JudgeDocument, options: JudgeOptions) -> ModelParameters:
    return ModelParameters(
        document.model, document.endpoint, document.temperature, options.concurrency, options.max_tokens
    )


def _select_schema(campaign: Campaign, document: JudgeDocument) -> Schema:
    """What the judge answers. Raises UserError if it can't."""
    schema = campaign.asked_schema
    known = {criterion.key for criterion in schema.criteria}
    if strange := [key for key in document.criteria if key not in known]:
        raise UserError(f"{schema.name} has no criterion {strange[0][:50]!r}, which {document.name} names.")
    chosen = select_questions(schema, document.criteria)
    if not chosen.questions:
        raise UserError(f"{schema.name} asks for texts alone, which can't be compared.")
    kinds = [criterion.kind for criterion in chosen.criteria]
    if document.is_offline and kinds != [Kind.YES_NO]:
        raise UserError(
            "The offline judge answers one yes/no criterion, whether a reply keeps to the persona. Import a "
            "judge with model: offline that names it under criteria."
        )
    return chosen


def _perform(run: JudgeRun, work: _Work, *, actor: Any, report_progress: ProgressCallback) -> JudgeOutcome:
    replies, excluded = count_replies(work.campaign, run.examples, work.only)
    total = replies * (work.options.repeats + run.swap)
    of_these = {} if work.only is None else {"turn__in": work.only}
    before = Verdict.objects.filter(run=run, failure="", repeat__lt=work.options.repeats, **of_these).count()
    budget, endpoint = None, "offline"
    if work.model is not None:
        budget = _make_budget(work.options, TokensUsed(**run.used), work.prices or Prices())
        endpoint = work.model.model.endpoint.host
    kept = Kept(run, work.schema, total, before, excluded, endpoint, budget)
    return keep_verdicts(
        kept,
        lambda tick: _judge_all(run, work, budget, tick),
        actor=actor,
        report_progress=report_progress,
    )


def _make_budget(options: JudgeOptions, used: TokensUsed, prices: Prices) -> TokenBudget:
    more, more_cost = options.max_new_tokens, options.max_new_cost
    limit = options.max_tokens if more is None else used.total + more
    spent = prices.cost(used.prompt, used.completion)
    max_cost = options.max_cost if more_cost is None else spent + more_cost
    return TokenBudget(limit, used, max_cost=max_cost, prices=prices)


def _judge_all(
    run: JudgeRun, work: _Work, budget: TokenBudget | None, tick: Callable[[], None]
) -> Iterator[JudgedTurn]:
    """Counts what is sent before it is."""

    def replies() -> Iterator[ReplyToJudge]:
        for item in read_missing(run, work.options.repeats, work.only):
            run.sent += 1
            yield item

    if work.model is not None and budget is not None:
        yield from work.model.judge_all(replies(), budget, tick)
        return
    [criterion] = work.schema.criteria
    for item in read_missing(run, work.options.repeats, work.only):
        judgment = judge_offline(criterion.key, item.reply.text, work.persona)
        yield JudgedTurn(item.turn, item.repeat, judgment.codes, judgment.rationale)
        tick()
