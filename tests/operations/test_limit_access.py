"""Restricting a dataset, granting it, and telling who can see it and why."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User

from annotations_app.models import CampaignMember
from datasets_app.access import limit_access
from datasets_app.access.who_can_see import ALL, NO_ACCESS, REPLIES, count_viewers, iterate_viewers
from datasets_app.core.errors import UserError
from datasets_app.exporting.export_dataset import EXPORT_FORMATS
from datasets_app.exporting.parameters import ExportParameters
from datasets_app.exporting.sample_dataset import SampleOptions, sample_to_dataset
from datasets_app.jobs import runs
from datasets_app.jobs.perform import perform
from datasets_app.models import AuditEvent, Dataset, DatasetGrant, JobRun
from tests import factories
from tests.everything import make_full_dataset, make_user_with

pytestmark = pytest.mark.django_db


def person(name: str, *roles: str, **more: Any) -> User:
    user = User.objects.create_user(name, **{"is_staff": True, **more})
    user.groups.add(*Group.objects.filter(name__in=roles))
    return user


@pytest.fixture
def dataset() -> Dataset:
    return make_full_dataset("harbour")


@pytest.fixture
def team(dataset: Dataset) -> dict[str, User]:
    Group.objects.create(name="research")
    team = {
        "ada": person("ada", "curator"),
        "vera": person("vera", "viewer", "research"),
        "otto": person("otto", "privacy officer"),
        "root": person("root", is_superuser=True),
        "gone": person("gone", "curator", is_active=False),
        "desk": person("desk", "viewer", is_staff=False),
        "anna": person("anna", "annotator", is_staff=False),
        "zoe": person("zoe"),
    }
    CampaignMember.objects.create(campaign=dataset.campaigns.get(), user=team["anna"])
    return team


def told(dataset: Dataset) -> dict[str, Any]:
    dataset.refresh_from_db()
    return {seer.user.username: seer for seer in iterate_viewers(dataset, only=[ALL, REPLIES, NO_ACCESS])}


def check_against_visible_to(dataset: Dataset) -> None:
    """What is told is what is so: for each person the page says what the filter does."""
    seers = told(dataset)
    for user in User.objects.filter(is_active=True):
        sees = user.is_staff and Dataset.objects.visible_to(user).filter(pk=dataset.pk).exists()
        assert (seers[user.username].sees == ALL) == sees, user
        assert seers[user.username].reasons
        if user.is_staff and seers[user.username].can_be_granted:
            assert not sees


def test_who_can_see_is_what_is_seen(dataset: Dataset, team: dict[str, User]) -> None:
    def seen_by(level: str) -> set[str]:
        return {name for name, seer in told(dataset).items() if seer.sees == level}

    check_against_visible_to(dataset)
    assert seen_by(ALL) == {"ada", "vera", "otto", "root"}
    limit_access.restrict_dataset(dataset, actor=team["otto"])
    check_against_visible_to(dataset)
    assert seen_by(ALL) == {"otto", "root"}
    assert seen_by(REPLIES) == {"anna"}
    limit_access.grant_access(dataset, Group.objects.get(name="research"), actor=team["otto"])
    limit_access.grant_access(dataset, team["zoe"], actor=team["otto"])
    check_against_visible_to(dataset)
    assert seen_by(ALL) == {"otto", "root", "vera"}
    assert count_viewers(dataset) == {"all": 3, "replies": 1, "nothing": 4, "open": 4, "restricted": 3}
    limit_access.unrestrict_dataset(dataset, actor=team["otto"])
    check_against_visible_to(dataset)


def test_the_reasons_are_told(dataset: Dataset, team: dict[str, User]) -> None:
    assert told(dataset)["ada"].reasons == ["The role curator sees datasets, and this dataset is open"]
    limit_access.restrict_dataset(dataset, actor=None)
    limit_access.grant_access(dataset, Group.objects.get(name="research"), actor=team["otto"])
    limit_access.grant_access(dataset, team["zoe"], actor=None)
    seers = told(dataset)
    day = f"{DatasetGrant.objects.first().granted_at:%-d %b %Y}"  # type: ignore[union-attr]
    assert {name: seer.reasons for name, seer in seers.items() if "labeller" not in name} == {
        "ada": ["The role curator sees datasets, but this dataset is restricted and they have no grant"],
        "vera": [f"Granted to the group research by otto on {day}"],
        "otto": ["The role privacy officer can limit access and therefore sees every dataset"],
        "root": ["A superuser sees every dataset"],
        "desk": ["The account is not staff and can only use the annotation queue, whatever its role"],
        "anna": ["Annotator of the campaign harbour-voice: reads the replies assigned to them"],
        "zoe": [f"None of their roles sees datasets; granted to them by the command line on {day}"],
    }
    assert seers["vera"].may == ["read conversations"]
    assert [name for name, seer in seers.items() if seer.can_be_granted] == ["ada"]


def test_each_change_is_written_down_once(dataset: Dataset, team: dict[str, User]) -> None:
    otto, ada = team["otto"], team["ada"]
    group = Group.objects.get(name="research")
    for _ in range(2):
        limit_access.restrict_dataset(dataset, actor=otto)
        limit_access.grant_access(dataset, ada, actor=otto)
        limit_access.grant_access(dataset, group, actor=otto)
    for _ in range(2):
        limit_access.revoke_access(dataset, ada, actor=otto)
        limit_access.unrestrict_dataset(dataset, actor=None)
    events = AuditEvent.objects.filter(dataset_name=dataset.name).exclude(action="import").order_by("id")
    assert [(event.action, event.details) for event in events] == [
        ("restrict", {}),
        ("grant_access", {"user": "ada"}),
        ("grant_access", {"group": "research"}),
        ("revoke_access", {"user": "ada"}),
        ("unrestrict", {}),
    ]
    assert {event.actor for event in events[:4]} == {"otto"}


def test_only_who_may_limits_access(dataset: Dataset, team: dict[str, User]) -> None:
    for change in (limit_access.restrict_dataset, limit_access.unrestrict_dataset):
        with pytest.raises(UserError, match="Ask a privacy officer"):
            change(dataset, actor=team["ada"])
    for grant in (limit_access.grant_access, limit_access.revoke_access):
        with pytest.raises(UserError, match="Ask a privacy officer"):
            grant(dataset, team["ada"], actor=team["ada"])
    assert not DatasetGrant.objects.exists()


def test_the_log_names_everybody_to_whom_an_import_grants_access(
    tmp_path: Path, team: dict[str, User]
) -> None:
    grantees = [Group.objects.get(name="research"), team["zoe"]]
    lines = factories.make_sessions(2)
    factories.make_dataset(
        tmp_path, lines, "calls", origin="production", grantees=grantees, actor=team["ada"]
    )
    granted = AuditEvent.objects.filter(dataset_name="calls", action="grant_access").order_by("id")
    assert [event.details for event in granted] == [{"user": "ada"}, {"group": "research"}, {"user": "zoe"}]


def test_a_sample_is_as_hidden_as_what_it_was_taken_of(tmp_path: Path, team: dict[str, User]) -> None:
    whole = factories.make_dataset(tmp_path, factories.make_sessions(3), "whole")
    limit_access.restrict_dataset(whole, actor=None)
    limit_access.grant_access(whole, team["ada"], actor=None)
    sample_to_dataset(whole, "part", SampleOptions(2))
    part = Dataset.objects.get(name="part")
    assert part.restricted
    granted = AuditEvent.objects.filter(dataset_name="part", action="grant_access")
    assert [event.details for event in granted] == [{"user": "ada"}]
    assert Dataset.objects.visible_to(team["ada"]).filter(pk=part.pk).exists()
    assert not Dataset.objects.visible_to(team["vera"]).filter(pk=part.pk).exists()


# --- jobs ask again ----------------------------------------------------------------------------------


def export_of(dataset: Dataset, actor: Any, format: str = "turns") -> JobRun:
    asked = ExportParameters(format=format)
    return runs.start_job("export_dataset", actor=actor, dataset=dataset, parameters=asked)


def test_a_job_asks_once_more_when_it_begins(
    tmp_path: Path, team: dict[str, User], empty_queue: None
) -> None:
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(1), "support")
    ada = team["ada"]
    # Each in another format: identical jobs of one person are one job.
    hidden, barred, gone, allowed = (export_of(dataset, ada, format) for format in EXPORT_FORMATS[:4])
    limit_access.restrict_dataset(dataset, actor=None)
    perform(hidden.pk)
    limit_access.grant_access(dataset, ada, actor=None)
    ada.groups.clear()
    perform(barred.pk)
    ada.groups.add(Group.objects.get(name="curator"))
    User.objects.filter(pk=ada.pk).update(is_active=False)
    perform(gone.pk)
    User.objects.filter(pk=ada.pk).update(is_active=True)
    perform(allowed.pk)
    ended = [JobRun.objects.get(pk=job.pk) for job in (hidden, barred, gone, allowed)]
    assert [job.state for job in ended] == ["failed", "failed", "failed", "done"]
    assert ended[0].error == "ada, who started this job, no longer has access to the dataset."
    assert ended[1].error == "ada, who started this job, no longer has the permission for it."
    assert not any(job.files.exists() for job in ended[:3])


def test_an_import_does_not_find_its_way_into_a_dataset_that_is_hidden(
    dataset: Dataset, team: dict[str, User], empty_queue: None
) -> None:
    job = runs.start_job("import_dataset", actor=team["ada"], dataset_name=dataset.name)
    limit_access.restrict_dataset(dataset, actor=None)
    perform(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == (
        "failed",
        "ada, who started this job, no longer has access to the dataset.",
    )


def test_what_an_account_has_waiting_goes_with_it(dataset: Dataset, empty_queue: None) -> None:
    ada = make_user_with("datasets_app.export_dataset", "datasets_app.view_dataset", name="ada")
    job = export_of(dataset, ada)
    ada.delete()
    perform(job.pk)
    job.refresh_from_db()
    assert job.state == "cancelled"
    otto = make_user_with("datasets_app.view_dataset", name="otto")
    assert runs.retry_job(job, actor=otto)
    perform(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == (
        "failed",
        "otto, who started this job, no longer has the permission for it.",
    )
