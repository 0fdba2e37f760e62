"""Tickets of help desks in whatever their exports and APIs put around them."""

from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.traces.reasons import PRIVATE_NOTES
from tests.traces.exports import HELLO, HI
from tests.traces.reading import convert, texts, write

TICKET = {"id": 7, "subject": "Lamp", "requester_id": 1, "status": "open"}
COMMENTS = [
    {"id": 21, "author_id": 1, "body": HI, "public": True, "created_at": "2026-01-05T10:00:00Z"},
    {"id": 23, "author_id": 2, "body": "Be nice", "public": False, "created_at": "2026-01-05T10:02:00Z"},
    {"id": 22, "author_id": 2, "html_body": f"<p>{HELLO}</p>", "created_at": "2026-01-05T10:01:00Z"},
]
WHOLE = {**TICKET, "comments": COMMENTS}
BESIDE = {"ticket": TICKET, "comments": COMMENTS}
AUTHORS = [{**item, "author": {"id": item["author_id"], "role": role}} for item, role in
           zip(COMMENTS, ("end-user", "agent", "admin"), strict=True)]  # fmt: skip
USERS = [{"id": 1, "role": "end-user"}, {"id": 2, "role": "agent"}]
ZENDESK: dict[str, Any] = {
    "ticket beside its comments": BESIDE,
    "ticket with its comments": {"ticket": WHOLE},
    "list": [BESIDE],
    "list of wrapped tickets": [{"ticket": WHOLE}],
    "bare list": [WHOLE],
    "page": {"tickets": [WHOLE], "users": USERS, "count": 1, "next_page": None},
    "page of pairs": {"tickets": [BESIDE], "count": 1},
    "page of wrapped tickets": {"results": [{"ticket": WHOLE}], "count": 1},
    "answer of the API for comments": {"ticket": TICKET, "comments": {"comments": COMMENTS, "count": 3}},
    "answers side by side": {"ticket": {"ticket": TICKET}, "comments": {"comments": COMMENTS, "users": USERS}},  # noqa: E501
    "wrapped twice": {"data": {"ticket": WHOLE}},
    "comments of all tickets": {
        "tickets": [TICKET], "comments": [{**item, "ticket_id": 7} for item in COMMENTS]},
    "audits": {"ticket": TICKET, "audits": [
        {"created_at": item["created_at"], "events": [{**item, "type": "Comment"}]} for item in COMMENTS]},
    "authors": {"ticket": TICKET, "comments": AUTHORS},
    "description": {"ticket": {**WHOLE, "description": HI}},
    "text ids": {"ticket": {**TICKET, "requester_id": "1"}, "comments": [
        {**item, "author_id": str(item["author_id"])} for item in COMMENTS]},
    "ids of both kinds": {"ticket": {**TICKET, "requester_id": "1"}, "comments": COMMENTS},
    "requester": {"ticket": {"id": 7, "requester": {"id": 1, "name": "Dora"}}, "comments": COMMENTS},
}  # fmt: skip


@pytest.mark.parametrize("name", ZENDESK)
@pytest.mark.parametrize("file", ["a.json", "a.jsonl"])
def test_a_ticket_of_zendesk_in_any_envelope(name: str, file: str, tmp_path: Path) -> None:
    value = ZENDESK[name]
    lines = value if isinstance(value, list) else [value]
    found, report = convert(write(tmp_path, lines if file == "a.jsonl" else value, file))
    assert {key: texts(turns) for key, turns in found.items()} == {"7": [("user", HI), ("assistant", HELLO)]}
    assert report.left_out[PRIVATE_NOTES].total == 1
    assert report.format == "Zendesk tickets"


def test_comments_of_two_tickets_stay_apart(tmp_path: Path) -> None:
    comments = [{**item, "ticket_id": ticket} for ticket in (7, 8) for item in COMMENTS]
    value = {"tickets": [TICKET, {**TICKET, "id": 8}], "comments": comments}
    found, _ = convert(write(tmp_path, value))
    assert {key: len(turns) for key, turns in found.items()} == {"7": 2, "8": 2}


def test_a_comment_of_nobody_is_asked_about(tmp_path: Path) -> None:
    value = {"ticket": TICKET, "comments": [*COMMENTS, {"body": "Who?", "public": True}]}
    report = convert(write(tmp_path, value))[1]
    assert report.left_out["messages of unknown roles"].total == report.problem_total == 1
