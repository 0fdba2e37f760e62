"""Named reads. A page or an operation asks here, and does not spell out filters of its own."""

from typing import Any

from django.db import models


class DatasetQuerySet(models.QuerySet[Any]):
    def visible_to(self, user: Any) -> "DatasetQuerySet":
        """The datasets a user may look at."""
        return self if user.has_perm("datasets_app.view_dataset") else self.none()


class SessionQuerySet(models.QuerySet[Any]):
    def of(self, dataset: Any) -> "SessionQuerySet":
        return self.filter(dataset=dataset).order_by("id")


class TurnQuerySet(models.QuerySet[Any]):
    def in_order(self) -> "TurnQuerySet":
        return self.order_by("session_id", "turn_index")
