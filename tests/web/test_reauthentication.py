"""Asking for the password again, without losing what was typed."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import include, path

from datasets_app.core.web.reauthentication import PROVED_AT, require_recent_sign_in
from datasets_app.models import RetentionPolicy

PASSWORD = "a correct horse battery staple"
REASON = 'a court order\r\nof "May" <b>'


def sign(request: HttpRequest) -> HttpResponse:
    require_recent_sign_in(request)
    return HttpResponse("|".join(request.POST.getlist("reason")))


urlpatterns = [path("sign/", sign), path("", include("alignmenter_site.urls"))]
pytestmark = [pytest.mark.urls(__name__), pytest.mark.django_db]


@pytest.fixture
def client() -> Client:
    user = User.objects.create_user("ana", password=PASSWORD, is_staff=True)
    client = Client()
    client.force_login(user)
    return client


def forget_sign_in(client: Client, **values: Any) -> None:
    """As if the person had signed in long ago."""
    session = client.session
    session.update({PROVED_AT: 0, **values})
    session.save()


def test_a_recent_sign_in_is_proof_enough(client: Client) -> None:
    assert client.post("/sign/", {"reason": REASON}).content.decode() == REASON


def test_what_was_typed_is_sent_again_after_the_password(client: Client) -> None:
    forget_sign_in(client)
    answer = client.post("/sign/?tab=2", {"reason": [REASON, "\nsecond"]})
    assert answer["Location"] == "/account/again/?next=%2Fsign%2F"
    # Others with access to the database don't read it there.
    assert "court order" not in str(dict(client.session))
    assert "Wrong password" in client.post("/account/again/", {"password": "not it"}).content.decode()
    assert client.post("/sign/", {"reason": REASON}).status_code == 302
    page = client.post("/account/again/", {"password": PASSWORD}).content.decode()
    assert 'action="/sign/"' in page
    assert "a court order\r\nof &quot;May&quot; &lt;b&gt;</textarea>" in page
    assert client.post("/sign/", {"reason": REASON}).content.decode() == REASON


def test_a_page_that_was_only_read_is_opened_again(client: Client) -> None:
    forget_sign_in(client)
    assert client.get("/account/app/")["Location"] == "/account/again/?next=%2Faccount%2Fapp%2F"
    assert client.post("/account/again/", {"password": PASSWORD})["Location"] == "/account/app/"
    assert client.get("/account/app/").status_code == 200


def test_another_form_or_a_changed_one_is_not_sent(client: Client) -> None:
    forget_sign_in(
        client,
        account_reauthentication_state={
            "callback": "datasets_app.core.web.reauthentication.resume_request",
            "state": {"form": "forged"},
        },
    )
    assert client.post("/account/again/", {"password": PASSWORD})["Location"] == "/"


def test_without_a_session_one_signs_in_first() -> None:
    assert Client().post("/sign/", {"reason": REASON})["Location"] == "/login/?next=/sign/"


def test_changes_of_accounts_and_of_retention_take_a_recent_sign_in(client: Client) -> None:
    User.objects.update(is_superuser=True)
    other, role = User.objects.create_user("ben"), Group.objects.get(name="viewer")
    rule = RetentionPolicy.objects.create(position=1, pattern="*", retention="1 day", reason="test")
    forget_sign_in(client)
    users, roles = "/admin/auth/user/", "/admin/auth/group/"
    chosen = {"action": "delete_selected", "_selected_action": [other.pk], "post": "yes"}
    for page, form in (
        (f"{users}add/", {"username": "carl"}),
        (f"{users}{other.pk}/change/", {"is_superuser": "on"}),
        (f"{users}{other.pk}/password/", {"password1": PASSWORD}),
        (f"{users}{other.pk}/delete/", {"post": "yes"}),
        (users, chosen),
        (f"{roles}{role.pk}/change/", {"name": "everything"}),
        (f"/admin/datasets_app/retentionpolicy/{rule.pk}/rehearsal/", {"seen": ""}),
        ("/admin/datasets_app/retentionpolicy/apply/", {}),
    ):
        assert client.post(page, form).headers.get("Location", "").startswith("/account/again/"), page
    assert client.get(f"{users}{other.pk}/password/")["Location"].startswith("/account/again/")
    assert client.get(f"{users}{other.pk}/change/").status_code == 200
