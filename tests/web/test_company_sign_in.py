"""Signing in at the company, against a real OpenID Connect provider."""

import copy
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from alignmenter_site.env import EnvironmentVariableError
from alignmenter_site.sign_in.adapters import mail_thread
from alignmenter_site.sign_in_settings import sign_in_settings
from datasets_app.core.web.reauthentication import PROVED_AT
from datasets_app.models import AuditEvent
from tests.identity_provider import Provider, run_provider

PASSWORD = "a correct horse battery staple"
EVA = {"preferred_username": "eva", "email": "eva@example.org", "email_verified": True}


@pytest.fixture
def provider(db: None, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with run_provider(settings, monkeypatch) as running:
        yield running


def roles_of(name: str) -> list[str]:
    return sorted(User.objects.get(username=name).groups.values_list("name", flat=True))


def test_accounts_and_roles_follow_the_groups_of_the_provider(provider: Provider) -> None:
    provider.set_person("e1", **EVA, groups=["aad-curators", "aad-officers", "others"])
    client = Client()
    assert "company account" in client.get("/login/").content.decode()
    assert provider.sign_in(client, "e1")["Location"] == "/"
    eva = User.objects.get(username="eva")
    assert (eva.is_staff, eva.is_superuser, eva.has_usable_password()) == (True, False, False)
    assert roles_of("eva") == ["curator", "privacy officer"]
    assert client.get("/admin/").status_code == 200
    event = AuditEvent.objects.get(action="log_in")
    assert (event.actor, event.details["by"]) == ("eva", ["company"])
    added = AuditEvent.objects.filter(action="permissions", details__has_key="added").last()
    assert added is not None
    assert added.actor == "eva"

    provider.set_person("e1", **EVA, groups=["aad-annotators"])
    provider.sign_in(client, "e1")
    assert roles_of("eva") == ["annotator"]
    assert client.get("/admin/").status_code == 403
    provider.set_person("e1", **EVA, groups=["others"])
    assert "None of your groups has access" in provider.sign_in(Client(), "e1").content.decode()
    assert roles_of("eva") == []


def test_an_answer_to_another_sign_in_is_refused_without_pkce(provider: Provider, settings: Any) -> None:
    """Whoever got hold of somebody's code signs in with it as that person, if the provider ignores PKCE."""
    providers = copy.deepcopy(settings.SOCIALACCOUNT_PROVIDERS)
    providers["openid_connect"]["APPS"][0]["settings"]["oauth_pkce_enabled"] = False
    settings.SOCIALACCOUNT_PROVIDERS = providers
    provider.set_person("e1", **EVA, groups=["aad-curators"])
    stolen = parse_qs(urlsplit(provider.authorize(Client(), "e1")).query)["code"][0]
    thief = Client()
    own = parse_qs(urlsplit(thief.get("/oidc/company/login/")["Location"]).query)
    assert own["nonce"] != own["state"]
    answer = thief.get("/oidc/company/login/callback/", {"code": stolen, "state": own["state"][0]})
    assert (answer.status_code, "belongs to another sign-in" in answer.content.decode()) == (403, True)
    assert thief.get("/admin/").status_code == 302
    assert not User.objects.filter(username="eva").exists()
    # One's own answer is taken.
    assert provider.sign_in(thief, "e1")["Location"] == "/"


def test_claims_about_another_person_than_the_token_are_refused(
    provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider.set_person("e1", **EVA, groups=["aad-curators"])
    other = {"sub": "e2", **EVA, "groups": ["aad-officers"]}
    monkeypatch.setattr(OpenIDConnectOAuth2Adapter, "_fetch_user_info", lambda self, token: other)
    assert provider.sign_in(Client(), "e1").status_code == 403
    assert not User.objects.exists()


@pytest.mark.parametrize("groups", [{"aad-officers": 1}, [["aad-officers"], {"id": 1}, None, 3], 7, True])
def test_groups_that_are_no_names_give_no_role(provider: Provider, groups: Any) -> None:
    provider.set_person("e1", **EVA, groups=groups)
    answer = provider.sign_in(Client(), "e1")
    assert (answer.status_code, User.objects.filter(username="eva").exists()) == (403, False)
    assert "None of your groups has access" in answer.content.decode()


@pytest.mark.parametrize(
    "changed",
    [
        {"auth_params": "redirect_uri=https://evil.example"},
        {"auth_params": "client_id=other&state=known"},
        {"auth_params": "prompt=login&max_age=0&code_challenge=known"},
        {"scope": "openid offline_access"},
    ],
)
def test_a_link_changes_nothing_of_what_the_provider_is_told(
    provider: Provider, changed: dict[str, str]
) -> None:
    assert Client().get("/oidc/company/login/", changed).status_code == 404


def test_nobody_gets_an_account_without_a_role_or_takes_over_one(provider: Provider) -> None:
    provider.set_person("n1", preferred_username="nobody", groups=["others"])
    answer = provider.sign_in(Client(), "n1")
    assert answer.status_code == 403
    assert "None of your groups has access" in answer.content.decode()
    assert not User.objects.exists()

    User.objects.create_user("eva", "Eva@example.org", PASSWORD)
    provider.set_person("e1", **EVA, groups=["aad-curators"])
    refused = provider.sign_in(Client(), "e1").content.decode()
    assert "There is an account with your e-mail address already" in refused
    # Nor by asking to connect the account of somebody who is signed in.
    client = Client()
    client.force_login(User.objects.get())
    connected = provider.sign_in(client, "e1", "/oidc/company/login/?process=connect")
    assert connected.status_code == 403
    assert not SocialAccount.objects.exists()
    assert [user.username for user in User.objects.all()] == ["eva"]


def test_an_allowed_account_is_connected_and_loses_its_password(provider: Provider, sign_in: Any) -> None:
    eva = User.objects.create_user("eva", "Eva@example.org", PASSWORD, is_staff=True)
    allow = {"action": "allow_company_sign_in", "_selected_action": [eva.pk]}
    sign_in("superuser").post(reverse("admin:auth_user_changelist"), allow)
    assert Client().post("/login/", {"username": "eva", "password": PASSWORD}).status_code == 302
    provider.set_person("e1", **{**EVA, "email_verified": False}, groups=["aad-curators"])
    assert provider.sign_in(Client(), "e1").status_code == 403
    provider.set_person("e1", **EVA, groups=["aad-curators"])
    assert provider.sign_in(Client(), "e1")["Location"] == "/"
    assert roles_of("eva") == ["curator"]
    # A person who leaves the company keeps no way in.
    client = Client()
    answer = client.post("/login/", {"username": "eva", "password": PASSWORD}, follow=True)
    assert "Wrong user name or password" in answer.content.decode()
    assert client.get("/account/").status_code == 302
    Client().post(reverse("account_reset_password"), {"email": "eva@example.org"})
    mail_thread.submit(int).result()


def test_people_without_a_password_prove_it_at_the_company(provider: Provider) -> None:
    provider.set_person("e1", **EVA, groups=["aad-curators"])
    provider.set_person("f1", preferred_username="fred", groups=["aad-curators"])
    client = Client()
    provider.sign_in(client, "e1")
    session = client.session
    session[PROVED_AT] = 0
    session.save()
    assert client.get("/account/app/")["Location"] == "/account/again/company/?next=%2Faccount%2Fapp%2F"
    page = client.get("/account/again/company/").content.decode()
    link = page.split('q-primary q-wide" href="')[1].split('"')[0].replace("&amp;", "&")
    assert "prompt%3Dlogin" in link
    assert provider.sign_in(client, "f1", link).status_code == 403
    assert client.get("/account/app/").status_code == 302
    provider.set_person("e1", **EVA, groups=["aad-curators"], auth_time=int(time.time()) - 3600)
    assert provider.sign_in(client, "e1", link).status_code == 403
    assert client.get("/account/app/").status_code == 302
    provider.set_person("e1", **EVA, groups=["aad-curators"])
    assert provider.sign_in(client, "e1", link)["Location"] == "/account/again/company/"
    assert client.get("/account/again/company/")["Location"] == "/account/app/"
    assert client.get("/account/app/").status_code == 200


def test_a_second_factor_at_the_provider_counts_for_that_sign_in(provider: Provider, settings: Any) -> None:
    settings.SECOND_FACTOR_ROLES = frozenset({"curator"})
    for methods, expected in ((["pwd"], 302), (["pwd", "mfa"], 200), ("mfa", 302)):
        provider.set_person("e1", **EVA, groups=["aad-curators"], amr=methods)
        client = Client()
        provider.sign_in(client, "e1")
        assert client.get("/admin/").status_code == expected
        by = AuditEvent.objects.filter(action="log_in").latest("pk").details["by"]
        assert by == (["company", "mfa"] if expected == 200 else ["company"])


def test_without_a_provider_there_is_no_page_for_it(db: None) -> None:
    assert Client().get("/oidc/company/login/").status_code == 404
    assert "company account" not in Client().get("/login/").content.decode()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"URL": "https://login.example.org"}, "ALIGNMENTER_OIDC_URL needs"),
        ({"URL": "http://login.example.org"}, "must begin with https://"),
        ({"URL": "ftp://login"}, "address 1 must be like"),
        ({"GROUPS": "a=curator,a=lead"}, "with each group once"),
        ({"GROUPS": "curators"}, "must be like group=role"),
    ],
)
def test_incomplete_settings_stop_the_start(
    values: dict[str, str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in values.items():
        monkeypatch.setenv(f"ALIGNMENTER_OIDC_{name}", value)
    with pytest.raises(EnvironmentVariableError, match=message):
        sign_in_settings("", https=True)
