"""limit_access and who_can_see, as they are called."""

import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import CommandError, call_command

from datasets_app.models import AuditEvent, Dataset

pytestmark = pytest.mark.django_db


def called(*arguments: Any) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


@pytest.fixture(autouse=True)
def people() -> None:
    Dataset.objects.create(name="support")
    for name, role in (("ada", "curator"), ("vera", "viewer"), ("otto", "privacy officer")):
        User.objects.create_user(name, is_staff=True).groups.add(Group.objects.get(name=role))


def test_limits_and_tells() -> None:
    assert called("limit_access", "support", "--restrict", "--grant", "ada") == (
        "support is restricted: 2 people can see it.\n"
    )
    rows = {row["user"]: row for row in json.loads(called("who_can_see", "support", "--format", "json"))}
    assert set(rows) == {"ada", "otto"}
    assert rows["ada"]["sees"] == "all"
    assert "export" in rows["ada"]["may"]
    text = called("who_can_see", "support", "--all")
    assert text.startswith("support is restricted.\nada: all\n  Granted to them by the command line on ")
    assert "vera: nothing\n  The role viewer sees datasets, but this dataset is restricted" in text
    assert called("limit_access", "support", "--grant-group", "viewer", "--revoke", "ada") == (
        "support is restricted: 2 people can see it.\n"
    )
    assert called("limit_access", "support", "--open") == "support is open: 3 people can see it.\n"
    actions = (
        AuditEvent.objects.filter(dataset_name="support").order_by("id").values_list("action", flat=True)
    )
    assert list(actions) == ["grant_access", "restrict", "grant_access", "revoke_access", "unrestrict"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere", "--restrict"], "There is no dataset 'nowhere'."),
        (["support"], "Nothing to change"),
        (["support", "--restrict", "--grant", "nobody"], "There is no user 'nobody'."),
        (
            ["support", "--grant", "ada", "--grant-group", "crew"],
            "There is no group 'crew'. Use one of these: ",
        ),
        (["support", "--restrict", "--open"], "not allowed with argument"),
    ],
)
def test_refuses_with_a_sentence_and_changes_nothing(arguments: list[str], sentence: str) -> None:
    with pytest.raises(CommandError) as refused:
        called("limit_access", *arguments)
    assert sentence in str(refused.value)
    assert not Dataset.objects.get().restricted
    assert not AuditEvent.objects.filter(dataset_name="support").exists()
