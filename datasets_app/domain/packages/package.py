"""The facts about a dataset that its card, citation and reports are rendered from."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from datasets_app.domain.conversations.counts import ConversationCounts
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.packages.quality_statement import QualityStatement
from datasets_app.domain.wording import format_count

JSONL, PARQUET = "jsonl", "parquet"
DEFAULT_LICENSE = "Apache-2.0"


class DataFile(NamedTuple):
    """A file of turns in the package: ``path`` within it, ``split`` None if the data is in one piece."""

    path: str
    format: str
    split: str | None
    sessions: int
    turns: int
    size: int
    sha256: str


class LabelFile(NamedTuple):
    """A file of labels for one persona: ``path`` within the package; ``schema`` ("name@version") is what they
    answer, if it is not whether replies are on-brand."""

    path: str
    persona: str
    labels: int
    size: int
    sha256: str
    schema: str = ""

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in self._asdict().items() if name != "schema" or value}


class LabelSummary(NamedTuple):
    """Label counts by persona (off and on brand) and inter-annotator agreement.

    ``agreement`` are (name, value, low, high, note); values from -1 to 1, or None with a note why.
    """

    labels: int
    annotators: int
    by_persona: Sequence[tuple[str, int, int]]
    agreement: Sequence[tuple[str, float | None, float | None, float | None, str]]

    @property
    def on_brand(self) -> int:
        return sum(on for _, _, on in self.by_persona)


class CheckSummary(NamedTuple):
    """The results of checks; ``totals`` are findings by code."""

    errors: int
    warnings: int
    turns: int
    totals: dict[str, int]


class ScrubSummary(NamedTuple):
    """A verified scrub: its day, a description, and the number of replaced values by class."""

    day: str
    done: list[str]
    totals: dict[str, int]
    turns: int


class SharingAnswer(NamedTuple):
    title: str
    answer: str
    reason: str


@dataclass(frozen=True)
class Package:
    """``day`` is that of the release or of the dataset; packages never read the clock. ``text_state`` is what
    was known about the text when it left."""

    metadata: DatasetMetadata
    origin: str
    version: str | None
    day: str
    files: Sequence[DataFile]
    counts: ConversationCounts
    changelog: str = ""
    language: str | None = None
    labels: LabelSummary | None = None
    label_files: Sequence[LabelFile] = ()
    quality: QualityStatement = QualityStatement()
    text_state: str = ""
    checks: CheckSummary | None = None
    checks_outdated: bool = False
    scrubs: Sequence[ScrubSummary] = ()
    sharing: Sequence[SharingAnswer] = ()
    release_files: Sequence[str] = ()
    notices: Sequence[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.metadata.name or "dataset"

    @property
    def license(self) -> str:
        return self.metadata.license or DEFAULT_LICENSE

    @property
    def title(self) -> str:
        """The name as words: ``support_prod-2026`` → ``Support prod 2026``."""
        words = " ".join(self.name.replace("_", " ").replace("-", " ").split())
        return words[:1].upper() + words[1:]

    @property
    def author(self) -> str:
        return " ".join((self.metadata.attribution or "").split()) or f"The contributors of {self.name}"

    @property
    def splits(self) -> list[str]:
        return [file.split for file in self.files if file.split and file.format == JSONL]

    def get_files(self, file_format: str) -> list[DataFile]:
        return [file for file in self.files if file.format == file_format]

    def summary(self) -> str:
        """A one-sentence summary."""
        what = {"synthetic": "Synthetic", "production": "Scrubbed production"}.get(self.origin, "External")
        if self.origin == "production" and not self.scrubs:
            what = "Production"
        return (
            f"{what} conversations between users and an assistant, for evaluating and training "
            f"conversational models: {format_count(self.counts.sessions, 'session')}, "
            f"{format_count(self.counts.turns, 'turn')}."
        )


def build_quality_json(package: Package) -> dict[str, Any]:
    """Checks, scrubs and the sharing checklist as JSON values."""
    return {
        "dataset": package.name,
        "version": package.version,
        "date": package.day,
        "sessions": package.counts.sessions,
        "turns": package.counts.turns,
        "splits": {
            file.split: {"sessions": file.sessions, "turns": file.turns}
            for file in package.get_files(JSONL)
            if file.split
        },
        "files": [file._asdict() for file in package.files],
        "text": package.text_state or None,
        "checks": package.checks._asdict() if package.checks else None,
        "scrubs": [scrub._asdict() for scrub in package.scrubs],
        "sharing": [item._asdict() for item in package.sharing],
        "labels": package.labels._asdict() if package.labels else None,
        "label_files": [file.as_json() for file in package.label_files],
        "quality": package.quality.as_json() if package.quality else None,
    }
