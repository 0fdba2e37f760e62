"""Named reads. A page or an operation asks here, and does not spell out filters of its own."""

from typing import Any

from django.db import models
from django.db.models.functions import Left, Length

from datasets_app.models.dataset import Dataset


class TurnQuerySet(models.QuerySet[Any]):
    def in_order(self) -> "TurnQuerySet":
        return self.order_by("session_id", "turn_index")

    def with_text_start(self, characters: int) -> "TurnQuerySet":
        """With the ``start`` of the text and its length in ``characters``, without the rest."""
        return self.annotate(start=Left("text", characters), characters=Length("text")).defer("text")


class SourceQuerySet(models.QuerySet[Any]):
    def visible_to(self, user: Any) -> "SourceQuerySet":
        """All but those of datasets that are hidden from a user."""
        return self.exclude(dataset_name__in=Dataset.objects.hidden_from(user).order_by().values("name"))


class ScrubMarkQuerySet(models.QuerySet[Any]):
    def applied_to(self, dataset: Any) -> "ScrubMarkQuerySet":
        """The corrections of a dataset, and the terms that stay in all datasets."""
        return self.filter(models.Q(dataset=dataset) | models.Q(dataset=None))


class OutgoingEventQuerySet(models.QuerySet[Any]):
    def visible_to(self, user: Any) -> "OutgoingEventQuerySet":
        """Those of datasets that a user can see, and of jobs on none; callers check permissions for kinds.
        An event refers to its dataset by key or, before it exists and after it is deleted, by name."""
        return self.filter(_sees_dataset_of(user, ""))


class NotificationQuerySet(models.QuerySet[Any]):
    def visible_to(self, user: Any) -> "NotificationQuerySet":
        """Theirs, of what they can still see. Annotators see no datasets, but campaigns of theirs."""
        of_campaign = models.Q(event__kind="campaign.assigned")
        return self.filter(of_campaign | _sees_dataset_of(user, "event__"), user=user.pk)


def _sees_dataset_of(user: Any, path: str) -> models.Q:
    datasets = Dataset.objects.visible_to(user).order_by()
    hidden = Dataset.objects.hidden_from(user).order_by()
    of_none = models.Q(**{f"{path}dataset": None}) & ~models.Q(
        **{f"{path}dataset_name__in": hidden.values("name")}
    )
    return models.Q(**{f"{path}dataset__in": datasets.values("pk")}) | of_none


class WebhookEndpointQuerySet(models.QuerySet[Any]):
    def visible_to(self, user: Any) -> "WebhookEndpointQuerySet":
        """A user's own; all of them for who can limit access."""
        if user.has_perm("datasets_app.limit_access"):
            return self
        return self.filter(owner=user.pk)
