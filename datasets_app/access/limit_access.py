"""Who sees a dataset: everybody whose role sees datasets, or only those who are granted it.

What somebody may do there is told by their role; a grant adds nothing to that.
"""

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction

from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset, DatasetGrant

LIMIT_ACCESS_PERMISSION = "datasets_app.limit_access"

Grantee = User | Group


def restrict_dataset(dataset: Dataset, *, actor: Any) -> bool:
    """Only those who are granted it see it from now on. Each of these tells whether anything has changed."""
    return _set_restricted(dataset, True, actor)


def unrestrict_dataset(dataset: Dataset, *, actor: Any) -> bool:
    """Everybody whose role sees datasets sees it. Grants stay, for the day it is restricted again."""
    return _set_restricted(dataset, False, actor)


def grant_access(dataset: Dataset, grantee: Grantee, *, actor: Any) -> bool:
    def add() -> bool:
        _, made = DatasetGrant.objects.get_or_create(
            dataset=dataset, **_grantee_filter(grantee), defaults={"granted_by": actor}
        )
        return made

    return _apply_change(dataset, "grant_access", add, actor, **_grantee_details(grantee))


def revoke_access(dataset: Dataset, grantee: Grantee, *, actor: Any) -> bool:
    def remove() -> bool:
        gone, _ = DatasetGrant.objects.filter(dataset=dataset, **_grantee_filter(grantee)).delete()
        return bool(gone)

    return _apply_change(dataset, "revoke_access", remove, actor, **_grantee_details(grantee))


def copy_restriction(copy: Dataset, source: Dataset, *, actor: Any) -> None:
    """For a dataset made from sessions of another: what few may see is not for all to see in a copy."""
    if not Dataset.objects.filter(pk=source.pk, restricted=True).exists():
        return
    grants = DatasetGrant.objects.filter(dataset=source)
    DatasetGrant.objects.bulk_create(
        DatasetGrant(dataset=copy, user_id=given.user_id, group_id=given.group_id, granted_by=actor)
        for given in grants
    )
    copy.restricted = True
    Dataset.objects.filter(pk=copy.pk).update(restricted=True)
    audit.record("restrict", actor=actor, dataset_name=copy.name, like=source.name, grants=len(grants))


# --- finding people ----------------------------------------------------------------------------------


def get_user(name: str) -> User:
    found = User.objects.filter(username=name).first()
    if found is None:
        raise UserError(f"There is no user {name!r}.")
    return found


def get_group(name: str) -> Group:
    found = Group.objects.filter(name=name).first()
    if found is None:
        known = ", ".join(Group.objects.order_by("name").values_list("name", flat=True)[:20])
        raise UserError(f"There is no group {name!r}. Known are: {known}.")
    return found


# --- writing -----------------------------------------------------------------------------------------


def _set_restricted(dataset: Dataset, restricted: bool, actor: Any) -> bool:
    def change() -> bool:
        others = Dataset.objects.filter(pk=dataset.pk, restricted=not restricted)
        return bool(others.update(restricted=restricted))

    changed = _apply_change(dataset, "restrict" if restricted else "unrestrict", change, actor)
    dataset.restricted = restricted
    return changed


def _apply_change(
    dataset: Dataset, action: str, change: Callable[[], bool], actor: Any, **details: str
) -> bool:
    if actor is not None and not actor.has_perm(LIMIT_ACCESS_PERMISSION):
        raise UserError("You may not limit who sees a dataset; ask a privacy officer.")
    with transaction.atomic():
        # One after the other, so that the trail tells them in the order in which they hold.
        if not Dataset.objects.select_for_update(no_key=True).filter(pk=dataset.pk).exists():
            raise UserError("The dataset is not there any more.")
        changed = change()
        if changed:
            audit.record(action, actor=actor, dataset_name=dataset.name, **details)
    return changed


def _grantee_filter(grantee: Grantee) -> dict[str, Grantee]:
    return {"group": grantee} if isinstance(grantee, Group) else {"user": grantee}


def _grantee_details(grantee: Grantee) -> dict[str, str]:
    if isinstance(grantee, Group):
        return {"group": grantee.name}
    return {"user": grantee.get_username()}
