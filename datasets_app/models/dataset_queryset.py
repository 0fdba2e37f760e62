"""Which datasets a user can see."""

from typing import Any

from django.db import models


class DatasetQuerySet(models.QuerySet[Any]):
    def visible_to(self, user: Any) -> "DatasetQuerySet":
        """The datasets a user may look at: by the role, and, if a dataset is restricted, by a grant."""
        if not user.has_perm("datasets_app.view_dataset"):
            return self.none()
        datasets = get_token_datasets(user)
        visible = self if datasets is None else self.filter(pk__in=datasets)
        if user.has_perm("datasets_app.limit_access"):
            return visible
        return visible.filter(models.Q(restricted=False) | self._granted_to(user))

    def hidden_from(self, user: Any) -> "DatasetQuerySet":
        """Restricted ones that a user is not granted: not even their names are told, whatever the role. For a
        token that is limited to datasets, all others as well."""
        datasets = get_token_datasets(user)
        outside = models.Q(pk__in=[]) if datasets is None else ~models.Q(pk__in=datasets)
        if user.has_perm("datasets_app.limit_access"):
            return self.filter(outside)
        return self.filter(outside | (~self._granted_to(user) & models.Q(restricted=True)))

    def _granted_to(self, user: Any) -> models.Exists:
        """Whether something is granted there to a user, or to a group that the user is in now."""
        groups = user.groups.order_by().values("pk")
        granted = models.Q(grants__user=user.pk) | models.Q(grants__group__in=groups)
        return models.Exists(self.model._base_manager.filter(granted, pk=models.OuterRef("pk")))


def get_token_datasets(user: Any) -> frozenset[int] | None:
    """Primary keys of the datasets that the API token of this request is limited to; None without a limit
    (``access/tokens.py``)."""
    return getattr(user, "token_datasets", None)
