"""The address of a list filters by what the list offers: nothing else can be asked, guessed or broken."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

import alignmenter_site.urls  # noqa: F401  (registers the admin's pages)
from datasets_app.models import Dataset, JobRun
from tests.everything import make_full_dataset
from tests.web.conftest import SignIn

SUFFIXES = (
    "",
    "__exact",
    "__in",
    "__regex",
    "__iregex",
    "__startswith",
    "__contains",
    "__also_in__regex",
    "__gt",
)
ODD_VALUES = ("(\0", "9" * 30)


def list_address(model: type[Any]) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def registered() -> list[Any]:
    return [admin.site.get_model_admin(model) for model in sorted(admin.site._registry, key=list_address)]


def offered(model_admin: Any) -> set[str]:
    return set(model_admin._list_filter_parameters(None))


def lookups(model_admin: Any) -> Iterator[str]:
    """Of every field, and of those of related models, back and forth."""
    for field in model_admin.model._meta.get_fields(include_hidden=True):
        name = field.name
        yield from (name + suffix for suffix in SUFFIXES)
        if field.is_relation and field.related_model:
            yield from (f"{name}__{each.name}__regex" for each in field.related_model._meta.fields)
    yield from ("nothing", "nothing__regex", "pk__regex", "")


def test_no_list_answers_to_a_lookup_that_it_does_not_offer(sign_in: SignIn, rf: Any) -> None:
    client, refused = sign_in("superuser"), 0
    for model_admin in registered():
        address = list_address(model_admin.model)
        for lookup in sorted(set(lookups(model_admin)) - offered(model_admin)):
            assert not model_admin.lookup_allowed(lookup, "(", rf.get(address)), f"{address}?{lookup}=("
            refused += 1
        # Lists of our own read only the parameters they know.
        if "cl" in (client.get(address).context or {}):
            assert client.get(address, {"pk__regex": "("}).status_code == 400, address
    assert refused > 500


def test_whatever_a_list_is_asked_is_no_server_error(sign_in: SignIn) -> None:
    client = sign_in("superuser")
    for model_admin in registered():
        address = list_address(model_admin.model)
        for value in ODD_VALUES:
            asked = [dict.fromkeys(("q", "o", "p", "page", "dataset"), value), {"_to_field": value}]
            for query in (*asked, *({name: value} for name in offered(model_admin))):
                response = client.get(address, query)
                assert response.status_code in {200, 302, 400, 404}, f"{address}?{query}"


def test_what_the_lists_offer_is_answered(sign_in: SignIn) -> None:
    make_full_dataset("kestrel")
    client, followed = sign_in("superuser"), 0
    for model_admin in registered():
        address = list_address(model_admin.model)
        changelist = (client.get(address).context or {}).get("cl")
        for spec in changelist.filter_specs if changelist else ():
            for choice in spec.choices(changelist):
                response = client.get(address + choice["query_string"])
                assert response.status_code == 200, address + choice["query_string"]
                followed += choice["query_string"] != "?"
    assert followed > 20


@pytest.fixture
def hidden_name(db: None) -> str:
    Dataset.objects.create(name="acme-merger", origin="production", restricted=True)
    JobRun.objects.create(operation="erase_session", state="done", result={"also_in": ["acme-merger"]})
    return "acme-merger"


@pytest.mark.parametrize(
    ("model", "lookup"),
    [
        ("jobrun", "result__also_in__regex"),
        ("jobrun", "dataset__name__startswith"),
        ("dataset", "name__regex"),
        ("dataset", "job_runs__result__also_in__regex"),
    ],
)
def test_a_hidden_name_cannot_be_spelled_out(
    sign_in: SignIn, hidden_name: str, model: str, lookup: str
) -> None:
    client: Client = sign_in("curator")
    address = reverse(f"admin:datasets_app_{model}_changelist")
    answers = {client.get(address, {lookup: guess}).content for guess in ("^.{0,3}acme-m", "^zzz", "(")}
    assert len(answers) == 1
    assert client.get(address, {lookup: "a"}).status_code == 400
