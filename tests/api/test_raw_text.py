"""No route shows raw text to a token without ``raw:read``, whoever its person is."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from alignmenter_site.api.reference import make_schema
from datasets_app.access.scopes import SCOPES
from datasets_app.catalog.text_scans import scan_new_text
from datasets_app.models import JobFile, JobRun, ReleaseFile, Session
from tests.api.calls import Caller, make_user, read_content
from tests.raw_dataset import RawCase, make_raw_case

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_queue")]

ALL_BUT_RAW = [scope for scope in SCOPES if scope != "raw:read"]


def list_addresses(case: RawCase) -> list[str]:
    """Every GET route, with all that it can be asked for."""
    arguments: dict[str, list[Any]] = {
        "session": list(Session.objects.filter(dataset=case.dataset).values_list("pk", flat=True)),
        "number": list(JobRun.objects.values_list("pk", flat=True)),
        "version": [release.version for release in case.dataset.releases.all()],
        "persona_id": [case.plant("persona")],
    }
    campaigns = list(case.dataset.campaigns.values_list("name", flat=True))
    addresses = []
    for route, methods in make_schema()["paths"].items():
        if "get" not in methods:
            continue
        if route.endswith("/jobs/{number}/files/{file}"):
            pairs = JobFile.objects.values_list("job_run", "pk")
            addresses += [f"/jobs/{job}/files/{file}" for job, file in pairs]
            continue
        names = {
            **arguments,
            "name": campaigns if "/campaigns/" in route else [case.dataset.name],
            "file": list(ReleaseFile.objects.values_list("pk", flat=True)),
        }
        used = [name for name in names if f"{{{name}}}" in route]
        for values in itertools.product(*(names[name] for name in used)):
            addresses.append(route.removeprefix("/api/v1").format(**dict(zip(used, values, strict=True))))
    addresses += [f"/datasets/{case.dataset.name}/turns?tag=scenario:{case.plant('tag')}"]
    return addresses


def test_no_raw_text_without_its_scope(tmp_path: Path) -> None:
    User.objects.create_superuser("superuser")
    importer = make_user("curator", name="importer")
    case = make_raw_case(tmp_path, "external", importer)
    scan_new_text(case.dataset)
    addresses = list_addresses(case)
    assert len(addresses) > 40
    reader = Caller(importer)
    telling = [address for address in addresses if case.word in read(reader, address)]
    assert len(telling) > 8
    callers = [Caller(importer, ALL_BUT_RAW), *(Caller(make_user(role)) for role in ("lead", "viewer"))]
    callers += [Caller(make_user("privacy officer"), [each for each in ALL_BUT_RAW if each != "audit:read"])]
    leaks = [
        (caller.user.username, address)
        for caller in callers
        for address in addresses
        if case.word in read(caller, address)
    ]
    assert not leaks


def read(caller: Caller, address: str) -> str:
    """The answer, without what was sent: an error may name a filter."""
    response = caller("GET", address)
    assert response.status_code < 500, address
    return str(read_content(response).decode(errors="replace")) + str(response.headers)
