"""List who can see a dataset and why, for all users at once, by the rules of ``visible_to``.

Inactive accounts see nothing and are left out.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from django.contrib.auth.models import Permission, User
from django.db.models import Case, Count, Q, QuerySet, Value, When

from datasets_app import hooks
from datasets_app.domain.batches import batched
from datasets_app.models import Dataset, DatasetGrant

VIEW_PERMISSION, LIMIT_PERMISSION = "datasets_app.view_dataset", "datasets_app.limit_access"
# What a user sees of a dataset.
ALL, REPLIES, NO_ACCESS = "all", "replies", "nothing"
# What a role lets users do with a dataset, in the order of the page.
_ABILITIES = (
    ("read conversations", {"datasets_app.view_session", "datasets_app.view_turn"}),
    ("export", {"datasets_app.export_dataset"}),
    ("read raw text", {"datasets_app.read_raw"}),
    ("release", {"datasets_app.release_dataset"}),
    ("edit", {"datasets_app.change_dataset"}),
    ("scrub", {"datasets_app.scrub_dataset"}),
    ("erase sessions", {"datasets_app.erase_session"}),
    ("limit access", {LIMIT_PERMISSION}),
)
_BATCH_SIZE = 500


class Viewer(NamedTuple):
    """``sees`` is ALL, REPLIES or NO_ACCESS; ``reasons`` are phrases without a full stop; ``may`` is what the
    role allows besides viewing; ``can_be_granted``: a grant would make the dataset visible to them."""

    user: User
    sees: str
    reasons: list[str]
    may: list[str]
    can_be_granted: bool


def list_accounts(dataset: Dataset) -> "QuerySet[Any]":
    """All active accounts, each with what it ``sees`` of the dataset."""
    return User.objects.filter(is_active=True).annotate(
        sees=Case(
            When(_sees_whole_dataset(dataset, restricted=dataset.restricted), then=Value(ALL)),
            When(pk__in=list(hooks.labels.list_campaign_readers(dataset)), then=Value(REPLIES)),
            default=Value(NO_ACCESS),
        )
    )


def count_viewers(dataset: Dataset) -> dict[str, int]:
    """How many users see all of it, replies or nothing, and how many would if it were open or restricted."""
    sees = {
        name: Count("pk", filter=Q(sees=value))
        for name, value in (("all", ALL), ("replies", REPLIES), ("nothing", NO_ACCESS))
    }
    active = User.objects.filter(is_active=True)
    return {
        **list_accounts(dataset).aggregate(**sees),
        "open": active.filter(_sees_whole_dataset(dataset, restricted=False)).count(),
        "restricted": active.filter(_sees_whole_dataset(dataset, restricted=True)).count(),
    }


def explain_viewers(dataset: Dataset, accounts: Sequence[Any]) -> list[Viewer]:
    """Add the reasons to some of :func:`list_accounts`, in a fixed number of queries."""
    facts = _AccessFacts(dataset, [user.pk for user in accounts])
    return [facts.build_viewer(user) for user in accounts]


def iterate_viewers(dataset: Dataset, *, only: Sequence[str]) -> Iterator[Viewer]:
    """All users who see one of ``only``, by name."""
    accounts = list_accounts(dataset).filter(sees__in=only).order_by("username")
    for some in batched(accounts.iterator(chunk_size=_BATCH_SIZE), _BATCH_SIZE):
        yield from explain_viewers(dataset, some)


# --- queries ---------------------------------------------------------------------------------


def _sees_whole_dataset(dataset: Dataset, *, restricted: bool) -> Q:
    """Staff only: StaffOnlyMiddleware limits other accounts to the annotation queue."""
    may = Q(is_staff=True) & _holds_permission(VIEW_PERMISSION)
    return may & (_holds_permission(LIMIT_PERMISSION) | _has_grant(dataset)) if restricted else may


def _holds_permission(permission: str) -> Q:
    """Accounts that hold a permission, directly or by a role."""
    app, codename = permission.split(".")
    held = Permission.objects.filter(content_type__app_label=app, codename=codename)
    directly = User.user_permissions.through.objects.filter(permission__in=held)
    by_role = User.groups.through.objects.filter(group__permissions__in=held)
    return Q(is_superuser=True) | Q(pk__in=directly.values("user")) | Q(pk__in=by_role.values("user"))


def _has_grant(dataset: Dataset) -> Q:
    grants = DatasetGrant.objects.filter(dataset=dataset).order_by()
    by_group = User.groups.through.objects.filter(group__in=grants.exclude(group=None).values("group"))
    return Q(pk__in=grants.exclude(user=None).values("user")) | Q(pk__in=by_group.values("user"))


# --- reasons ----------------------------------------------------------------------------------------


class _AccessFacts:
    """The permissions and grants that explain the access of some users."""

    def __init__(self, dataset: Dataset, users: Sequence[int]) -> None:
        self.restricted = dataset.restricted
        # By user and permission: where the user has it from.
        self.sources: dict[int, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        self.groups: dict[int, set[int]] = defaultdict(set)
        self.replies = hooks.labels.list_campaign_readers(dataset)
        self._read_permissions(users)
        grants = DatasetGrant.objects.filter(dataset=dataset).select_related("user", "group", "granted_by")
        self.grants = list(grants)

    def _read_permissions(self, users: Sequence[int]) -> None:
        columns = ("content_type__app_label", "codename")
        own = User.user_permissions.through.objects.filter(user__in=users)
        for user, app, codename in own.values_list("user", *(f"permission__{name}" for name in columns)):
            self.sources[user][f"{app}.{codename}"].append("A direct permission")
        member = User.groups.through.objects.filter(user__in=users)
        self.groups.update({user: set() for user in users})
        roles = member.values_list(
            "user", "group", "group__name", *(f"group__permissions__{name}" for name in columns)
        )
        for user, group, name, app, codename in roles.order_by("user", "group__name"):
            self.groups[user].add(group)
            self.sources[user][f"{app}.{codename}"].append(f"The role {name}")

    def build_viewer(self, user: Any) -> Viewer:
        held = self.sources[user.pk]
        can_be_granted = (
            self.restricted and user.sees != ALL and user.is_staff and bool(held.get(VIEW_PERMISSION))
        )
        return Viewer(user, user.sees, self._reasons(user), self._list_abilities(user), can_be_granted)

    def _list_abilities(self, user: Any) -> list[str]:
        if user.sees != ALL:
            return []
        held = self.sources[user.pk].keys()
        return [ability for ability, needed in _ABILITIES if user.is_superuser or needed <= held]

    def _reasons(self, user: Any) -> list[str]:
        replies = self.replies.get(user.pk, [])
        if not user.is_staff:
            return replies or [_explain_not_staff(user, bool(self.sources[user.pk].get(VIEW_PERMISSION)))]
        if user.is_superuser:
            return ["A superuser sees every dataset", *replies]
        by_role = self.sources[user.pk].get(VIEW_PERMISSION, [])
        granted = [_describe_grant(grant) for grant in self.grants if self._is_for(grant, user)]
        if not by_role:
            no_role = "None of their roles sees datasets"
            return replies or [f"{no_role}; {text[0].lower() + text[1:]}" for text in granted] or [no_role]
        return self._reasons_by_role(user, by_role, granted) + replies

    def _reasons_by_role(self, user: Any, by_role: list[str], granted: list[str]) -> list[str]:
        limits = [
            f"{source} can limit access and therefore sees every dataset"
            for source in self.sources[user.pk].get(LIMIT_PERMISSION, [])
        ]
        if not self.restricted:
            return [f"{source} sees datasets, and this dataset is open" for source in by_role]
        if limits or granted:
            return limits + granted
        return [f"{by_role[0]} sees datasets, but this dataset is restricted and they have no grant"]

    def _is_for(self, grant: DatasetGrant, user: Any) -> bool:
        return grant.user_id == user.pk or (
            grant.group_id is not None and grant.group_id in self.groups[user.pk]
        )


def _explain_not_staff(user: Any, sees_datasets: bool) -> str:
    if sees_datasets or user.is_superuser:
        return "The account is not staff and can only use the annotation queue, whatever its role"
    return "An annotator who is in no campaign of this dataset"


def _describe_grant(grant: DatasetGrant) -> str:
    to = f"the group {grant.group.name}" if grant.group else "them"
    by = grant.granted_by.get_username() if grant.granted_by else "the command line"
    return f"Granted to {to} by {by} on {grant.granted_at:%-d %b %Y}"
