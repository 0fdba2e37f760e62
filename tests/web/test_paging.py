"""Keyset pages: forwards and backwards, every row exactly once, whatever lies between."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from datasets_app.catalog.rows import session_pages
from datasets_app.models import CheckFinding, CheckReport, Dataset, Session, Turn
from tests import factories

pytestmark = pytest.mark.xdist_group("paging")


@pytest.fixture(scope="module")
def three_datasets(rows_of_module: None, tmp_path_factory: pytest.TempPathFactory) -> int:
    """The one in the middle, which has sessions of 1 to 130 turns."""
    path = tmp_path_factory.mktemp("three")
    factories.make_dataset(path, factories.make_sessions(30), "before")
    lines = [
        line for number in (1, 3, 130, 2, 50, 51, 7) for line in factories.make_session(f"m{number}", number)
    ]
    middle = factories.make_dataset(path, lines, "middle")
    factories.make_dataset(path, factories.make_sessions(30), "after")
    return middle.pk


@pytest.fixture(scope="module")
def many_sessions(rows_of_module: None, tmp_path_factory: pytest.TempPathFactory) -> int:
    """130 sessions, of which some have the same date, number of turns or number of findings, or no date."""
    lines = [
        line
        for number in range(130)
        for line in factories.make_session(
            f"s{number}",
            number % 3 + 1,
            **({"timestamp": f"2026-03-{number % 20 + 1:02}T10:00:00Z"} if number % 2 else {}),
        )
    ]
    dataset = factories.make_dataset(tmp_path_factory.mktemp("many"), lines, "many")
    report = CheckReport.objects.create(dataset=dataset, totals={})
    CheckFinding.objects.bulk_create(
        CheckFinding(report=report, code="W205", message="Odd", session=session)
        for number, session in enumerate(dataset.sessions.all())
        for _ in range(max(0, number % 10 - 5))
    )
    return dataset.pk


def links(client: Client, address: str, rel: str, pattern: str) -> list[list[str]]:
    """The rows of each page, following the link to the next (or the previous) one."""
    pages = []
    for _ in range(50):
        html = client.get(address).content.decode()
        pages.append(re.findall(pattern, html))
        link = re.search(rf'rel="{rel}"[^>]*?href="(\?[^"]*)"', html)
        if not link:
            return pages
        address = address.split("?")[0] + unescape(link[1])
    raise AssertionError("the pages do not end")


SORTS = ("", "-imported", "session", "-session", "turns", "-turns", "date", "-date", "findings", "-findings")
ROW = r'href="/admin/datasets_app/session/(\d+)/change/\?turn=(\d+)#'


@pytest.mark.parametrize("role", ["", "user"])
@pytest.mark.parametrize("of_one", [True, False])
def test_every_turn_is_on_one_page(sign_in: Any, three_datasets: int, of_one: bool, role: str) -> None:
    client = sign_in("curator")
    turns = Turn.objects.filter(**({"session__dataset": three_datasets} if of_one else {}))
    turns = turns.filter(**({"role": role} if role else {}))
    expected = [(str(a), str(b)) for a, b in turns.in_order().values_list("session_id", "turn_index")]
    query = f"?role={role}" + (f"&dataset={three_datasets}" if of_one else "")
    forwards = links(client, reverse("admin:datasets_app_turn_changelist") + query, "next", ROW)
    assert [row for page in forwards for row in page] == expected
    assert all(len(page) == 50 for page in forwards[:-1])
    backwards = links(client, reverse("admin:datasets_app_turn_changelist") + query + "&last=1", "prev", ROW)
    assert [row for page in reversed(backwards) for row in page] == expected


@pytest.mark.parametrize("walked", [2, 2_000])
@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("prefix", ["", "s1"])
def test_every_session_is_on_one_page(
    boosted: Any,
    many_sessions: int,
    monkeypatch: pytest.MonkeyPatch,
    prefix: str,
    sort: str,
    walked: int,
) -> None:
    monkeypatch.setattr(session_pages, "WALKED_SESSIONS", walked)
    address = (
        reverse("admin:datasets_app_dataset_sessions", args=[many_sessions]) + f"?id={prefix}&sort={sort}"
    )
    sessions = Session.objects.filter(dataset=many_sessions, session_id__startswith=prefix)
    expected = set(sessions.values_list("session_id", flat=True))
    pattern = r'/session/\d+/change/">([^<]+)<'
    for start, rel in ((address, "next"), (address + "&last=1", "prev")):
        rows = [row for page in links(boosted, start, rel, pattern) for row in page]
        assert len(rows) == len(expected)
        assert set(rows) == expected


@pytest.mark.parametrize("walked", [2, 2_000])
def test_whole_pages_lead_to_whole_pages(
    sign_in: Any, many_sessions: int, monkeypatch: pytest.MonkeyPatch, walked: int
) -> None:
    """Without scripts, too."""
    monkeypatch.setattr(session_pages, "WALKED_SESSIONS", walked)
    address = reverse("admin:datasets_app_dataset_sessions", args=[many_sessions])
    client = sign_in("curator")
    for start, rel in ((address, "next"), (address + "?last=1", "prev")):
        pages = links(client, start, rel, r'<title>|/session/\d+/change/">([^<]+)<')
        assert [page.count("") for page in pages] == [1] * len(pages)
        assert sorted(row for page in pages for row in page if row) == sorted(f"s{n}" for n in range(130))


def test_every_finding_is_on_one_page(sign_in: Any, dataset: Dataset) -> None:
    report = CheckReport.objects.create(dataset=dataset, totals={"E301": 80, "W205": 60})
    CheckFinding.objects.bulk_create(
        CheckFinding(report=report, code="W205" if number % 7 < 3 else "E301", message=f"found {number}.")
        for number in range(140)
    )
    address = reverse("admin:datasets_app_dataset_checks", args=[dataset.pk])
    client = sign_in("curator")
    for start, rel in ((address, "next"), (address + "?last=1", "prev")):
        rows = [row for page in links(client, start, rel, r"found (\d+)\.") for row in page]
        assert sorted(map(int, rows)) == list(range(140))
    only = links(client, address + "?code=W205", "next", r"found (\d+)\.")
    assert sorted(int(row) for page in only for row in page) == [n for n in range(140) if n % 7 < 3]


def test_history_is_paged_from_the_newest(sign_in: Any, dataset: Dataset) -> None:
    from datasets_app.core import audit

    for number in range(120):
        audit.record("probe", actor=None, dataset_name=dataset.name, number=f"no{number}.")
    address = reverse("admin:datasets_app_dataset_history", args=[dataset.pk])
    client = sign_in("curator")
    newest_first = [f"{number}" for number in reversed(range(120))]
    pages = links(client, address, "next", r"no(\d+)\.")
    assert [row for page in pages for row in page] == newest_first
    pages = links(client, address + "?last=1", "prev", r"no(\d+)\.")
    assert [row for page in reversed(pages) for row in page] == newest_first


@pytest.mark.parametrize("place", ["x", "1", "1.2.3", "-1.0", "9" * 30, "1.x", "\0", "²"])
def test_a_place_that_is_none_begins_at_the_beginning(sign_in: Any, dataset: Dataset, place: str) -> None:
    client = sign_in("curator")
    for name, arguments in (("turn_changelist", []), ("dataset_sessions", [dataset.pk])):
        for where in ("after", "before"):
            response = client.get(reverse(f"admin:datasets_app_{name}", args=arguments), {where: place})
            assert response.status_code == 200
            if not (name == "dataset_sessions" and place in {"1", "9" * 30}):
                assert "s1" in response.content.decode()


def test_long_sessions_are_paged_and_a_turn_is_found(sign_in: Any, tmp_path: Path) -> None:
    dataset = factories.make_dataset(tmp_path, factories.make_session("long", 450))
    address = reverse("admin:datasets_app_session_change", args=[dataset.sessions.get().pk])
    client = sign_in("curator")

    def shown(query: str) -> list[int]:
        return [int(n) for n in re.findall(r'id="turn-(\d+)"', client.get(address + query).content.decode())]

    assert shown("") == list(range(1, 201))
    assert shown("?from=201") == list(range(201, 401))
    assert shown("?from=401") == list(range(401, 451))
    assert shown("?turn=7") == list(range(1, 201))
    assert 333 in shown("?turn=333")
    assert shown("?turn=9999") == shown("?from=x")[:0]
    assert 'href="?from=201"' in client.get(address).content.decode()
    assert 'href="?from=1"' in client.get(address + "?from=201").content.decode()
