"""No raw text by any door: a walk over every address, form and file as every role, for all origins.

Who may not read raw text is shown none of it; who may leaves a read event.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import Group, User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import get_resolver

from annotations_app.models import Annotation
from datasets_app.access import limit_access
from datasets_app.access.roles import ROLES
from datasets_app.catalog import raw_access
from datasets_app.core.errors import UserError
from datasets_app.exporting.export_dataset import EXPORT_FORMATS, export_to_path
from datasets_app.models import (
    AuditEvent,
    DatasetGrant,
    JobFile,
    JobRun,
    Persona,
    ReleaseFile,
    ScrubMark,
    Session,
    Turn,
)
from datasets_app.releasing.sharing.export_package import export_package
from tests.raw_dataset import RawCase, list_assignments, make_raw_case
from tests.web.test_annotator_walls import filled, walk

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

ORIGINS = ("production", "external", "synthetic")
# Addresses about accounts and sign-in, which are about no dataset, and those that end the session.
NOT_WALKED = re.compile(
    r"^\^?(login|logout|password|account|oidc|_|sign|invite|admin/(login|logout|password|auth|jsi18n))"
)
# Readers see here what is stated about a dataset as a whole, and names of files: no conversation.
STATED = re.compile(
    r"/dataset/\d+/(change|edit|scrub|export)/|/jobrun/\d+/|/dataset/import/|metadata/|/dataset/\?q="
    r"|^/admin/$|/campaign/agreement/"
)
# Copies have events of their own.
COPIED = re.compile(r"^/files/|/export/$")
# Lower only with addresses that are taken away.
MIN_ADDRESSES = 200


def test_no_raw_text_by_any_door(tmp_path: Path, empty_queue: None, media_root: Path, caplog: Any) -> None:
    people = make_people()
    cases = [make_raw_case(tmp_path, origin, people["importer"]) for origin in ORIGINS]
    production = cases[0]
    assert [case.dataset.restricted for case in cases] == [True, False, False]
    assert raw_words(cases) == {case.word for case in cases}
    # Without a grant production data is not there, raw or not.
    assert not visit(people["curator"], production, words={production.word})
    limit_access.unrestrict_dataset(production.dataset, actor=None)
    assert not visit(people["lead"], production, words=raw_words(cases), post=True)
    for case in cases:
        assert not visit(people["viewer"], case, words=raw_words(cases))
    assert not visit(None, production, words=raw_words(cases))
    assert not visit(people["annotator"], production, words=raw_words(cases))
    assert not refuse_copies(cases, people["curator"], tmp_path)
    assert not visit(people["curator"], production, words=raw_words(cases), readers=True)


def make_people() -> dict[str, User]:
    people = {}
    for name in (*ROLES, "importer", "superuser"):
        people[name] = User.objects.create_user(
            name.replace(" ", "_"), is_staff=name != "annotator", is_superuser=name == "superuser"
        )
    for name in ROLES:
        people[name].groups.add(Group.objects.get(name=name))
    people["importer"].groups.add(Group.objects.get(name="curator"))
    return people


def raw_words(cases: list[RawCase]) -> set[str]:
    raw = raw_access.find_raw(case.dataset for case in cases)
    return {case.word for case in cases if case.dataset.pk in raw}


# --- addresses --------------------------------------------------------------------------------------------


def addresses(case: RawCase) -> Iterator[str]:
    """Every route, with the keys of this case."""
    for route in walk(get_resolver().url_patterns):
        if NOT_WALKED.match(route):
            continue
        for arguments in keys_of(route, case):
            yield filled(route, arguments)
    yield from asked_addresses(case)


def keys_of(route: str, case: RawCase) -> list[dict[str, Any]]:
    dataset, campaign = case.dataset, case.campaign
    session = Session.objects.filter(dataset=dataset).order_by("pk")[0]
    common = {
        "app_label": "datasets_app",
        "url": "nowhere",
        "name": campaign.name,
        "version": "1.0.0",
        "turn_index": 2,
        "job_pk": case.upload.pk,
        "session_pk": session.pk,
        "mark_pk": ScrubMark.objects.filter(dataset=dataset).values_list("pk", flat=True).first() or 1,
        "grant_pk": DatasetGrant.objects.filter(dataset=dataset).values_list("pk", flat=True).first() or 1,
    }
    pks = [1]
    for part, rows in (
        ("datasets_app/dataset/", [dataset.pk]),
        ("datasets_app/session/", [session.pk]),
        ("datasets_app/turn/", Turn.objects.filter(session=session).values_list("pk", flat=True)[:2]),
        ("jobrun/", JobRun.objects.filter(dataset_name=dataset.name).values_list("pk", flat=True)),
        ("persona/", Persona.objects.values_list("pk", flat=True)[:1]),
        (
            "auditevent/",
            AuditEvent.objects.filter(dataset_name=dataset.name).values_list("pk", flat=True)[:3],
        ),
        ("annotation/", Annotation.objects.filter(dataset=dataset).values_list("pk", flat=True)),
        ("campaign/agreement/", [dataset.pk]),
        ("campaign/", [campaign.pk]),
        ("annotate/", list_assignments(case)[:3]),
        (
            "files/releases/",
            ReleaseFile.objects.filter(release__dataset=dataset).values_list("pk", flat=True),
        ),
        ("files/", JobFile.objects.filter(job_run__dataset_name=dataset.name).values_list("pk", flat=True)),
    ):
        if part in route:
            pks = list(rows)
            break
    if "<" not in route:
        return [common]
    return [{**common, "pk": pk, "object_id": pk, "id": pk, "int": pk} for pk in pks]


def asked_addresses(case: RawCase) -> Iterator[str]:
    """Lists and forms that take something with their address; searches that a raw dataset must not answer."""
    pk, campaign = case.dataset.pk, case.campaign.pk
    reply = Annotation.objects.filter(dataset=case.dataset, campaign=campaign).values_list("turn", flat=True)[
        0
    ]
    turns, labels = "/admin/datasets_app/turn/", "/admin/annotations_app/annotation/"
    yield from (f"{turns}?dataset={pk}", f"{turns}?dataset={pk}&role=user", f"{turns}?q={case.plant('text')}")
    yield from (f"{turns}?dataset={pk}&q=write", f"{turns}?tag=scenario:{case.plant('tag')}")
    yield f"/admin/datasets_app/dataset/?q={case.plant('source')}"
    yield f"/admin/datasets_app/dataset/{pk}/sessions/?q=session"
    yield f"/admin/datasets_app/dataset/{pk}/checks/?code=E401"
    yield f"/admin/datasets_app/dataset/{pk}/scrub/?class=EMAIL"
    yield f"/admin/datasets_app/dataset/{pk}/releases/compare/?before=1.0.0"
    yield f"/admin/datasets_app/dataset/{pk}/export/?version=1.0.0"
    adjudicate = "/admin/annotations_app/campaign/adjudicate/"
    yield from (f"{adjudicate}?campaign={campaign}", f"{adjudicate}?campaign={campaign}&turn={reply}")
    yield from (f"{adjudicate}?campaign={campaign}&flagged=1", f"{adjudicate}?dataset={pk}&persona=warm_v1")
    for page in ("", "measured/", "parts/"):
        yield f"/admin/annotations_app/campaign/agreement/{pk}/{page}?persona=warm_v1"
    yield from (f"{labels}?dataset__id__exact={pk}", f"{labels}?q={case.plant('session1')}")
    yield f"{labels}?persona_id={case.plant('persona')}"
    autocomplete = "/admin/autocomplete/?app_label=annotations_app&model_name=annotation&field_name=campaign"
    yield f"{autocomplete}&term={case.plant('text')}"
    yield f"/admin/search/?s={case.plant('text')}"
    yield f"/admin/datasets_app/jobrun/active/?dataset={pk}"


# --- walking ----------------------------------------------------------------------------------------------


def visit(
    user: User | None, case: RawCase, *, words: set[str], readers: bool = False, post: bool = False
) -> list[str]:
    """What is wrong with the answers to one person: an error, or raw text that they may not read, or a read
    that was not recorded. With ``post`` every form is sent as well; nothing that it does stays."""
    client = Client(raise_request_exception=False)
    if user is not None:
        client.force_login(user)
    wrong, tried = [], list(addresses(case))
    with transaction.atomic():
        for address in tried:
            wrong += find_fault(client, address, words, readers=readers)
            if post and "?" not in address:
                wrong += find_fault(client, address, words, post=posted(case))
        transaction.set_rollback(True)
    assert len(tried) >= MIN_ADDRESSES
    return wrong


def find_fault(
    client: Client,
    address: str,
    words: set[str],
    *,
    readers: bool = False,
    post: dict[str, Any] | None = None,
) -> list[str]:
    events = AuditEvent.objects.filter(action=raw_access.ACTION)
    before = events.count()
    with transaction.atomic():
        answer = client.get(address) if post is None else client.post(address, post)
        seen = strip_typed(body_of(answer), address)
        recorded = events.count() > before
        if post is not None:
            transaction.set_rollback(True)
    where = f"{'POST' if post else 'GET'} {address}: {answer.status_code}"
    if answer.status_code >= 500:
        return [where]
    found = [word for word in words if word in seen]
    if not found or (readers and (recorded or STATED.search(address) or COPIED.search(address))):
        return []
    return [f"{where} shows {', '.join(found)}"]


def body_of(answer: Any) -> str:
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return str(content.decode(errors="replace")) + str(answer.headers)


def strip_typed(page: str, address: str) -> str:
    """Without what a person typed, which comes back in fields and links. A row that it finds shows more."""
    page = page.replace(address, "")
    for values in parse_qs(urlsplit(address).query).values():
        for value in values:
            # However it is quoted, twice in a redirect.
            page = re.sub(r"\W{1,2}\w{0,5}?".join(re.split(r"\W", value)), "", page)
    return page


def posted(case: RawCase) -> dict[str, Any]:
    """Answers to most forms; without any planted value."""
    finding = case.dataset.scrubs.values_list("findings__pk", flat=True).first()
    label = {"session_id": "none", "turn_index": 2, "label": 1, "persona_id": "warm_v1"}
    file = SimpleUploadedFile("labels.jsonl", json.dumps({**label, "text": "Hello."}).encode())
    fields = {f"annotationresource_{name}": "on" for name in ("text", "notes", "session_id", "persona_id")}
    return {
        "dataset": case.dataset.pk, "tag": "scenario:x", "persona": "warm_v1", "finding": finding or 1,
        "turn": Turn.objects.filter(session__dataset=case.dataset).values_list("pk", flat=True)[0],
        "words": "write", "kind": "NAME", "label": "1", "reason": "because", "format": "0", "resource": "",
        "patterns": "X=write", "kinds": ["EMAIL"], "placeholders": "plain", "timestamps": "keep", "sample": 1,
        "preview": "1", "import_file": file, "before": "1.0.0", "after": "now", "post": "yes", **fields,
    }  # fmt: skip


# --- copies and other places -------------------------------------------------------------------------------


def refuse_copies(cases: list[RawCase], curator: User, folder: Path) -> list[str]:
    """Exports of raw datasets that were not refused, in any format."""
    got = []
    raw = raw_access.find_raw(case.dataset for case in cases)
    for case in cases:
        if case.dataset.pk not in raw:
            continue
        for format in EXPORT_FORMATS:
            with pytest.raises(UserError):
                export_to_path(case.dataset, folder / f"out.{format}", format=format, actor=curator)
            got += [str(path) for path in folder.glob("out.*")]
        for version in ("", "1.0.0"):
            with pytest.raises(UserError):
                export_package(case.dataset, folder / "package", version=version, actor=curator)
    return got


def test_the_walk_knows_every_kind_of_key() -> None:
    """A route with an argument that the walk doesn't fill would answer 404 to everyone."""
    known = {
        "app_label", "url", "name", "version", "turn_index", "job_pk", "session_pk", "mark_pk", "grant_pk",
        "pk", "object_id", "id", "content_type_id",
    }  # fmt: skip
    unknown = {
        f"{route}: {name}"
        for route in walk(get_resolver().url_patterns)
        if not NOT_WALKED.match(route)
        for name in re.findall(r"<(?:\w+:)?(\w+)>", route)
        if name not in known
    }
    assert not unknown
