"""Sessions and turns are stored in partitions, one for each dataset.

See docs/decisions/0024-a-partition-for-each-dataset.md.
"""

from typing import Any

from django.db import models
from django.db.models.lookups import Exact
from django.db.models.sql.where import WhereNode

from datasets_app.models.columns import Record
from datasets_app.models.dataset import Dataset


class PartitionForeignKey(models.ForeignKey):
    """Refers to a row of a partitioned table from a model that has a ``dataset`` itself.

    Joins compare the datasets, too: otherwise PostgreSQL would look for the row in the partitions of all
    datasets. Triggers take the place of the database's constraint.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **{**options, "db_constraint": False})

    def deconstruct(self) -> Any:
        """As Django's own, so that migrations don't depend on this class."""
        name, _, arguments, options = super().deconstruct()
        return name, "django.db.models.ForeignKey", arguments, options

    def validate(self, value: Any, model_instance: Any) -> None:
        """Without a look-up in all partitions: forms have looked the row up, and a trigger refuses others."""
        models.Field.validate(self, value, model_instance)

    def get_extra_restriction(self, alias: str | None, related_alias: str | None) -> Any:
        theirs = self.remote_field.model._meta.get_field("dataset").get_col(alias)
        ours = self.model._meta.get_field("dataset").get_col(related_alias)
        return WhereNode([Exact(theirs, ours)])

    def get_extra_descriptor_filter(self, instance: Any) -> Any:
        return {"dataset": instance.dataset_id}


class DatasetPartition(Record):
    """The partitions of a dataset that has sessions or had some, and the range of primary keys in them."""

    dataset = models.OneToOneField(Dataset, models.CASCADE, primary_key=True, related_name="partition")
    first_session = models.BigIntegerField(null=True)
    last_session = models.BigIntegerField(null=True)
    first_turn = models.BigIntegerField(null=True)
    last_turn = models.BigIntegerField(null=True)
