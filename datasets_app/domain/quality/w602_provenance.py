from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.metadata.metadata import DatasetMetadata
from datasets_app.domain.quality.base import Check


class MissingProvenance(Check):
    """Where the conversations come from: a source, or what generated them."""

    code = "W602"
    title = "provenance missing"

    def metadata(self, metadata: DatasetMetadata | None, reason: str) -> tuple[Finding, ...]:
        """``reason`` explains a missing ``metadata``."""
        if metadata is not None and (metadata.source or metadata.generator):
            return ()
        message = "neither source nor generator is stated; say where the conversations come from" + reason
        return (Finding(self.code, message, field="source"),)
