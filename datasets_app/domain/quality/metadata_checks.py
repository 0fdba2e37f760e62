"""What the metadata of a file or dataset must state. ``reason`` explains that there is none."""

from collections.abc import Iterator

from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.packages.quality_statement import METADATA_KEY, find_contradictions, read_statement
from datasets_app.domain.quality.base import Check


class MissingLicense(Check):
    """Without a license nobody may use the dataset."""

    code = "W601"
    title = "license missing"

    def metadata(self, metadata: DatasetMetadata | None, reason: str) -> Iterator[Finding]:
        if metadata is None or not metadata.license:
            message = "no license is stated; give its SPDX id, for example CC-BY-4.0"
            yield Finding(self.code, message + reason, field="license")


class MissingProvenance(Check):
    """Where the conversations come from: a source, or what generated them."""

    code = "W602"
    title = "provenance missing"

    def metadata(self, metadata: DatasetMetadata | None, reason: str) -> Iterator[Finding]:
        if metadata is None or not (metadata.source or metadata.generator):
            message = "neither source nor generator is stated; say where the conversations come from"
            yield Finding(self.code, message + reason, field="source")


class ContradictoryQuality(Check):
    """What the metadata states of judges and rates can't be true."""

    code = "W603"
    title = "statement of quality contradicts itself"

    def metadata(self, metadata: DatasetMetadata | None, reason: str) -> Iterator[Finding]:
        stated = metadata.extra.get(METADATA_KEY) if metadata else None
        if stated is None:
            return
        try:
            problems = list(find_contradictions(read_statement(stated)))
        except ValueError:
            problems = ["it can't be read"]
        for problem in problems:
            yield Finding(self.code, f"statement of quality: {problem}", field=METADATA_KEY)
