"""What the routes of campaigns and labels take and return."""

from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import Field

from annotations_app.agreement.failure_modes import MAX_NAME_LENGTH
from annotations_app.campaigns.calibration import MAX_REASON_LENGTH
from annotations_app.campaigns.sides import SIDE_PATTERN
from annotations_app.cases.make_case import MAX_MODE_CHARACTERS, MAX_RUBRIC_CHARACTERS, MAX_TEXT_CHARACTERS
from annotations_app.domain.estimates.alternative import DEFAULT_EPSILON
from annotations_app.domain.estimates.certificates import DEFAULT_THRESHOLD
from annotations_app.domain.judging.jury_document import MAX_MEMBERS, MIN_MEMBERS
from annotations_app.judges.alternative import MAX_EPSILON
from annotations_app.judges.certify import MIN_THRESHOLD
from annotations_app.judges.improve_judge import MAX_TRIES
from annotations_app.judges.parameters import DEFAULT_TRIES
from annotations_app.judges.run_judge import MAX_REPEATS
from annotations_app.models.campaign import (
    MAX_CALIBRATION_REPLIES,
    MAX_LEASE_MINUTES,
    MAX_OVERLAP,
    MAX_REPLIES,
    MAX_SHARE,
)
from annotations_app.models.querysets import STALE_CAUSES
from datasets_app.api.schemas import Input, JobOut, page_of
from datasets_app.domain.generation.families import MAX_VARIANTS
from datasets_app.domain.model_calls.endpoint import DEFAULT_CONCURRENCY, MAX_CONCURRENCY
from datasets_app.model_calls.parameters import MODEL_PREFIX
from datasets_app.model_calls.requests import MAX_MODEL_CHARACTERS, MAX_TEMPERATURE
from datasets_app.models.dataset import NAME_PATTERN

CaseKind = Literal["typos", "tone", "distraction", "rephrase", "language", "changed_fact"]
Expected = Literal["same", "change"]
Annotator = Annotated[str, Field(min_length=1, max_length=150, pattern=r"^[^,]+$")]
MAX_TURN = 1_000_000


class CampaignOut(Schema):
    """`tag` may quote raw text, and is null then. `label_schema` is "name@version", null where replies
    are judged on-brand or off-brand; `compare` is the dataset with whose replies they are compared, if you
    may see it."""

    name: str
    dataset: str
    persona: str | None
    label_schema: str | None
    compare: str | None
    status: str
    overlap: int
    order: str
    tag: str | None
    split: str
    gold_share: float
    repeat_share: float
    replies: int
    gold: int
    calibrating: bool
    created_at: datetime
    closed_at: datetime | None


CampaignPage = page_of(CampaignOut)


class CampaignIn(Input):
    """`annotators` are user names; `label_schema` is the name of a schema, or "name@version". With `compare`,
    the name of another dataset, annotators choose the better of two replies to the same turn. Both datasets
    may be releases, as "name@version"."""

    name: str = Field(pattern=NAME_PATTERN)
    dataset: str = Field(pattern=SIDE_PATTERN)
    persona: str = Field(max_length=500)
    annotators: list[str] = Field(min_length=1, max_length=1000)
    label_schema: str | None = Field(None, max_length=120)
    compare: str | None = Field(None, pattern=SIDE_PATTERN)
    guidelines: str = Field("", max_length=50_000)
    overlap: int = Field(2, ge=1, le=MAX_OVERLAP)
    gold_share: float = Field(0.0, ge=0, le=MAX_SHARE)
    repeat_share: float = Field(0.0, ge=0, le=MAX_SHARE)
    order: Literal["random", "session", "disputed"] = "random"
    tag: str = Field("", max_length=500)
    split: Literal["", "train", "validation"] = ""
    max_replies: int | None = Field(None, ge=1, le=MAX_REPLIES)
    max_overlap: int | None = Field(None, ge=2, le=MAX_OVERLAP)
    calibration_replies: int | None = Field(None, ge=1, le=MAX_CALIBRATION_REPLIES)
    calibration_alpha: float | None = Field(None, gt=0, le=1)
    lease_minutes: int = Field(15, ge=1, le=MAX_LEASE_MINUTES)
    seed: int = Field(42, gt=-(2**53), lt=2**53)


class CampaignChangesIn(Input):
    """What is given is changed. `annotators` are all who stay or join; `overlap` can only be raised;
    `label_schema` is a later version of the campaign's."""

    guidelines: str = Field("", max_length=50_000)
    annotators: list[str] = Field([], max_length=1000)
    overlap: int = Field(2, ge=1, le=MAX_OVERLAP)
    lease_minutes: int = Field(15, ge=1, le=MAX_LEASE_MINUTES)
    label_schema: str | None = Field(None, max_length=120)
    status: Literal["open", "paused", "closed"] = "open"


class RequeueIn(Input):
    causes: list[Literal["persona", "guidelines", "schema"]] = Field(list(STALE_CAUSES), min_length=1)


class RequeuedOut(Schema):
    labels: int


class RoundOut(Schema):
    """`missing` are labels still to come; `agreement` has the statistics of each criterion, `differences` the
    number of replies that were answered differently."""

    calibrating: bool
    missing: int
    agreed: bool
    agreement: list[dict[str, Any]]
    differences: int


class RoundEndIn(Input):
    reason: str = Field("", max_length=MAX_REASON_LENGTH)


class NoteOut(Schema):
    id: int
    session_id: str
    turn_index: int
    notes: str
    mode: str | None


NotePage = page_of(NoteOut)


class GroupedNotesIn(Input):
    """`notes` are ids of labels with notes."""

    notes: list[int] = Field(min_length=1, max_length=1000)
    mode: str = Field("", max_length=MAX_NAME_LENGTH)


class FailureModesOut(Schema):
    """`richness` estimates how many modes there are in all, with a 95 % interval; null without notes."""

    modes: list[dict[str, Any]]
    ungrouped: int
    richness: dict[str, float] | None


class PromotedModeIn(Input):
    """`wording` names the mode in the schema in place of its own name. It is needed if the dataset is raw or
    restricted, because everyone who sees campaigns can read schemas."""

    kind: Literal["tag", "criterion"]
    wording: str = Field("", max_length=MAX_NAME_LENGTH)


class PromotedModeOut(Schema):
    label_schema: str


class LabelExportIn(Input):
    """`labels` is "majority" unless given; under a schema "all", "majority" or "adjudicated", "all" unless
    given."""

    labels: Literal["majority", "adjudicated", "dawid-skene", "all"] | None = None
    format: Literal["jsonl", "csv", "parquet", "labelstudio", "argilla", "doccano", "prodigy"] = "jsonl"


class LabelImportOut(Schema):
    """`saved` counts labels by what became of them; `unmapped` are answers that aren't labels;
    `personal_data` are values by type in notes and other fields, if the dataset was scrubbed: scrub it
    again. `warnings` say so, what was left out, and which labels may be of other turns."""

    dataset: str
    saved: dict[str, int]
    unmapped: int
    personal_data: dict[str, int]
    warnings: list[str]


class QualityOut(Schema):
    """As the command `estimate_quality` prints it."""

    campaign: str
    replies: int
    planned: int
    judges: list[str]
    rates: list[dict[str, Any]]
    notes: list[str]


class DatasetQualityOut(Schema):
    """As releases and packages state it. `certificates` say whether they still hold; `left_out` counts older
    certificates and campaigns that aren't listed."""

    dataset: str
    certificates: list[dict[str, Any]]
    estimates: list[dict[str, Any]]
    left_out: int


class OrderOut(Schema):
    """`replies` that nobody has been asked about yet, the most useful first."""

    campaign: str
    replies: int


class ReviewIn(Input):
    """`tasks` are lines of `alignmenter review-export`, `previous` those of a file imported before."""

    tasks: str = Field(max_length=20_000_000)
    previous: str = Field("", max_length=20_000_000)


class ReviewOut(Schema):
    """`tasks` are lines for `alignmenter review-import`; `estimates` as `estimate_review` has them.
    `repeated` lines hold a task that was there before, and count once."""

    tasks: str
    judged: int
    annotations: int
    adjudications: int
    repeated: int
    estimates: list[dict[str, Any]]


class CalibrationOut(Schema):
    """As the command `calibration_ready` prints it. `parts` are the training and the validation split;
    findings that block have a `remedy`."""

    dataset: str
    persona: str
    labels: str
    ready: bool
    parts: dict[str, dict[str, int]]
    alpha: dict[str, Any]
    findings: list[dict[str, Any]]


class JudgeIn(Input):
    """`judge` is a name, or `NAME@VERSION`; `offline` needs no model. With `swap` it judges each pair of
    replies both ways round. `max_cost` is at the judge's prices."""

    judge: str = Field("offline", max_length=120)
    repeats: int = Field(1, ge=1, le=MAX_REPEATS)
    swap: bool = False
    concurrency: int = Field(DEFAULT_CONCURRENCY, ge=1, le=MAX_CONCURRENCY)
    max_tokens: int | None = Field(None, ge=1)
    max_cost: float | None = Field(None, gt=0)


class JuryIn(Input):
    """`members` are names, or `NAME@VERSION`, the cheapest first. With `certainty`, a probability, a
    member is asked only about replies of which those before it are less sure."""

    name: str = Field(max_length=100)
    members: list[str] = Field(min_length=MIN_MEMBERS, max_length=MAX_MEMBERS)
    certainty: float | None = Field(None, ge=0.5, lt=1)
    swap: bool = False
    concurrency: int = Field(DEFAULT_CONCURRENCY, ge=1, le=MAX_CONCURRENCY)
    max_tokens: int | None = Field(None, ge=1)
    max_cost: float | None = Field(None, gt=0)


class JudgeProposalsIn(Input):
    """`criterion` is the one whose agreement counts, needed if there are several."""

    judge: str = Field(max_length=120)
    criterion: str = Field("", max_length=50)
    tries: int = Field(DEFAULT_TRIES, ge=1, le=MAX_TRIES)
    max_tokens: int | None = Field(None, ge=1)


class CertificateIn(Input):
    """`judge` is a name, or `NAME@VERSION`; a yes/no `criterion` is needed if there are several. `epsilon` is
    that of the alternative annotator test."""

    judge: str = Field(max_length=120)
    criterion: str = Field("", max_length=50)
    threshold: float = Field(DEFAULT_THRESHOLD, ge=MIN_THRESHOLD, lt=1)
    epsilon: float = Field(DEFAULT_EPSILON, ge=0, le=MAX_EPSILON)


class CertificateOut(Schema):
    """`holds` is false once what it rests on has changed, which `changed` names; a `bound` is below the true
    rate with a probability of 95 %."""

    judge: str
    criterion: str
    campaign: str
    day: str
    certified: bool
    holds: bool
    threshold: float
    true_positive: dict[str, Any]
    true_negative: dict[str, Any]
    replies: int
    not_judged: int
    reasons: list[str]
    changed: list[str]
    alternative: dict[str, Any] | None


class JudgesOut(Schema):
    """`reports` has one for each run of a judge, the latest first: agreement with people by criterion."""

    campaign: str
    reports: list[dict[str, Any]]


class AgreementOut(Schema):
    """The report of the page and of the command, as JSON; `report` is null without labels."""

    dataset: str
    campaign: str | None
    labels: int
    report: dict[str, Any] | None


class VariantIn(Input):
    """`text` takes the place of the user's last message."""

    kind: CaseKind
    answer: Expected
    text: str = Field(min_length=1, max_length=MAX_TEXT_CHARACTERS)


class CaseIn(Input):
    """`turn` is the reply, `first` the first turn that is kept, `into` the dataset of cases; null `variants`
    are drafted by rules. `annotators` are user names."""

    turn: int = Field(ge=1, le=MAX_TURN)
    first: int = Field(1, ge=1, le=MAX_TURN)
    into: str = Field(pattern=NAME_PATTERN)
    rubric: str = Field("", max_length=MAX_RUBRIC_CHARACTERS)
    failure_mode: str = Field("", max_length=MAX_MODE_CHARACTERS)
    variants: list[VariantIn] | None = Field(None, max_length=MAX_VARIANTS)
    annotators: list[Annotator] = Field([], max_length=50)


class CaseOut(Schema):
    """`seen_by` are the people who saw the raw text; `job` scrubs the case and sends it."""

    case: str
    dataset: str
    sessions: int
    seen_by: list[str]
    job: JobOut


class VariantsIn(Input):
    """`kinds` are all that are missing if empty, and `case` all cases. `model` is "openai:" and its name."""

    model: str = Field(max_length=MAX_MODEL_CHARACTERS + len(MODEL_PREFIX))
    base_url: str | None = Field(None, max_length=500)
    kinds: list[CaseKind] = Field([], max_length=10)
    case: str = Field("", max_length=100)
    temperature: float | None = Field(None, ge=0, le=MAX_TEMPERATURE)
    concurrency: int = Field(DEFAULT_CONCURRENCY, ge=1, le=MAX_CONCURRENCY)
    max_tokens_total: int | None = Field(None, ge=1)


class DraftOut(Schema):
    """`session` is its number; `message` is what the user says in the case, `text` in the variant."""

    session: int
    case: str
    kind: str
    answer: str
    message: str
    text: str


class DraftsOut(Schema):
    total: int
    drafts: list[DraftOut]


class DraftDecisionIn(Input):
    answer: Expected | None


class DecidedDraftOut(Schema):
    case: str
    left: int
