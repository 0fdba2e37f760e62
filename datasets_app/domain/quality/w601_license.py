from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.quality.base import Check


class MissingLicense(Check):
    """Without a license nobody may use the dataset."""

    code = "W601"
    title = "license missing"

    def metadata(self, metadata: DatasetMetadata | None, reason: str) -> tuple[Finding, ...]:
        """``reason`` explains a missing ``metadata``."""
        if metadata is not None and metadata.license:
            return ()
        message = "no license is stated; give its SPDX id, for example CC-BY-4.0" + reason
        return (Finding(self.code, message, field="license"),)
