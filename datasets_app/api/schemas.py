"""What the API takes and returns. Times are ISO 8601 with a time zone, sizes are bytes.

What is returned is read from rows: fields have the name of their column, or name it with ``column``.
"""

from datetime import datetime
from typing import Any, Literal

from ninja import Schema
from pydantic import ConfigDict, Field, create_model

from datasets_app.domain.traces.convert import MAX_COLUMNS_CHARACTERS
from datasets_app.models.dataset import NAME_PATTERN

Split = Literal["train", "validation", "test"]


class Input(Schema):
    """Refuses fields that don't exist, which are mostly misspelled."""

    model_config = ConfigDict(extra="forbid")


def column(name: str) -> Any:
    return Field(validation_alias=name)


def page_of(item: type[Schema], **more: Any) -> type[Schema]:
    """``DatasetOut`` → ``DatasetPage``: a part of a list, and the cursor of the next."""
    name = f"{item.__name__.removesuffix('Out')}Page"
    return create_model(name, __base__=Schema, items=(list[item], ...), next=(str | None, ...), **more)


WITHHELD: Any = {"withheld": (bool, ...)}


class DatasetOut(Schema):
    """`withheld` fields are null: they may quote raw text, which this token can't read."""

    name: str
    origin: str
    status: str
    raw: bool
    withheld: bool
    license: str
    source: str | None
    attribution: str | None
    restricted: bool
    legal_hold: bool
    sessions: int = column("session_count")
    turns: int = column("turn_count")
    created_at: datetime
    updated_at: datetime


DatasetPage = page_of(DatasetOut)


class SessionOut(Schema):
    """`id` is its number here, `session_id` the one of the file."""

    id: int
    session_id: str
    persona_id: str | None
    split: str | None
    turns: int = column("turn_count")


SessionPage = page_of(SessionOut, **WITHHELD)


class TurnOut(Schema):
    turn_index: int
    role: str
    text: str | None
    tags: list[str]
    timestamp: str | None
    metadata: dict[str, Any] | None


TurnPage = page_of(TurnOut, **WITHHELD)


class ReleaseFileOut(Schema):
    id: int
    kind: str
    name: str
    size: int
    sha256: str
    available: bool

    @staticmethod
    def resolve_available(row: Any) -> bool:
        return bool(row.file) and not getattr(row, "is_expired", False)


class FileOut(ReleaseFileOut):
    expires_at: datetime | None


class JobOut(Schema):
    """`done` and `total` count what the operation works on; `total` is null while it is unknown."""

    id: int
    operation: str
    dataset: str | None
    state: Literal["prepared", "approval", "queued", "running", "done", "failed", "canceled"]
    done: int
    total: int | None
    percent: int | None
    error: str | None
    result: dict[str, Any] | None
    withheld: bool
    cancel_requested: bool
    started_by: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    files: list[FileOut]


JobPage = page_of(JobOut)


class ImportIn(Input):
    """An upload and the options of its import. `sha256` and `size` of the file are checked at the end."""

    dataset: str = Field(pattern=NAME_PATTERN)
    file_name: str = Field("upload.jsonl", min_length=1, max_length=255)
    origin: Literal["synthetic", "production", "external"] | None = None
    format: str = Field("auto", max_length=30)
    persona: str = Field("", max_length=500)
    on_error: Literal["abort", "quarantine"] = "abort"
    renumber: bool = False
    append: bool = False
    assistant: str = Field("", max_length=200)
    columns: str = Field("", max_length=MAX_COLUMNS_CHARACTERS)
    saved_mapping: str = Field("", max_length=100)
    question: str = Field("", max_length=200)
    label_map: str = Field("", max_length=1000)


class ImportOut(Schema):
    """Send the part that begins at `offset`, until the file ends; then finish. `id` becomes the job's.
    `file_name` is null without `raw:read`."""

    id: int
    dataset: str
    file_name: str | None
    offset: int
    max_part_bytes: int


class SenderOut(Schema):
    """A sender or a role that the file names, what it is read as (`user`, `assistant`, `unknown` …), and
    how many messages are its."""

    sender: str
    read_as: str
    messages: int


class ImportPreviewOut(Schema):
    """What an import would read of an upload: of its first records if it is large. `columns` is what was
    detected or chosen, as the option of that name. `refusal` says why the import would fail."""

    format: str
    summary: str
    columns: str
    table_columns: list[str]
    senders: list[SenderOut]
    more_senders: str
    left_out: list[str]
    warnings: list[str]
    refusal: str


class FinishIn(Input):
    """`columns` replaces the option of the upload, such as `sender:Ida=assistant, sender:Rule=leave-out`;
    with `save_mapping` that, or else what was detected, is saved under this name."""

    sha256: str = Field("", pattern=r"^([0-9a-fA-F]{64})?$")
    columns: str = Field("", max_length=MAX_COLUMNS_CHARACTERS)
    save_mapping: str = Field("", max_length=100)


class ExportIn(Input):
    """A file, a stored version, or a package of either."""

    format: Literal["turns", "openai", "sharegpt", "sessions", "padded", "csv", "parquet"] | None = None
    version: str | None = Field(None, max_length=40)
    package: bool = False
    split: Split | None = None
    persona: str | None = Field(None, max_length=500)
    tag: str | None = Field(None, max_length=500)
    gzip: bool = False


class CheckReportOut(Schema):
    """`totals` counts findings by code; `outdated` says why the report may no longer hold."""

    id: int
    created_at: datetime
    turns: int = column("turn_count")
    errors: int = column("error_count")
    warnings: int = column("warning_count")
    totals: dict[str, int]
    names_detected: bool = column("names_looked_for")
    outdated: str


class FindingOut(Schema):
    code: str
    message: str | None
    session: int | None = column("session_id")
    turn_index: int | None
    field: str | None


FindingPage = page_of(FindingOut, **WITHHELD)


class ScrubIn(Input):
    """Without `classes`, all are scrubbed, but `ORDER_NUMBER` of production data alone; session ids of
    production data are hashed unless `hash_session_ids` is false. When a word may or may not be a name,
    `prefer` decides: "recall" replaces it, "precision", the default for synthetic data, keeps it. A preview
    (`dry_run`) changes nothing. `patterns` are your own, each as `LABEL=REGEX` or
    `LABEL: example, example, example`."""

    dry_run: bool = False
    sample: int | None = Field(None, ge=1, le=100_000)
    classes: list[str] | None = Field(None, max_length=200)
    patterns: list[str] = Field([], max_length=100)
    placeholders: Literal["plain", "numbered"] = "plain"
    prefer: Literal["recall", "precision"] | None = None
    hash_session_ids: bool | None = None
    drop_timestamps: bool = False
    check: bool = True


class ScrubOut(Schema):
    """`totals` counts findings by class. `verified_at` is set once no match remains."""

    id: int
    job: int | None = column("job_run_id")
    dry_run: bool
    sample: int | None
    sessions: int = column("session_count")
    turns: int = column("turn_count")
    changed_turns: int
    totals: dict[str, int]
    policy: dict[str, Any]
    verified_at: datetime | None
    created_at: datetime
    finished_at: datetime | None


ScrubPage = page_of(ScrubOut)


class SplitIn(Input):
    """Without `ratios` sessions without a split are placed like the others; the first split is 60,20,20."""

    ratios: str = Field("", max_length=50, description="Percent, such as 80,10,10.")
    seed: int = Field(42, gt=-(2**53), lt=2**53)
    stratify: Literal["scenario", "persona", "none"] = "scenario"
    similarity: float = Field(0.65, ge=0.5, le=1)


class SplitsOut(Schema):
    """Sessions by split; `none` are those added since."""

    sessions: dict[str, int]
    settings: dict[str, Any] | None


class ReleaseIn(Input):
    bump: Literal["major", "minor", "patch"] | None = None
    notes: str = Field("", max_length=10_000)


class ReleaseOut(Schema):
    """`content_digest` is that of Alignmenter's manifest. `notes` and `changelog` may be withheld."""

    version: str
    sessions: int = column("session_count")
    turns: int = column("turn_count")
    splits: dict[str, int]
    sha256: str
    content_digest: str
    notes: str | None
    changelog: str | None
    raw: bool
    withheld: bool
    released_by: str = column("created_by_name")
    created_at: datetime
    destroyed_at: datetime | None
    verified_at: datetime | None
    files: list[ReleaseFileOut]


ReleasePage = page_of(ReleaseOut)


class CompareIn(Input):
    before: str = Field(max_length=40)
    after: str | None = Field(None, max_length=40)


class PersonaIn(Input):
    yaml: str = Field(min_length=1, max_length=200_000)


class PersonaOut(Schema):
    persona_id: str
    display_name: str
    description: str
    sha256: str = column("digest")
    yaml: str
    updated_at: datetime


PersonaPage = page_of(PersonaOut)


class SavedPersonaOut(Schema):
    """`change` is created, updated or unchanged."""

    persona: PersonaOut
    change: str
    findings: list[dict[str, str]]


class AuditEventOut(Schema):
    id: int
    at: datetime
    actor: str
    action: str
    dataset: str | None
    details: dict[str, Any]

    @staticmethod
    def resolve_dataset(event: Any) -> str | None:
        return event.dataset_name or None


class AuditPage(Schema):
    items: list[AuditEventOut]
    next: str | None
