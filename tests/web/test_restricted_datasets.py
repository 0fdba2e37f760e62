"""A restricted dataset is not there for who isn't granted it: a walk over every address there is."""

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from annotations_app.models import Annotation, Campaign
from datasets_app.access import limit_access
from datasets_app.core import audit
from datasets_app.models import AuditEvent, Dataset, DatasetGrant, JobRun, Session, Turn
from tests import factories
from tests.everything import FIXED_PK, make_full_dataset, make_user_with
from tests.raw_walk import fill_route, list_routes

WORD = "canary"
# The trail is for who may see it, as a whole; the accounts of people are no dataset's.
NOT_WALKED = ("login", "logout", "password", "admin/auth/", "admin/jsi18n")
# What lists and forms take with their addresses.
QUERIES = (
    "dataset={key}&campaign={key}&persona=calm",
    "campaign={key}&turn={reply}",
    "q=kestrel",
    "again={second}",
    "dataset__id__exact={key}",
)


@pytest.fixture
def hidden(db: None) -> Dataset:
    dataset = make_full_dataset(WORD)
    limit_access.restrict_dataset(dataset, actor=None)
    return dataset


@pytest.fixture
def intruder(db: None) -> User:
    """Who may do everything, but neither limit access nor read the trail."""
    return make_user_with(excluded=("datasets_app.limit_access", "datasets_app.view_auditevent"))


def signed_in(user: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def addresses() -> Iterator[str]:
    for route in list_routes():
        if route.startswith(NOT_WALKED):
            continue
        for key in range(FIXED_PK, FIXED_PK + _count_rows(route)):
            named = {"app_label": "datasets_app", "name": f"{WORD}-voice", "version": "1.0.0"}
            yield fill_route(route, {"int": key, "object_id": key, **named})


def _count_rows(route: str) -> int:
    """How many rows there are that an address of this route can name."""
    if "<" not in route:
        return 1
    if "jobrun/" in route:
        return 4
    if re.search("files/|jobs/|job_pk", route):
        return 3
    return 2 if re.search("turn|annotation/", route) else 1


def body(answer: Any) -> str:
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return str(content.decode(errors="replace")) + str(answer.headers)


def told(
    client: Client,
    address: str,
    query: str = "",
    post: dict[str, Any] | None = None,
    opened: set[str] | None = None,
) -> str:
    """What is wrong with an answer: that it tells of the dataset, or fails. Adds pages to ``opened``."""
    where = f"{address}?{query}" if query else address
    answer = client.post(where, post) if post is not None else client.get(where)
    if opened is not None and answer.status_code < 400:
        opened.add(address)
    if answer.status_code >= 500:
        return f"{where}: {answer.status_code}"
    # What was sent may come back, and an address in what it links to.
    seen = body(answer).replace(f'{WORD}-dat"', "").replace(where, "")
    return f"{where}: {answer.status_code}" if WORD in seen else ""


def test_no_address_tells_of_it_nor_one_that_is_asked_with_its_keys(
    hidden: Dataset, intruder: User, empty_queue: None
) -> None:
    client = signed_in(intruder)
    tried = [address for address in addresses() if "/annotate/" not in address]
    opened: set[str] = set()
    leaks = [told(client, address, opened=opened) for address in tried]
    assert len(tried) > 250
    lists = {address for address in opened if not re.search(r"/\d+/", address)}
    assert len(lists) > 20
    keys = {"key": FIXED_PK, "reply": FIXED_PK + 1, "second": FIXED_PK + 2}
    leaks += [told(client, address, query.format(**keys)) for address in lists for query in QUERIES]
    assert not [leak for leak in leaks if leak]


def test_nothing_is_done_to_it(hidden: Dataset, intruder: User, empty_queue: None) -> None:
    client = signed_in(intruder)

    def stands() -> tuple[Any, ...]:
        dataset = Dataset.objects.filter(pk=hidden.pk).values().get()
        jobs = list(JobRun.objects.filter(dataset_name=hidden.name).order_by("pk").values_list("pk", "state"))
        rows = [model.objects.count() for model in (Session, Turn, Annotation, Campaign, DatasetGrant)]
        events = AuditEvent.objects.filter(dataset_name=hidden.name).exclude(action="import").count()
        return dataset, jobs, rows, events

    before = stands()
    sent = {
        "post": "yes", "confirmed": "1", "scrub": "1", "import": "1", "dataset": FIXED_PK,
        "dataset_name": hidden.name,
        "turn": FIXED_PK + 1, "persona": "calm", "persona_id": "calm", "label": 1, "name": hidden.name,
        "reason": "because", "format": "turns", "status": "closed", "selected": FIXED_PK,
        "_selected_action": FIXED_PK,
        "action": "check_selected", "ratios": "60,20,20", "version": "1.0.0", "statement": "I looked",
        "origin": "external", "on_error": "abort", "user": intruder.username, "restrict": "1", "grant": "1",
        "sessions": 2, "writer": "offline", "append": "on", "turns": "4", "seed": 1, "override": "because",
    }  # fmt: skip
    leaks = [told(client, address, post=sent) for address in addresses() if "/annotate/" not in address]
    # Forms that show again what was typed into them.
    echoes = ("generate/: 200", "import/: 200", "passkeys/add/: 200", "tokens/: 200")
    wrong = [leak for leak in leaks if leak and not leak.endswith(echoes)]
    assert before == stands()
    assert not wrong


def test_the_walk_would_find_it(hidden: Dataset, empty_queue: None) -> None:
    """Who may limit access sees it on many pages; so the others would, were it not for the limits."""
    officer = make_user_with(excluded=("datasets_app.view_auditevent",), name="officer")
    client = signed_in(officer)
    # Those of the dataset itself come first.
    tried = sorted(addresses(), key=lambda address: "/dataset/" not in address)
    walked = (told(client, address) for address in tried if "/annotate/" not in address)
    seen = list(islice(filter(None, walked), 41))
    assert len(seen) == 41
    assert not [leak for leak in seen if leak.endswith(": 500")]


def test_what_is_told_of_another_dataset_does_not_name_it(
    hidden: Dataset, intruder: User, tmp_path: Path
) -> None:
    other = factories.make_dataset(tmp_path, factories.make_sessions(1), "other")
    names = {"erased_from": [other.name, hidden.name], "releases": {hidden.name: ["1.0.0"]}}
    handed = [{"dataset": hidden.name, "by": f"{WORD}-taker"}]
    job = JobRun.objects.create(
        operation="erase_session",
        dataset=other,
        dataset_name=other.name,
        state="done",
        parameters={"of": hidden.name},
        result={**names, "also_in": [hidden.name], "handed_out": handed},
    )
    audit.record("sample", actor=None, dataset_name=other.name, sampled_from=hidden.name)
    client = signed_in(intruder)
    pages = [f"/admin/datasets_app/dataset/{other.pk}/history/"]
    pages += [f"/admin/datasets_app/jobrun/{job.pk}/{page}/" for page in ("change", "progress")]
    for page in pages:
        said = body(client.get(page))
        assert hidden.name not in said
        assert "restricted dataset" in said
    intruder.user_permissions.clear()
    intruder.user_permissions.set(Permission.objects.filter(codename__in=["view_dataset", "view_jobrun"]))
    assert "taker" not in body(signed_in(intruder).get(pages[1]))


@pytest.mark.parametrize("role", ["curator", "lead", "viewer"])
def test_its_rows_answer_like_rows_that_never_were(hidden: Dataset, role: str) -> None:
    user = User.objects.create_user(role, is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    client = signed_in(user)

    def answers(key: int) -> list[tuple[int, bool]]:
        asked = ("/files/{}/", "/files/releases/{}/", "/admin/annotations_app/annotation/add/?turn={}")
        found = [client.get(address.format(key)) for address in asked]
        return [(answer.status_code, "1 user" in answer.content.decode()) for answer in found]

    never = answers(7)
    assert [answers(FIXED_PK), answers(FIXED_PK + 1)] == [never, never]
