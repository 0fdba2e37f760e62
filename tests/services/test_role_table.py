"""The table of roles, cell by cell: what a permission opens, and that it is closed without it.

For each permission there is an address that takes it. With the role it opens, with the same role less that
one permission it is closed, and so it is for every role that has not got it; and on a restricted dataset that
is not granted it is closed to everybody.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import Permission, User
from django.db import transaction
from django.test import Client
from django.urls import reverse

from datasets_app.access import limit_access
from datasets_app.access.roles import ROLES
from datasets_app.catalog.text_scans import scan_new_text
from datasets_app.models import Dataset, JobRun, WebhookEndpoint
from tests.everything import FIXED_PK, make_full_dataset

pytestmark = pytest.mark.django_db

STAFF = set(ROLES) - {"annotator"}


class Door(NamedTuple):
    """Where a permission is asked for. ``shows`` is what stands on the page only with it, where the page as
    such takes another. ``of_dataset``: whether it is a door of one dataset."""

    page: str
    arguments: tuple[Any, ...] = ()
    post: dict[str, Any] | None = None
    query: str = ""
    shows: str = ""
    of_dataset: bool = True
    # What is to be so before, as fields of the dataset.
    having: dict[str, Any] = {}
    # Who may change something may look at it, too: these open the door as well.
    also: tuple[str, ...] = ()


def _page(name: str, *arguments: Any, **more: Any) -> Door:
    return Door(f"admin:datasets_app_{name}", arguments or (FIXED_PK,), **more)


def _list(name: str, **more: Any) -> Door:
    return Door(f"admin:datasets_app_{name}", of_dataset=False, **more)


def _labels(name: str, *arguments: Any, **more: Any) -> Door:
    return Door(f"admin:annotations_app_{name}", arguments, **more)


# The job of an operation is retried by who may start one.
def _job(operation: str) -> Door:
    return _page("jobrun_retry", FIXED_PK + 1, post={"operation": operation})


DOORS: dict[str, Door] = {
    "datasets_app.view_dataset": _page("dataset_change"),
    "datasets_app.read_raw": _page("turn_change", shows="harbour kestrel", having={"origin": "production"}),
    "datasets_app.change_dataset": _page("dataset_edit"),
    "datasets_app.import_dataset": _list("dataset_import"),
    "datasets_app.export_dataset": _page("dataset_export", post={"format": "turns"}),
    "datasets_app.check_dataset": _page("dataset_run_checks", post={}),
    "datasets_app.scrub_dataset": _page("dataset_mark_take_back", FIXED_PK, FIXED_PK, post={}),
    "datasets_app.keep_terms_everywhere": _list("dataset_terms", shows='name="terms"'),
    "datasets_app.generate_dataset": _list("dataset_generate"),
    "datasets_app.split_dataset": _page("dataset_splits", post={"rest": "1"}),
    "datasets_app.release_dataset": _page("dataset_verify_releases", post={}),
    "datasets_app.view_release": _page("dataset_releases"),
    "datasets_app.hold_dataset": _page("dataset_retention", post={"do": "hold", "reason": "A claim"}),
    "datasets_app.apply_retention": _page(
        "dataset_retention",
        post={"do": "delete", "delete-name": "harbour-data", "delete-reason": "Asked for"},
    ),
    "datasets_app.erase_session": _page("dataset_erase_session", FIXED_PK, FIXED_PK),
    "datasets_app.activate_retentionpolicy": _page("retentionpolicy_deactivate", of_dataset=False, post={}),
    "datasets_app.limit_access": _page("dataset_access_change", post={"do": "restrict"}),
    "datasets_app.sign_review": _page("dataset_sharing", post={"statement": "Seen."}),
    "datasets_app.override_gate": _page(
        "dataset_export", shows="Export unscrubbed", having={"origin": "production"}
    ),
    "datasets_app.view_scrubrun": _page("dataset_scrub"),
    "datasets_app.view_scrubfinding": _page("session_change", shows="Findings of the <a"),
    "datasets_app.view_scrubmark": _page("dataset_scrub", shows='id="marks"'),
    "datasets_app.view_session": _page("dataset_sessions"),
    "datasets_app.view_turn": _page("turn_change"),
    "datasets_app.add_sessioncomment": _page("dataset_comment", FIXED_PK, FIXED_PK, post={"text": "Seen."}),
    "datasets_app.view_jobrun": _page("jobrun_change", FIXED_PK + 1),
    "datasets_app.view_auditevent": _list("auditevent_changelist"),
    "datasets_app.view_persona": _list("persona_changelist", also=("datasets_app.change_persona",)),
    "datasets_app.add_persona": _list("persona_add"),
    "datasets_app.change_persona": _page("persona_change", of_dataset=False, shows='name="yaml"'),
    "datasets_app.view_retentionpolicy": _list(
        "retentionpolicy_changelist", also=("datasets_app.change_retentionpolicy",)
    ),
    "datasets_app.add_retentionpolicy": _list("retentionpolicy_add"),
    "datasets_app.change_retentionpolicy": _page(
        "retentionpolicy_change", of_dataset=False, shows='name="pattern"'
    ),
    "datasets_app.delete_retentionpolicy": _page("retentionpolicy_delete", of_dataset=False),
    "datasets_app.view_source": _list("source_changelist", also=("datasets_app.change_source",)),
    "datasets_app.add_source": _list("source_add"),
    "datasets_app.change_source": _page("source_revoke", post={}),
    "datasets_app.delete_source": _page("source_delete", of_dataset=False),
    "datasets_app.view_webhookendpoint": _list(
        "webhookendpoint_changelist", also=("datasets_app.change_webhookendpoint",)
    ),
    "datasets_app.add_webhookendpoint": _list("webhookendpoint_add"),
    "datasets_app.change_webhookendpoint": _page("webhookendpoint_test", of_dataset=False, post={}),
    "datasets_app.delete_webhookendpoint": _page("webhookendpoint_delete", of_dataset=False),
    "annotations_app.view_annotation": _labels("campaign_agreement", FIXED_PK),
    "annotations_app.add_annotation": _labels("annotation_add", of_dataset=False),
    "annotations_app.change_annotation": _labels("annotation_change", FIXED_PK + 1, shows='name="notes"'),
    "annotations_app.import_annotation": _labels("annotation_import", of_dataset=False),
    "annotations_app.export_annotation": _labels("campaign_export", FIXED_PK),
    "annotations_app.view_campaign": _labels("campaign_change", FIXED_PK),
    "annotations_app.add_campaign": _labels("campaign_add", of_dataset=False),
    "annotations_app.change_campaign": _labels("campaign_settings", FIXED_PK),
    "annotations_app.adjudicate": _labels(
        "campaign_adjudicate", query=f"campaign={FIXED_PK}&turn={FIXED_PK + 1}"
    ),
    "annotations_app.annotate": Door("annotate:campaigns", of_dataset=False),
}


OF_DATASET = {permission: door for permission, door in DOORS.items() if door.of_dataset}


def test_every_permission_of_the_table_has_a_door() -> None:
    assert set(DOORS) == {permission for permissions in ROLES.values() for permission in permissions}


@pytest.fixture
def dataset(db: None, empty_queue: None, media_root: Path) -> Dataset:
    """Its text has been searched, so that reading it takes no permission of its own."""
    dataset = make_full_dataset("harbour")
    scan_new_text(dataset)
    return dataset


@contextmanager
def undone() -> Iterator[None]:
    """What is done in here has not been done afterwards."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def sign_in(role: str) -> Client:
    """Somebody with the permissions of a role."""
    user = User.objects.create_user("somebody", is_staff=role in STAFF)
    user.user_permissions.add(*(_PERMISSIONS[permission] for permission in ROLES[role]))
    client = Client()
    client.force_login(user)
    client.user = user  # type: ignore[attr-defined]
    return client


def take_away(client: Any, *permissions: str) -> None:
    client.user.user_permissions.remove(*(_PERMISSIONS[permission] for permission in permissions))


_PERMISSIONS: dict[str, Permission] = {}


@pytest.fixture(autouse=True)
def _permissions(db: None) -> None:
    for permission in Permission.objects.select_related("content_type"):
        _PERMISSIONS[f"{permission.content_type.app_label}.{permission.codename}"] = permission


def is_open(door: Door, client: Client) -> bool:
    """Whether somebody gets through: 403 and 404 are a closed door, anything but a page is no answer."""
    with undone():
        if door.having:
            Dataset.objects.filter(pk=FIXED_PK).update(**door.having)
        if "webhookendpoint" in door.page:
            WebhookEndpoint.objects.filter(pk=FIXED_PK).update(owner=client.user)  # type: ignore[attr-defined]
        if door.page.endswith("jobrun_retry"):
            JobRun.objects.filter(pk=FIXED_PK + 1).update(operation=(door.post or {})["operation"])
        address = reverse(door.page, args=door.arguments) + (f"?{door.query}" if door.query else "")
        answer = client.get(address) if door.post is None else client.post(address, door.post)
        assert answer.status_code in {200, 302, 403, 404}, (address, answer.status_code)
        if answer.status_code == 302:
            assert not answer["Location"].startswith("/login"), address
        through = answer.status_code in {200, 302}
        return through and (not door.shows or door.shows in answer.content.decode())


@pytest.mark.parametrize("role", ROLES)
def test_each_role_opens_its_doors_and_no_other(role: str, dataset: Dataset) -> None:
    client = sign_in(role)
    opened = {permission for permission, door in DOORS.items() if is_open(door, client)}
    assert opened == set(ROLES[role])
    # But for who may limit access, none opens a door of a restricted dataset.
    limit_access.restrict_dataset(dataset, actor=None)
    take_away(client, "datasets_app.limit_access")
    assert not [permission for permission, door in OF_DATASET.items() if is_open(door, client)]


@pytest.mark.parametrize("role", ROLES)
def test_a_role_less_one_permission_finds_that_door_closed(role: str, dataset: Dataset) -> None:
    client, open_all_the_same = sign_in(role), []
    for permission in ROLES[role]:
        with undone():
            door = DOORS[permission]
            take_away(client, permission, *door.also)
            if is_open(door, client):
                open_all_the_same.append(permission)
    assert not open_all_the_same


def test_whoever_is_granted_it_opens_what_their_role_opens(dataset: Dataset) -> None:
    limit_access.restrict_dataset(dataset, actor=None)
    client: Any = sign_in("curator")
    limit_access.grant_access(dataset, client.user, actor=None)
    opened = {permission for permission, door in OF_DATASET.items() if is_open(door, client)}
    assert opened == set(ROLES["curator"]) & set(OF_DATASET)
