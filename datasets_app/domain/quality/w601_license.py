from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.quality.base import Check


class MissingLicense(Check):
    """Without a licence nobody may use the dataset."""

    code = "W601"
    title = "licence missing"

    def metadata(self, metadata: DatasetMetadata | None, reason: str) -> tuple[Finding, ...]:
        """``why`` says, if there is no metadata, what became of it."""
        if metadata is not None and metadata.license:
            return ()
        message = "no licence is stated; give its SPDX id, for example CC-BY-4.0" + reason
        return (Finding(self.code, message, field="license"),)
