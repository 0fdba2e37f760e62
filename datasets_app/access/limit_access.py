"""Restrict a dataset to users and groups with a grant, instead of everyone whose role sees datasets.

A grant only makes the dataset visible; what users can do with it depends on their role.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from django.contrib.auth.models import Group, User
from django.db import transaction

from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset, DatasetGrant

LIMIT_ACCESS_PERMISSION = "datasets_app.limit_access"

Grantee = User | Group


def restrict_dataset(dataset: Dataset, *, actor: Any) -> bool:
    """Show the dataset only to those with a grant. Like its siblings, returns whether anything changed."""
    return _set_restricted(dataset, True, actor)


def unrestrict_dataset(dataset: Dataset, *, actor: Any) -> bool:
    """Show the dataset to everyone whose role sees datasets. Keeps the grants for a later restriction."""
    return _set_restricted(dataset, False, actor)


def grant_access(dataset: Dataset, grantee: Grantee, *, actor: Any) -> bool:
    return _apply_change(dataset, partial(_add_grant, dataset, grantee, actor), actor)


def revoke_access(dataset: Dataset, grantee: Grantee, *, actor: Any) -> bool:
    return _apply_change(dataset, partial(_remove_grant, dataset, grantee, actor), actor)


def copy_restriction(copy: Dataset, source: Dataset, *, actor: Any) -> None:
    """Restrict a new copy of sessions like the dataset they come from, whatever its import granted."""
    if not Dataset.objects.filter(pk=source.pk, restricted=True).exists():
        return
    wanted, present = _list_grantees(source), _list_grantees(copy)
    for grantee in present - wanted:
        _remove_grant(copy, grantee, actor)
    for grantee in wanted:
        _add_grant(copy, grantee, actor)
    copy.restricted = True
    Dataset.objects.filter(pk=copy.pk).update(restricted=True)
    audit.record("restrict", actor=actor, dataset_name=copy.name, like=source.name, grants=len(wanted))


def check_restriction(copy: Dataset, source: Dataset) -> None:
    """For copies into a dataset that exists: raises UserError if it has a grant that ``source`` hasn't."""
    if not Dataset.objects.filter(pk=source.pk, restricted=True).exists():
        return
    of_copy, of_source = (
        set(DatasetGrant.objects.filter(dataset=one).values_list("user", "group")) for one in (copy, source)
    )
    if not Dataset.objects.filter(pk=copy.pk, restricted=True).exists() or of_copy - of_source:
        raise UserError(
            f"{copy.name} is seen by people who don't see {source.name}. Restrict it to the same people and "
            "groups, or choose a new dataset."
        )


def restrict_first_import(
    dataset: Dataset, turns: int, grantees: Iterable[Grantee] = (), *, actor: Any
) -> dict[str, bool]:
    """Restrict a dataset at the first import of production data: to ``grantees`` and to ``actor``, who needs
    no permission to limit access. Without either, only people who can limit access see it.

    A dataset that has turns keeps the access that people gave it. Returns what the result of the import says.
    """
    is_first = turns and not dataset.turn_count and not dataset.restricted
    if dataset.origin != Dataset.Origin.PRODUCTION or not is_first:
        return {}
    people = [*([actor] if actor is not None else []), *grantees]
    for grantee in people:
        _add_grant(dataset, grantee, actor)
    dataset.restricted = True
    Dataset.objects.filter(pk=dataset.pk).update(restricted=True)
    audit.record(
        "restrict", actor=actor, dataset_name=dataset.name, reason="production data", grants=len(people)
    )
    return {"restricted": True}


# --- users and groups ----------------------------------------------------------------------------------


def get_user(name: str) -> User:
    user = User.objects.filter(username=name).first()
    if user is None:
        raise UserError(f"There is no user {name!r}.")
    return user


def get_group(name: str) -> Group:
    group = Group.objects.filter(name=name).first()
    if group is None:
        names = ", ".join(Group.objects.order_by("name").values_list("name", flat=True)[:20])
        raise UserError(f"There is no group {name!r}. Use one of these: {names}.")
    return group


# --- writing -----------------------------------------------------------------------------------------


def _set_restricted(dataset: Dataset, restricted: bool, actor: Any) -> bool:
    def change() -> bool:
        others = Dataset.objects.filter(pk=dataset.pk, restricted=not restricted)
        changed = bool(others.update(restricted=restricted))
        if changed:
            action = "restrict" if restricted else "unrestrict"
            audit.record(action, actor=actor, dataset_name=dataset.name)
        return changed

    changed = _apply_change(dataset, change, actor)
    dataset.restricted = restricted
    return changed


def _add_grant(dataset: Dataset, grantee: Grantee, actor: Any) -> bool:
    _, created = DatasetGrant.objects.get_or_create(
        dataset=dataset, **_grantee_filter(grantee), defaults={"granted_by": actor}
    )
    if created:
        details = _grantee_details(grantee)
        audit.record("grant_access", actor=actor, dataset_name=dataset.name, **details)
    return created


def _remove_grant(dataset: Dataset, grantee: Grantee, actor: Any) -> bool:
    deleted, _ = DatasetGrant.objects.filter(dataset=dataset, **_grantee_filter(grantee)).delete()
    if deleted:
        details = _grantee_details(grantee)
        audit.record("revoke_access", actor=actor, dataset_name=dataset.name, **details)
    return bool(deleted)


def _list_grantees(dataset: Dataset) -> set[Grantee]:
    grants = DatasetGrant.objects.filter(dataset=dataset).select_related("user", "group")
    return {grantee for grant in grants if (grantee := grant.user or grant.group)}


def _apply_change(dataset: Dataset, change: Callable[[], bool], actor: Any) -> bool:
    if actor is not None and not actor.has_perm(LIMIT_ACCESS_PERMISSION):
        raise UserError("You don't have permission to limit access to a dataset. Ask a privacy officer.")
    with transaction.atomic():
        # One at a time, so that the audit log has them in the order in which they take effect.
        if not Dataset.objects.select_for_update(no_key=True).filter(pk=dataset.pk).exists():
            raise UserError("The dataset no longer exists.")
        return change()


def _grantee_filter(grantee: Grantee) -> dict[str, Grantee]:
    return {"group": grantee} if isinstance(grantee, Group) else {"user": grantee}


def _grantee_details(grantee: Grantee) -> dict[str, str]:
    if isinstance(grantee, Group):
        return {"group": grantee.name}
    return {"user": grantee.get_username()}
