"""A walk over every address of the application with the keys of planted datasets."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.db.models.signals import post_save
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from annotations_app.models import Annotation, Assignment, Campaign
from datasets_app.catalog import raw_access
from datasets_app.models import (
    AuditEvent,
    DatasetGrant,
    EvaluationRun,
    JobFile,
    JobRun,
    Persona,
    ReleaseFile,
    SavedView,
    ScrubMark,
    Session,
    SessionComment,
    SessionSelection,
    Turn,
)
from tests.raw_dataset import RawCase

# Addresses about accounts and sign-in, which are about no dataset, and those that end the session. The API
# takes no session: see tests/api.
_NOT_WALKED = re.compile(
    r"^\^?(login|logout|password|account|tokens|api|oidc|_|sign|invite|admin/(login|logout|password|auth|jsi18n))"
)
# Readers see here what is stated about a dataset as a whole, and names of files: no conversation.
_STATED = re.compile(
    r"/dataset/\d+/(change|edit|scrub|export)/|/jobrun/\d+/|/dataset/import/|metadata/|/dataset/\?q="
    r"|^/admin/$|/campaign/agreement/"
)
# Copies have events of their own.
_COPIED = re.compile(r"^/files/|/export/$")
# One that is sent to the page itself.
_FORM = re.compile(r'<form(?![^>]*action=)[^>]*method="post"')
_ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")


# --- addresses ------------------------------------------------------------------------------------------


def list_routes(patterns: Any = None, before: str = "") -> Iterator[str]:
    """Every route of the URL conf, as it is written."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from list_routes(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield route


def fill_route(route: str, arguments: dict[str, Any]) -> str:
    """The address of a route: real primary keys where there are some, else something that fits."""
    route = re.sub(r"\(\?P<(\w+)>[^()]*(\([^()]*\))?[^()]*\)", r"<\1>", route)
    address = re.sub(
        r"<(?:(\w+):)?(\w+)>", lambda found: str(arguments.get(found[2], arguments.get(found[1], 1))), route
    )
    return "/" + re.sub(r"[\^$\\]|\(\?:|\?", "", address)


def list_walked_routes() -> list[str]:
    return [route for route in list_routes() if not _NOT_WALKED.match(route)]


def list_common_addresses() -> list[str]:
    """Those that depend on no dataset."""
    routes = [route for route in list_walked_routes() if not _ARGUMENT.search(route)]
    return [fill_route(route, {}) for route in routes] + ["/admin/r/1/1/"]


def list_addresses(case: RawCase) -> dict[str, str]:
    """Those that depend on one, with their route: every route with every key of the case, and lists that are
    asked for it."""
    names, keys = _list_names(case), _list_keys(case)
    found = {}
    for route in list_walked_routes():
        if _ARGUMENT.search(route):
            for pk in next((pks for part, pks in keys if part in route), [1]):
                arguments = {**names, **dict.fromkeys(("pk", "object_id", "id", "int"), pk)}
                found[fill_route(route, arguments)] = route
    return found | {address: f"query {number}" for number, address in enumerate(_list_queries(case))}


def list_unknown_arguments() -> set[str]:
    """Arguments of routes that the walk doesn't fill: such an address would answer 404 to everyone."""
    known = {
        "app_label", "url", "name", "version", "turn_index", "job_pk", "session_pk", "mark_pk", "grant_pk",
        "comment_pk", "selection_pk", "view_pk", "run_pk", "evaluation_pk",
        "pk", "object_id", "id", "content_type_id", "page", "path",
    }  # fmt: skip
    return {name for route in list_walked_routes() for name in _ARGUMENT.findall(route)} - known


def _list_names(case: RawCase) -> dict[str, Any]:
    dataset = case.dataset
    return {
        "app_label": "datasets_app",
        "url": "nowhere",
        "page": "guide",
        "path": "none.png",
        "name": case.campaign.name,
        "version": "1.0.0",
        "turn_index": 2,
        "job_pk": case.upload.pk,
        "evaluation_pk": _first(EvaluationRun.objects.filter(release__dataset=dataset)),
        "session_pk": _first(Session.objects.filter(dataset=dataset)),
        "mark_pk": _first(ScrubMark.objects.filter(dataset=dataset)),
        "grant_pk": _first(DatasetGrant.objects.filter(dataset=dataset)),
        "comment_pk": _first(SessionComment.objects.filter(dataset=dataset)),
        "selection_pk": _first(SessionSelection.objects.filter(dataset=dataset)),
        "view_pk": _first(SavedView.objects.filter(dataset=dataset)),
    }


def _first(rows: Any) -> int:
    return rows.order_by("pk").values_list("pk", flat=True).first() or 1


def _list_keys(case: RawCase) -> list[tuple[str, list[int]]]:
    """By a part of the route, in order: the first that is found in a route counts."""
    dataset = case.dataset
    events = AuditEvent.objects.filter(dataset_name=dataset.name)
    # An event's page shows the event and nothing else; one of each action is enough.
    events = events.order_by("action", "pk").distinct("action")
    rows: list[tuple[str, Any]] = [
        ("datasets_app/dataset/", [dataset.pk]),
        ("datasets_app/session/", Session.objects.filter(dataset=dataset)),
        ("datasets_app/turn/", Turn.objects.filter(session__dataset=dataset)),
        ("jobrun/", JobRun.objects.filter(dataset_name=dataset.name)),
        ("persona/", Persona.objects.all()),
        ("auditevent/", events),
        ("annotation/", Annotation.objects.filter(dataset=dataset)),
        ("campaign/agreement/", [dataset.pk]),
        ("campaign/", Campaign.objects.filter(dataset=dataset).order_by("pk")),
        ("annotate/", Assignment.objects.filter(campaign__dataset=dataset)),
        ("files/releases/", ReleaseFile.objects.filter(release__dataset=dataset)),
        ("files/", JobFile.objects.filter(job_run__dataset_name=dataset.name)),
    ]
    return [
        (part, found if isinstance(found, list) else list(found.values_list("pk", flat=True)))
        for part, found in rows
    ]


def _list_queries(case: RawCase) -> Iterator[str]:
    """Lists and forms that take something with their address; searches that a raw dataset must not answer."""
    pk, campaign = case.dataset.pk, case.campaign.pk
    reply = Annotation.objects.filter(dataset=case.dataset, campaign=campaign).values_list("turn", flat=True)[
        0
    ]
    turns, labels = "/admin/datasets_app/turn/", "/admin/annotations_app/annotation/"
    yield from (f"{turns}?dataset={pk}", f"{turns}?dataset={pk}&role=user", f"{turns}?q={case.plant('text')}")
    yield from (f"{turns}?dataset={pk}&q=write", f"{turns}?tag=scenario:{case.plant('tag')}")
    yield f"/admin/datasets_app/dataset/?q={case.plant('source')}"
    dataset = f"/admin/datasets_app/dataset/{pk}"
    yield from (
        f"{dataset}/sessions/?q=session",
        f"{dataset}/sessions/?id=session&col=message&col=date&col=persona&col=tags&sort=session",
        f"{dataset}/sessions/?tag=scenario:{case.plant('tag')}&code=any&labels=any",
        f"{dataset}/sessions/tags/?tag=scenario",
        f"{dataset}/checks/?code=E401",
        f"{dataset}/scrub/?class=EMAIL",
    )
    yield from (f"{dataset}/releases/compare/?before=1.0.0", f"{dataset}/export/?version=1.0.0")
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


# --- walking --------------------------------------------------------------------------------------------


class Visit(NamedTuple):
    """``wrong`` says which answers were an error, or showed a word that the person may not read. Of the other
    addresses, ``telling`` ones showed a word, and ``sendable`` ones have a form or take nothing else."""

    wrong: list[str]
    telling: list[str]
    sendable: list[str]


def visit(user: User | None, addresses: Iterable[str], words: set[str], *, reader: bool = False) -> Visit:
    """What the answers to one person show. A ``reader`` may read the words if the answer recorded that.
    Nothing that the visit does stays."""
    result = Visit([], [], [])
    with transaction.atomic(), ReadCounter() as reads:
        client = _sign_in(user)
        for address in addresses:
            before = reads.count
            status, page = _ask(client.get(address))
            found = _find_words(page, address, words)
            may_show = reader and (_STATED.search(address) or _COPIED.search(address) or reads.count > before)
            if status >= 500 or (found and not may_show):
                result.wrong.append(f"GET {address}: {status} shows {', '.join(found) or 'an error'}")
            elif found:
                result.telling.append(address)
            if status == 405 or _FORM.search(page):
                result.sendable.append(address)
        transaction.set_rollback(True)
    return result


def submit(user: User, addresses: Iterable[str], words: set[str], answers: dict[str, Any]) -> list[str]:
    """The same for forms that are sent with ``answers``, each to the dataset as it was."""
    wrong = []
    with transaction.atomic():
        client = _sign_in(user)
        for address in addresses:
            with transaction.atomic():
                status, page = _ask(client.post(address, answers))
                transaction.set_rollback(True)
            found = _find_words(page, address, words)
            if found or status >= 500:
                wrong.append(f"POST {address}: {status} shows {', '.join(found) or 'an error'}")
        transaction.set_rollback(True)
    return wrong


def _ask(answer: Any) -> tuple[int, str]:
    content = b"".join(answer.streaming_content) if answer.streaming else answer.content
    return answer.status_code, content.decode(errors="replace") + str(answer.headers)


def _sign_in(user: User | None) -> Client:
    client = Client(raise_request_exception=False)
    if user is not None:
        client.force_login(user)
    return client


class ReadCounter:
    """Counts the reads of raw text that are recorded meanwhile."""

    count = 0

    def _add(self, instance: AuditEvent, **_: Any) -> None:
        self.count += instance.action == raw_access.ACTION

    def __enter__(self) -> "ReadCounter":
        post_save.connect(self._add, AuditEvent)
        return self

    def __exit__(self, *_: object) -> None:
        post_save.disconnect(self._add, AuditEvent)


def _find_words(page: str, address: str, words: set[str]) -> list[str]:
    """Words in the answer that the person didn't type: those come back in fields and links. A row that is
    found by them shows more."""
    if not any(word in page for word in words):
        return []
    page = page.replace(address, "")
    for values in parse_qs(urlsplit(address).query).values():
        for value in values:
            # However it is quoted, twice in a redirect.
            page = re.sub(r"\W{1,2}\w{0,5}?".join(re.split(r"\W", value)), "", page)
    return [word for word in words if word in page]


def list_answers(case: RawCase) -> dict[str, Any]:
    """Answers to most forms; without any planted value."""
    finding = case.dataset.scrubs.values_list("findings__pk", flat=True).first()
    label = {"session_id": "none", "turn_index": 2, "label": 1, "persona_id": "warm_v1"}
    file = SimpleUploadedFile("labels.jsonl", json.dumps({**label, "text": "Hello."}).encode())
    fields = {f"annotationresource_{name}": "on" for name in ("text", "notes", "session_id", "persona_id")}
    return {
        "dataset": case.dataset.pk, "tag": "scenario:x", "persona": "warm_v1", "finding": finding or 1,
        "turn": _first(Turn.objects.filter(session__dataset=case.dataset)),
        "words": "write", "action": "tag", "all": "1", "text": "Seen.",
        "kind": "NAME", "label": "1", "reason": "because", "format": "0", "resource": "",
        "patterns": "X=write", "kinds": ["EMAIL"], "placeholders": "plain", "prefer": "recall",
        "timestamps": "keep", "sample": 1, "preview": "1", "import_file": file,
        "before": "1.0.0", "after": "now", "post": "yes", **fields,
    }  # fmt: skip
