"""Each route for each role and each scope: what the schema says it needs is what opens it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from alignmenter_site.api.reference import make_schema
from datasets_app.access import limit_access
from datasets_app.access.roles import ROLES
from datasets_app.access.scopes import SCOPES, find_scope
from datasets_app.catalog.text_scans import scan_new_text
from datasets_app.models import Dataset
from tests.api.calls import Caller, make_user
from tests.everything import FIXED_PK, make_full_dataset, make_user_with

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_queue")]

NAMES = {
    "name": "harbour-data",
    "session": FIXED_PK,
    "version": "1.0.0",
    "file": FIXED_PK,
    "number": FIXED_PK,
    "persona_id": "nobody",
}
# What fields of bodies name; others have the shortest value that their type permits.
VALUES: dict[str, Any] = {
    "dataset": "harbour-data",
    "before": "1.0.0",
    "turn": 2,
    "person": "jane.roe@example.org",
    "judge": "brand",
    "members": ["brand", "tone"],
    "model": "openai:tiny",
    "tasks": "{}",
    "yaml": "id: x",
}


@contextmanager
def rolled_back_transaction() -> Iterator[None]:
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def list_operations() -> list[tuple[str, str, dict[str, Any]]]:
    """(method, path, operation) of each route; "body" is one with all required fields, if it takes any."""
    schema = make_schema()
    schemas = schema["components"]["schemas"]
    return [
        (method.upper(), path.removeprefix("/api/v1"), {**operation, "body": make_body(operation, schemas)})
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]


def make_body(operation: dict[str, Any], schemas: dict[str, Any]) -> Any:
    content = operation.get("requestBody", {}).get("content")
    if content is None:
        return None
    if "application/json" not in content:
        return b"x"
    body = content["application/json"]["schema"]
    body = schemas[body["$ref"].rpartition("/")[2]] if "$ref" in body else body
    fields = body.get("properties", {})
    return {name: VALUES.get(name, make_value(fields[name])) for name in body.get("required", ())}


def make_value(field: dict[str, Any]) -> Any:
    if "anyOf" in field:
        return make_value(field["anyOf"][0])
    if "enum" in field:
        return field["enum"][0]
    if field["type"] == "array":
        return [make_value(field["items"])] * field.get("minItems", 1)
    return {"string": "x" * field.get("minLength", 1), "integer": 1, "object": {}}[field["type"]]


def send(caller: Caller, method: str, path: str, operation: dict[str, Any]) -> Any:
    names = {**NAMES, "name": "harbour-campaign"} if path.startswith("/campaigns") else NAMES
    with rolled_back_transaction():
        return caller(method, path.format(**names), operation["body"], Upload_Offset="0")


@pytest.fixture(autouse=True)
def dataset(media_root: Path) -> None:
    scan_new_text(make_full_dataset("harbour"))


@pytest.mark.parametrize("role", ROLES)
def test_each_role_opens_what_the_schema_says(role: str) -> None:
    caller = Caller(make_user(role))
    wrong = {}
    for method, path, operation in list_operations():
        permitted = set(operation["x-permissions"]) <= set(ROLES[role])
        response = send(caller, method, path, operation)
        refused = response.status_code == 403 and response.json().get("permission") is not None
        if role == "annotator":
            # Its accounts are limited to the queue, whatever the permission.
            permitted, refused = False, response.status_code == 403
        if response.status_code >= 500 or (operation["x-permissions"] and permitted == refused):
            wrong[f"{method} {path}"] = response.content
    assert not wrong


def test_a_route_opens_with_exactly_the_scopes_that_it_needs() -> None:
    user = make_user("curator")
    user.groups.add(*make_user("privacy officer").groups.all())
    user = type(user).objects.get(pk=user.pk)
    callers: dict[frozenset[str], Caller] = {}
    wrong, tried = [], set()
    for method, path, operation in list_operations():
        needed = frozenset(map(find_scope, operation["x-permissions"]))
        tried |= needed
        # With no other scope it is open, and with all others but one of them it is closed.
        for missing in (None, *sorted(needed)):
            scopes = frozenset(SCOPES) - {missing} if missing else needed
            if scopes not in callers:
                callers[scopes] = Caller(user, sorted(scopes))
            response = send(callers[scopes], method, path, operation)
            refused = response.json().get("scope") if response.status_code == 403 else None
            if refused != missing:
                wrong.append((missing, method, path, response.content))
    assert not wrong
    assert tried == set(SCOPES)


def test_no_route_tells_of_a_dataset_that_is_hidden() -> None:
    limit_access.restrict_dataset(Dataset.objects.get(pk=FIXED_PK), actor=None)
    other = Dataset.objects.create(name="other")
    everything = make_user_with(name="limited", excluded=("none",))
    callers = [
        Caller(make_user_with(excluded=("datasets_app.limit_access", "datasets_app.view_auditevent"))),
        Caller(everything, datasets=[other]),
    ]
    leaks, answered = [], 0
    for caller in callers:
        for method, path, operation in list_operations():
            response = send(caller, method, path, operation)
            answered += response.status_code == 200
            if response.status_code >= 500 or b"harbour" in response.content.replace(b"harbour-data", b""):
                leaks.append((caller.user.username, method, path, response.status_code, response.content))
    assert answered > 4
    assert not leaks
