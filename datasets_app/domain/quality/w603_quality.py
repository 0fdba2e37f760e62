from collections.abc import Iterator

from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.packages.quality_statement import METADATA_KEY, QualityStatement, find_contradictions
from datasets_app.domain.quality.base import Check


class ContradictoryQuality(Check):
    """What the metadata states of judges and rates can't be true."""

    code = "W603"
    title = "statement of quality contradicts itself"

    def metadata(self, metadata: DatasetMetadata | None, reason: str) -> Iterator[Finding]:
        stated = metadata.extra.get(METADATA_KEY) if metadata else None
        if stated is None:
            return
        try:
            problems = list(find_contradictions(QualityStatement.read(stated)))
        except ValueError:
            problems = ["it can't be read"]
        for problem in problems:
            yield Finding(self.code, f"statement of quality: {problem}", field=METADATA_KEY)
