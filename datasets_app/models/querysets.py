"""Named reads. A page or an operation asks here, and does not spell out filters of its own."""

from typing import Any

from django.db import models
from django.db.models.functions import Left, Length, Now


class DatasetQuerySet(models.QuerySet[Any]):
    def visible_to(self, user: Any) -> "DatasetQuerySet":
        """The datasets a user may look at: by the role, and, if a dataset is restricted, by a grant."""
        if not user.has_perm("datasets_app.view_dataset"):
            return self.none()
        datasets = get_token_datasets(user)
        visible = self if datasets is None else self.filter(pk__in=datasets)
        if user.has_perm("datasets_app.limit_access"):
            return visible
        return visible.filter(models.Q(restricted=False) | models.Exists(_grants_for(user)))

    def hidden_from(self, user: Any) -> "DatasetQuerySet":
        """Restricted ones that a user is not granted: not even their names are told, whatever the role. For a
        token that is limited to datasets, all others as well."""
        datasets = get_token_datasets(user)
        outside = models.Q(pk__in=[]) if datasets is None else ~models.Q(pk__in=datasets)
        if user.has_perm("datasets_app.limit_access"):
            return self.filter(outside)
        return self.filter(outside | (~models.Exists(_grants_for(user)) & models.Q(restricted=True)))

    def with_last_check(self) -> "DatasetQuerySet":
        """Each with ``last_check`` (a time or None), ``last_errors``, ``last_warnings`` and ``is_outdated``:
        whether the dataset has changed since."""
        from datasets_app.models import AuditEvent, CheckReport, ScrubRun
        from datasets_app.models.check_report import OUTDATING_ACTIONS

        scrubs = ScrubRun.objects.filter(dataset=models.OuterRef("pk"), dry_run=False)
        changes = AuditEvent.objects.filter(
            dataset_name=models.OuterRef("name"), action__in=OUTDATING_ACTIONS
        ).order_by()
        last = CheckReport.objects.filter(dataset=models.OuterRef("pk")).order_by("-id")
        return self.annotate(
            last_check=models.Subquery(last.values("created_at")[:1]),
            last_errors=models.Subquery(last.values("error_count")[:1]),
            last_warnings=models.Subquery(last.values("warning_count")[:1]),
            checked_turns=models.Subquery(last.values("turn_count")[:1]),
        ).annotate(
            is_scrubbed_since=models.Exists(scrubs.filter(created_at__gt=models.OuterRef("last_check"))),
            is_outdated=models.Q(is_scrubbed_since=True)
            | models.Exists(changes.filter(at__gt=models.OuterRef("last_check")))
            | ~models.Q(turn_count=models.F("checked_turns")),
        )


def get_token_datasets(user: Any) -> frozenset[int] | None:
    """Primary keys of the datasets that the API token of this request is limited to; None without a limit
    (``access/tokens.py``)."""
    return getattr(user, "token_datasets", None)


def _grants_for(user: Any) -> Any:
    """For each dataset, what is granted there to a user or to a group that the user is in now."""
    from datasets_app.models import DatasetGrant

    groups = user.groups.order_by().values("pk")
    granted = models.Q(user=user.pk) | models.Q(group__in=groups)
    return DatasetGrant.objects.filter(granted, dataset=models.OuterRef("pk"))


class JobRunQuerySet(models.QuerySet[Any]):
    def active(self) -> "JobRunQuerySet":
        """Jobs that run or will. A command that sent no heartbeat for long is gone: no worker resumes it."""
        from datasets_app.models.job_run import HEARTBEAT_TIMEOUT

        silent = models.Q(foreground=True, heartbeat_at__lt=Now() - HEARTBEAT_TIMEOUT)
        return self.filter(state__in=["queued", "running"]).exclude(silent)

    def visible_to(self, user: Any) -> "JobRunQuerySet":
        """All but the jobs of datasets that are hidden from a user. A job refers to its dataset by key or,
        before it exists and after it is deleted, by name. Jobs of others on all datasets at once are
        hidden as long as one dataset is. Callers check the permissions of jobs."""
        from datasets_app.models import Dataset

        hidden = Dataset.objects.hidden_from(user).order_by()
        of_all = models.Q(dataset=None, dataset_name="") & ~models.Q(actor=user.pk)
        rows = self
        if (datasets := get_token_datasets(user)) is not None:
            names = Dataset.objects.filter(pk__in=datasets).values("name")
            rows = rows.filter(models.Q(dataset__in=datasets) | models.Q(dataset_name__in=names))
        return (
            rows.exclude(dataset__in=hidden.values("pk"))
            .exclude(dataset_name__in=hidden.values("name"))
            .exclude(of_all & models.Exists(hidden))
        )


class SessionQuerySet(models.QuerySet[Any]):
    def in_dataset(self, dataset: Any) -> "SessionQuerySet":
        return self.filter(dataset=dataset).order_by("id")

    def with_id_prefix(self, dataset: Any, prefix: str) -> "SessionQuerySet":
        """In the order of their ids: with the prefix this is one range of the unique index."""
        return self.filter(dataset=dataset, session_id__startswith=prefix).order_by("session_id")


class TurnQuerySet(models.QuerySet[Any]):
    def in_order(self) -> "TurnQuerySet":
        return self.order_by("session_id", "turn_index")

    def with_text_start(self, characters: int) -> "TurnQuerySet":
        """With the ``start`` of the text and its length in ``characters``, without the rest."""
        return self.annotate(start=Left("text", characters), characters=Length("text")).defer("text")


class SourceQuerySet(models.QuerySet[Any]):
    def visible_to(self, user: Any) -> "SourceQuerySet":
        """All but those of datasets that are hidden from a user."""
        from datasets_app.models import Dataset

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
    from datasets_app.models import Dataset

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
