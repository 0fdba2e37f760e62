"""The pages of API tokens."""

from typing import Any

import pytest
from django.urls import reverse

from datasets_app.access.tokens import create_token
from datasets_app.core.web.reauthentication import PROVED_AT
from datasets_app.models import ApiToken, AuditEvent, Dataset
from tests.web.conftest import SignIn

pytestmark = pytest.mark.django_db

ANSWERS = {"name": "nightly", "days": "30", "scopes": ["datasets:read", "exports:write"], "datasets": ""}
ALL = "admin:datasets_app_apitoken_changelist"


def test_a_token_is_shown_once(sign_in: SignIn, dataset: Dataset) -> None:
    client = sign_in("curator")
    page = client.post(reverse("tokens"), {**ANSWERS, "datasets": dataset.name})
    token = ApiToken.objects.get()
    shown = page.content.decode()
    assert f'<code class="q-key" id="secret">{token.prefix}' in shown
    assert page["Cache-Control"].startswith("max-age=0")
    assert token.scopes == ["datasets:read", "exports:write"]
    assert token.dataset_names == [dataset.name]
    again = client.get(reverse("tokens")).content.decode()
    assert 'id="secret"' not in again
    assert token.prefix in again


def test_what_a_person_lacks_is_not_offered_or_accepted(sign_in: SignIn) -> None:
    client = sign_in("viewer")
    page = client.get(reverse("tokens")).content.decode()
    assert 'value="datasets:read"' in page
    assert 'value="imports:write"' not in page
    for wrong in ({"scopes": ["imports:write"]}, {"scopes": []}, {"days": "9999"}, {"datasets": "hidden"}):
        assert (
            client.post(reverse("tokens"), {**ANSWERS, "scopes": ["datasets:read"], **wrong}).status_code
            == 200
        )
    assert not ApiToken.objects.exists()


def test_creating_one_takes_a_recent_sign_in_and_other_pages_the_role(sign_in: SignIn) -> None:
    client = sign_in("curator")
    session = client.session
    session[PROVED_AT] = 0
    session.save()
    response = client.post(reverse("tokens"), ANSWERS)
    assert response.status_code == 302
    assert not ApiToken.objects.exists()
    assert client.get(reverse(ALL)).status_code == 403
    assert sign_in("annotator").get(reverse("tokens")).status_code == 403


def test_people_revoke_their_own_and_privacy_officers_all(sign_in: SignIn) -> None:
    curator: Any = sign_in("curator")
    tokens = [create_token(curator.user, name=f"t{i}", scopes=["datasets:read"])[0] for i in range(2)]
    viewer, officer = sign_in("viewer"), sign_in("privacy officer")
    assert viewer.post(reverse("revoke_token", args=[tokens[0].pk])).status_code == 404
    revoke = "admin:datasets_app_apitoken_revoke"
    assert viewer.post(reverse(revoke, args=[tokens[0].pk])).status_code == 403
    assert curator.post(reverse("revoke_token", args=[tokens[0].pk])).status_code == 302
    assert "t1" in officer.get(reverse(ALL)).content.decode()
    assert officer.post(reverse(revoke, args=[tokens[1].pk])).status_code == 302
    assert not ApiToken.objects.filter(revoked_at=None).exists()
    events = AuditEvent.objects.filter(action="revoke_token").order_by("id")
    assert [event.actor for event in events] == ["curator", "privacy_officer"]
