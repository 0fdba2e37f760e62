"""A pipeline that answers a request for erasure: it finds all sessions of a person, and erases just these."""

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission

from datasets_app.models import ApiAnswer, AuditEvent, JobRun, Session
from tests.api.calls import Caller, make_user
from tests.factories import make_dataset, make_turn, run_task

pytestmark = pytest.mark.django_db(transaction=True)

CANARY = "jane.roe@mailbox.org"
BODY = {"person": CANARY, "reason": "Request 118", "sessions": 2}


@pytest.fixture
def officer(tmp_path: Path) -> Caller:
    make_dataset(
        tmp_path,
        [
            make_turn("a", text=f"Write to {CANARY}"),
            make_turn("b", tags=[f"from:{CANARY}"]),
            make_turn("c", text="Write to us"),
        ],
    )
    return Caller(make_user("privacy officer"), ["datasets:read", "people:erase"])


def test_a_person_is_found_and_erased(officer: Caller, empty_queue: Any) -> None:
    found = officer("POST", "/people/find", {"person": CANARY}, Idempotency_Key="one").json()
    assert found == {
        "sessions": 2,
        "datasets": [
            {"dataset": "support", "sessions": 2, "places": {"text": 1, "tags": 1}, "legal_hold": False}
        ],
        "waiting_spans": {},
        "other_datasets": 0,
        "files": [],
        "unsearched_files": 0,
        "not_searched": [],
        "imported_file_names": {},
    }
    started = officer("POST", "/people/erase", BODY, Idempotency_Key="two")
    assert (started.status_code, started.json()["operation"]) == (202, "erase_session")
    run_task(JobRun.objects.get(operation="erase_session"))
    assert list(Session.objects.values_list("session_id", flat=True)) == ["c"]
    assert officer("POST", "/people/find", {"person": CANARY}).json()["sessions"] == 0
    assert officer("POST", "/people/erase", BODY).status_code == 404
    written = [*JobRun.objects.values(), *AuditEvent.objects.values(), *ApiAnswer.objects.values()]
    assert CANARY not in str(written)


def test_what_has_changed_since_is_not_erased(officer: Caller, empty_queue: Any) -> None:
    answer = officer("POST", "/people/erase", {**BODY, "sessions": 1})
    assert (answer.status_code, answer.json()["detail"]) == (409, "2 sessions found, not 1.")
    assert Session.objects.count() == 3
    recorded = AuditEvent.objects.filter(action="read_raw_text")
    assert recorded.count() == 1
    officer("POST", "/people/erase", {**BODY, "sessions": 1}, Idempotency_Key="three")
    assert recorded.count() == 2, "a refusal tells how many there are, and is on record"
    assert not ApiAnswer.objects.exists()
    assert not JobRun.objects.filter(operation="erase_session").exists()


def test_raw_text_is_searched_only_for_people_who_may_read_it(officer: Caller) -> None:
    group = Group.objects.get(name="privacy officer")
    group.permissions.remove(Permission.objects.get(codename="read_raw"))
    for person in (CANARY, "john.doe@mailbox.org"):
        answer = officer("POST", "/people/find", {"person": person})
        said = {key: value for key, value in answer.json().items() if value}
        assert said == {"not_searched": ["support"]}
        refused = officer("POST", "/people/erase", {**BODY, "person": person})
        assert refused.status_code == 404
        gap = "Not searched, because you don't have access to raw text: support, received spans."
        assert gap in refused.json()["detail"]
    assert Session.objects.count() == 3


def test_it_takes_the_scope_and_the_role(officer: Caller, empty_queue: Any) -> None:
    reader = Caller(officer.user, ["datasets:read", "raw:read"])
    curator = Caller(make_user("curator"))
    for caller in (reader, curator):
        for path, body in (("/people/find", {"person": CANARY}), ("/people/erase", BODY)):
            assert caller("POST", path, body).status_code == 403
    assert Session.objects.count() == 3
