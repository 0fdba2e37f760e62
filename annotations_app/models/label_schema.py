from functools import cached_property

from django.db import models

from annotations_app.models.named_version import NamedVersion
from datasets_app.domain.labels.schema import Schema
from datasets_app.domain.labels.schema_document import read_document


class LabelSchema(NamedVersion):
    """What campaigns ask; ``document`` is what ``schema_document.py`` reads. Campaigns without a schema ask
    the built-in criterion."""

    class Meta(NamedVersion.Meta):
        constraints = [models.UniqueConstraint(fields=["name", "version"], name="label_schema_version_once")]

    @cached_property
    def content(self) -> Schema:
        return read_document(self.document)

    @cached_property
    def criterion_digests(self) -> dict[str, str]:
        """By the keys of the criteria; kept, because a digest takes longer than all else of a decision."""
        return {criterion.key: criterion.digest for criterion in self.content.criteria}
