"""An annotator's account reaches the queue and itself; a walk over every address of the application."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import resolve, reverse

from annotations_app.campaigns.create import create_campaign
from annotations_app.labeling.lease_next import lease_next
from annotations_app.models import Annotation, Assignment, Campaign
from datasets_app.models import AuditEvent, Dataset, JobRun, Persona
from tests import factories
from tests.everything import FIXED_PK, make_full_dataset
from tests.raw_walk import fill_route, list_routes

# Addresses, as they are written in the URL conf, that are meant for annotators.
OPEN = re.compile(r"^(|\^?(login|logout|password|account|oidc|annotate|notifications|help)/.*)$")


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(6), "support")
    persona = Persona.objects.create(persona_id="calm", yaml="id: calm\n")
    for name in ("anna", "ben"):
        User.objects.create_user(name, password="a long password").groups.add(
            Group.objects.get(name="annotator")
        )
    return create_campaign(
        Campaign(name="voice", dataset=dataset, persona=persona, overlap=1), ["anna", "ben"]
    )


@pytest.fixture
def anna(campaign: Campaign) -> Client:
    client = Client()
    client.force_login(User.objects.get(username="anna"))
    return client


def test_no_other_address_opens_for_an_annotator(sign_in: Any, empty_queue: None) -> None:
    make_full_dataset()
    User.objects.create(pk=FIXED_PK, username="ben")
    anna = sign_in("annotator")
    Campaign.objects.get().members.create(user=anna.user)
    events = AuditEvent.objects.exclude(action="refused")
    event = events.latest("pk").pk
    before = (events.count(), JobRun.objects.count(), Annotation.objects.count())
    opened, tried = {}, 0
    for route in list_routes():
        if OPEN.match(route):
            continue
        # A job that waits, a failed one, and one of no dataset; of all else, the one row that there is.
        jobs = (FIXED_PK, FIXED_PK + 1, FIXED_PK + 3)
        keys = jobs if "jobrun" in route else (event if "auditevent" in route else FIXED_PK,)
        for pk in keys if "<" in route else (1,):
            address = fill_route(route, {"app_label": "datasets_app", "int": pk, "path": pk, "object_id": pk})
            for answer in (anna.get(address), anna.post(address, {"post": "yes"})):
                tried += 1
                if answer.status_code not in {403, 404}:
                    opened[address] = answer.status_code
    assert tried > 300
    assert not opened
    assert before == (events.count(), JobRun.objects.count(), Annotation.objects.count())


def test_the_walk_fills_addresses_in_rightly() -> None:
    """One that leads nowhere would answer 404 to everyone, and prove nothing."""
    routes = list(list_routes())
    assert len(routes) > 100
    for route in routes:
        assert resolve(fill_route(route, {"app_label": "datasets_app", "url": "nowhere"}))


@pytest.mark.parametrize("role", ["annotator", "outsider"])
def test_the_admin_refuses_and_does_not_send_back_and_forth(
    role: str, sign_in: Any, dataset: Dataset
) -> None:
    client = sign_in(role)
    for address in ("/admin/", "/admin/login/", "/admin/logout/", "/admin/nowhere/"):
        answer = client.get(address)
        assert answer.status_code == 403
        assert "Log out" in answer.content.decode()
    assert client.post("/logout/")["Location"] == "/login/"
    assert client.get("/")["Location"] == "/login/?next=/"


def test_replies_of_others_are_not_there(anna: Client, campaign: Campaign) -> None:
    ben = User.objects.get(username="ben")
    theirs = lease_next(campaign, ben).current
    assert theirs is not None
    for name, more in (("reply", []), ("turns", []), ("whole_turn", [1])):
        address = reverse(f"annotate:{name}", args=["voice", theirs.pk, *more])
        assert anna.get(address).status_code == 404
    sent = {"assignment": theirs.pk, "key": "7a0f6bd2-7d83-4b73-8e1b-5d4c3a1d3c11", "decision": "on"}
    assert anna.post(reverse("annotate:decide", args=["voice"]), sent).status_code == 404
    theirs.refresh_from_db()
    assert theirs.state == Assignment.State.LEASED
    assert theirs.decisions.count() == 0


@pytest.mark.parametrize("role", ["viewer", "privacy officer", "outsider", "none"])
def test_without_the_permission_there_is_no_queue(role: str, campaign: Campaign, sign_in: Any) -> None:
    client = sign_in(role)
    campaign.members.create(user=client.user)
    for address in (reverse("annotate:campaigns"), reverse("annotate:queue", args=["voice"])):
        assert client.get(address).status_code == 403


@pytest.mark.parametrize("role", ["annotator", "lead", "curator"])
def test_without_a_membership_there_is_no_queue(role: str, campaign: Campaign, sign_in: Any) -> None:
    client = sign_in(role)
    assert client.get(reverse("annotate:campaigns")).status_code == 200
    assert client.get(reverse("annotate:queue", args=["voice"])).status_code == 404
    for name in ("lease", "decide"):
        assert client.post(reverse(f"annotate:{name}", args=["voice"])).status_code == 404
    membership = campaign.members.create(user=client.user)
    assert client.get(reverse("annotate:queue", args=["voice"])).status_code == 200
    membership.active = False
    membership.save()
    assert client.get(reverse("annotate:queue", args=["voice"])).status_code == 404


# --- signing in ---


@pytest.mark.parametrize(
    ("name", "wanted", "arrives"),
    [
        ("anna", "", "/annotate/voice/"),
        ("anna", "/annotate/voice/", "/annotate/voice/"),
        ("anna", "/admin/", "/annotate/voice/"),
        ("anna", "https://example.org/annotate/", "/annotate/voice/"),
        ("lead", "", "/admin/"),
        ("lead", "/annotate/", "/annotate/"),
        ("lead", "//example.org/", "/admin/"),
    ],
)
def test_one_page_signs_everybody_in(name: str, wanted: str, arrives: str, campaign: Campaign) -> None:
    lead = User.objects.create_user("lead", password="a long password", is_staff=True)
    lead.groups.add(Group.objects.get(name="lead"))
    given = {"username": name, "password": "a long password", "next": wanted}
    answer = Client().post(reverse("login"), given, follow=True)
    assert answer.status_code == 200
    assert answer.request["PATH_INFO"] == arrives


def test_one_changes_ones_own_password(anna: Client) -> None:
    address = reverse("password_change")
    assert anna.get(address).status_code == 200
    new = {"new_password1": "quiet harbour lamp", "new_password2": "quiet harbour lamp"}
    wrong = anna.post(address, {"old_password": "not it", **new})
    assert "incorrect" in wrong.content.decode()
    assert anna.post(address, {"old_password": "a long password", **new})["Location"] == "/password/done/"
    assert anna.get("/password/done/").status_code == 200
    assert User.objects.get(username="anna").check_password("quiet harbour lamp")


def test_logging_out_takes_a_post(anna: Client) -> None:
    assert anna.get(reverse("logout")).status_code == 405
    assert anna.get(reverse("annotate:queue", args=["voice"])).status_code == 200
    anna.post(reverse("logout"))
    answer = anna.get(reverse("annotate:queue", args=["voice"]))
    assert answer["Location"] == "/login/?next=/annotate/voice/"
