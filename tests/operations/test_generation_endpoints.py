"""Who may have a model asked where, and which key goes there."""

import traceback
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, Group, Permission, User

from datasets_app.core.errors import UserError
from datasets_app.model_calls.endpoints import configured_endpoints, get_api_key, require_endpoint

CONFIGURED = ["https://models.example.org/v1", "http://localhost:8080/v1/"]
ELSEWHERE = "http://169.254.169.254/latest"


@pytest.fixture(autouse=True)
def _configured(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.LLM_ENDPOINTS = CONFIGURED
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    monkeypatch.delenv("ALIGNMENTER_LLM_KEY_FILE", raising=False)


def user(name: str, role: str = "", permission: str = "") -> User:
    made = User.objects.create_user(name)
    if role:
        made.groups.add(Group.objects.get(name=role))
    if permission:
        made.user_permissions.add(Permission.objects.get(codename=permission))
    return made


@pytest.mark.django_db
def test_configured_addresses_are_for_all_and_others_take_a_permission_that_no_role_has() -> None:
    curator = user("cu", "curator")
    assert require_endpoint(None, curator).base_url == "https://models.example.org/v1"
    assert require_endpoint("", curator).base_url == configured_endpoints()[0]
    assert require_endpoint("HTTP://LOCALHOST:8080/v1", curator).trusted
    roles = [user(role, role) for role in Group.objects.values_list("name", flat=True)]
    assert len(roles) >= 5
    for somebody in (*roles, AnonymousUser()):
        for base_url in (ELSEWHERE, "http://localhost:8081/v1", "https://models.example.org/v2"):
            with pytest.raises(UserError) as refused:
                require_endpoint(base_url, somebody)
            assert "169" not in refused.value.message
    for somebody in (
        user("any", "curator", "generate_anywhere"),
        User.objects.create_superuser("root"),
    ):
        allowed = require_endpoint(ELSEWHERE, somebody)
        assert allowed.base_url == ELSEWHERE
        # The installation's key is not for addresses that somebody has typed into a form.
        assert get_api_key(allowed) == ""


def test_a_command_may_ask_anywhere_with_the_key_of_its_environment() -> None:
    assert get_api_key(require_endpoint(ELSEWHERE, None)) == "sk-canary"
    assert get_api_key(require_endpoint(None, None)) == "sk-canary"
    for wrong in ("ftp://host", "http://user:hunter2@host/"):
        with pytest.raises(UserError) as refused:
            require_endpoint(wrong, None)
        assert "hunter2" not in refused.value.message


def test_a_key_file_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "key"
    monkeypatch.setenv("ALIGNMENTER_LLM_KEY_FILE", str(path))
    endpoint = require_endpoint(None, None)
    with pytest.raises(UserError, match="can't be read"):
        get_api_key(endpoint)
    path.write_text("sk-of-the-file\n")
    assert get_api_key(endpoint) == "sk-of-the-file"


@pytest.mark.parametrize(
    "key", [b"sk-canary\nsk-2", b"sk-canary\xff", "sk-canary-ü".encode(), b"sk canary", b"k" * 9999]
)
def test_a_key_that_can_be_none_is_refused_without_being_shown(
    key: bytes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "key"
    path.write_bytes(key)
    monkeypatch.setenv("ALIGNMENTER_LLM_KEY_FILE", str(path))
    with pytest.raises(UserError) as refused:
        get_api_key(require_endpoint(None, None))
    assert "canary" not in "".join(traceback.format_exception(refused.value))
