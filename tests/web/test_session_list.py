"""The list of the sessions of a dataset: filters, columns, saved views, and what is done with a selection."""

import re
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from datasets_app.browsing import change_sessions, facets
from datasets_app.browsing.change_sessions import exclude_sessions, tag_sessions
from datasets_app.catalog.rows import session_pages
from datasets_app.core.errors import UserError
from datasets_app.models import (
    AuditEvent,
    CheckFinding,
    CheckReport,
    Dataset,
    JobRun,
    SavedView,
    Session,
    SessionComment,
    SessionSelection,
    Turn,
)
from tests import factories


@pytest.fixture
def talks(db: None, tmp_path: Path) -> Dataset:
    """Four sessions of 2, 4, 2 and 2 turns."""
    lines = [
        line
        for session_id, turns, fields in (
            ("a1", 2, {"text": "Where is my refund?", "tags": ["scenario:refund"], "persona_id": "warm"}),
            ("a2", 4, {"text": "The order is late", "timestamp": "2026-03-02T10:00:00Z"}),
            ("b1", 2, {"text": "Refunded, thanks", "timestamp": "2026-03-01T23:00:00Z"}),
            ("b_2", 2, {"text": "Nothing", "tags": ["scenario:other"]}),
        )
        for line in factories.make_session(session_id, turns, **fields)
    ]
    dataset = factories.make_dataset(tmp_path, lines)
    earlier = CheckReport.objects.create(dataset=dataset, totals={"W205": 2})
    a1 = Session.objects.get(dataset=dataset, session_id="a1")
    for _ in range(2):
        CheckFinding.objects.create(report=earlier, code="W205", message="Odd", session=a1, turn_index=1)
    report = CheckReport.objects.create(dataset=dataset, totals={"W205": 1})
    b1 = Session.objects.get(dataset=dataset, session_id="b1")
    CheckFinding.objects.create(report=report, code="W205", message="Odd", session=b1, turn_index=1)
    Session.objects.filter(dataset=dataset, session_id__startswith="b").update(split="train")
    Dataset.objects.filter(pk=dataset.pk).update(split_settings={"ratios": [1, 0, 0]})
    return dataset


def address(dataset: Dataset, page: str = "sessions", *arguments: int | str) -> str:
    return reverse(f"admin:datasets_app_dataset_{page}", args=[dataset.pk, *arguments])


def listed(client: Any, dataset: Dataset, **query: Any) -> list[str]:
    rows = client.get(address(dataset), query).context["page"].rows
    return [row.session_id for row in rows]


FILTERS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, ["a1", "a2", "b1", "b_2"]),
    ({"q": "refun"}, ["a1", "b1"]),
    ({"q": "REFUND my"}, ["a1"]),
    ({"q": '"my refund"'}, ["a1"]),
    ({"q": "refund or late"}, ["a1", "a2"]),
    ({"q": "zzz"}, []),
    ({"tag": "scenario:refund"}, ["a1"]),
    ({"persona": "warm"}, ["a1"]),
    ({"id": "b"}, ["b1", "b_2"]),
    ({"id": "b_"}, ["b_2"]),
    ({"id": "%"}, []),
    ({"since": "2026-03-02"}, ["a2"]),
    ({"until": "2026-03-01"}, ["b1"]),
    ({"since": "2026-03-01", "until": "2026-03-02"}, ["a2", "b1"]),
    ({"split": "train"}, ["b1", "b_2"]),
    ({"split": "none", "q": "refund"}, ["a1"]),
    ({"code": "W205"}, ["b1"]),
    ({"code": "any"}, ["b1"]),
    ({"code": "E401"}, []),
    ({"labels": "any"}, []),
    ({"labels": "none"}, ["a1", "a2", "b1", "b_2"]),
    ({"min": "3"}, ["a2"]),
    ({"max": "0"}, []),
    ({"reply_min": "17"}, ["a1", "a2"]),
    ({"reply_min": "17", "reply_max": "18"}, ["a2"]),
    ({"reply_max": "0"}, []),
    ({"excluded": "no"}, ["a1", "a2", "b1", "b_2"]),
    ({"excluded": "yes"}, []),
    ({"commented": "yes"}, []),
    ({"meta": "model"}, []),
    ({"kind": "EMAIL"}, []),
    ({"labels": "disputed"}, []),
    ({"tag": ["scenario:refund", "scenario:other"]}, ["a1", "b_2"]),
    ({"tag": ["scenario:refund", "other:one"]}, []),
    ({"tag": ["scenario:refund", "scenario:other"], "split": ["train", "test"]}, ["b_2"]),
    ({"split": ["train", "none"], "max": "2"}, ["a1", "b1", "b_2"]),
    ({"without": "tag=scenario:refund"}, ["a2", "b1", "b_2"]),
    ({"without": ["persona=warm", "code=any", "split=none"]}, ["b_2"]),
    ({"without": "labels=any", "q": "refun"}, ["a1", "b1"]),
    ({"without": ["q=refund", "tag"], "code": ["x", "W205"]}, ["b1"]),
    ({"max": "2", "sort": "-imported"}, ["b_2", "b1", "a1"]),
    ({"sort": "-turns"}, ["a2", "b_2", "b1", "a1"]),
    # What has no date comes last either way.
    ({"sort": "date"}, ["b1", "a2", "a1", "b_2"]),
    ({"sort": "-date"}, ["a2", "b1", "b_2", "a1"]),
    ({"sort": "date", "split": "train"}, ["b1", "b_2"]),
    ({"sort": "-findings"}, ["b1", "b_2", "a2", "a1"]),
    ({"sort": "findings", "max": "2"}, ["a1", "b_2", "b1"]),
    (
        {"since": "soon", "code": "x", "min": "-1", "split": "none of these", "sort": "text"},
        ["a1", "a2", "b1", "b_2"],
    ),
]


@pytest.mark.parametrize("walked", [1, 2_000])
def test_filters(boosted: Any, talks: Dataset, monkeypatch: pytest.MonkeyPatch, walked: int) -> None:
    """Both steps of reading a page find the same."""
    monkeypatch.setattr(session_pages, "WALKED_SESSIONS", walked)
    wrong = {
        str(query): found
        for query, expected in FILTERS
        if (found := listed(boosted, talks, **query)) != expected
    }
    assert wrong == {}


def count_facets(client: Any, dataset: Dataset, **query: Any) -> dict[str, dict[str, int]]:
    facets = client.get(address(dataset, "session_facets"), query).context["facets"]
    return {facet.title: {value["label"]: value["count"] for value in values} for facet, values in facets}


def test_facets_count_what_the_list_shows(sign_in: Any, talks: Dataset) -> None:
    client = sign_in("curator")
    Turn.objects.filter(dataset=talks, session__session_id="b1").update(
        metadata={"model": "m1"}, extra={"lang": "de"}
    )
    found = count_facets(client, talks)
    assert found["Tags: scenario"] == {"other": 1, "refund": 1}
    assert found["Personas"] == {"warm": 1}
    assert found["Splits"] == {"Train": 2, "No split": 2}
    assert found["Findings"] == {"W205": 1}
    assert found["Turns"] == {"2": 3, "3–4": 1}
    assert found["Metadata"] == {"lang": 1, "model": 1}
    assert found["Characters of a reply"] == {"0–50": 4}
    assert found["Dates"] == {"2026-03-01": 1, "2026-03-02": 1}
    assert count_facets(client, talks, q="refun")["Splits"] == {"Train": 1, "No split": 1}
    assert count_facets(client, talks, meta="model")["Metadata: model"] == {"m1": 1}
    html = client.get(address(talks, "session_facets"), {"q": "refun"}).content.decode()
    assert '<span id="session-count" hx-swap-oob="true">2</span>' in " ".join(html.split())


def test_a_value_of_a_facet_leads_to_its_sessions(boosted: Any, talks: Dataset) -> None:
    """And a second click to those of before; the order of the list stays."""
    exclude_sessions(talks, [Session.objects.get(dataset=talks, session_id="a2").pk])
    SessionComment.objects.create(dataset=talks, session=talks.sessions.first(), author_name="jo", text="?")
    url = address(talks, "session_facets")
    for facet, values in boosted.get(url, {"sort": "-turns"}).context["facets"]:
        for value in values:
            listing = boosted.get(value["url"])
            assert len(listing.context["page"].rows) == value["count"], (facet.title, value)
            assert listing.context["sort"] == "-turns"
            ((_, _, without),) = listing.context["chips"][:1]
            assert len(boosted.get(without).context["page"].rows) >= value["count"]
            again = boosted.get(url + "?" + value["url"].partition("?")[2]).context["facets"]
            (active,) = [other for _, others in again for other in others if other["is_active"]]
            assert len(boosted.get(active["url"]).context["page"].rows) == 4


@pytest.mark.parametrize(
    ("day", "labels"),
    [
        ("2026-03-12", ["2026-03-01", "2026-03-12"]),
        ("2026-03-20", ["2026-02-23–03-01", "2026-03-16–03-22"]),
        ("2026-11-20", ["2026-03", "2026-11"]),
        ("2028-11-20", ["2026-01–03", "2028-10–12"]),
        ("2039-11-20", ["2026", "2039"]),
        ("9999-99-99", ["2026-03-01", "9999-99-99"]),
    ],
)
def test_dates_are_counted_by_the_period_that_makes_few(
    boosted: Any, talks: Dataset, day: str, labels: list[str]
) -> None:
    """Those of a period within the chosen dates lead to its sessions within these."""
    Turn.objects.filter(dataset=talks, session__session_id="a2").update(timestamp=f"{day}T10:00:00Z")
    assert list(count_facets(boosted, talks)["Dates"]) == labels
    for query in ({}, {"since": "2026-03-01"}, {"until": day[:7]}, {"since": "2026-03", "until": day}):
        facets = boosted.get(address(talks, "session_facets"), query).context["facets"]
        for value in next(values for facet, values in facets if facet.title == "Dates"):
            assert len(boosted.get(value["url"]).context["page"].rows) == value["count"], (query, value)


def test_facets_of_many_sessions_are_estimates(
    boosted: Any, talks: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facets, "MAX_COUNTED", 2)
    monkeypatch.setattr(session_pages, "SAMPLE_PARTS", 2)
    assert sum(count_facets(boosted, talks)["Splits"].values()) == 4
    html = " ".join(boosted.get(address(talks, "session_facets")).content.decode().split())
    assert "about 4</span>" in html
    assert "Estimated from 2 sessions" in html
    # A rare value is counted exactly.
    assert count_facets(boosted, talks, tag="scenario:refund")["Splits"] == {"No split": 1}


def test_what_cannot_be_filtered_by_is_said(sign_in: Any, talks: Dataset) -> None:
    client = sign_in("curator")
    page = client.get(address(talks), {"split": "none of these", "since": "soon", "tag": "nowhere"})
    assert page.context["ignored"] == [("From", "soon"), ("Split", "none of these")]
    html = " ".join(page.content.decode().split())
    assert 'Ignored filters: from <b dir="auto">soon</b>, split' in html
    turns = f"{reverse('admin:datasets_app_turn_changelist')}?dataset={talks.pk}&role=narrator"
    assert "Ignored filters: role" in client.get(turns).content.decode()


def test_a_filter_fetches_the_list_alone(sign_in: Any, talks: Dataset) -> None:
    """What the page would show, and record; of a deleted dataset the page, which says so."""
    client, boosted = sign_in("curator"), {"HX-Boosted": "true"}
    Dataset.objects.filter(pk=talks.pk).update(origin="production", status="raw")
    page = client.get(address(talks), {"q": "refun"})
    part = client.get(address(talks), {"q": "refun"}, headers=boosted)
    assert part.context["page"].rows == page.context["page"].rows != []
    assert part.content.decode().strip().startswith('<div class="ad-browse-head"')
    # Neither the frame nor the header of the dataset.
    assert "steps" not in part.context
    assert "has_permission" not in part.context
    read, again = AuditEvent.objects.filter(action="read_raw_text")
    assert read.details == again.details
    Dataset.objects.filter(pk=talks.pk).update(status="expired")
    assert "<html" in client.get(address(talks), headers=boosted).content.decode()


def test_columns_show_what_is_chosen(sign_in: Any, talks: Dataset) -> None:
    client = sign_in("curator")
    page = client.get(address(talks), {"col": ["date", "message"], "q": "refun"}).content.decode()
    assert "2026-03-01" in page
    assert "Where is my refund?" in page
    assert 'data-label="Tags"' not in page
    page = client.get(address(talks), {"sort": "-date"}).content.decode()
    assert 'data-label="Date"' in page
    assert 'aria-sort="descending"' in page
    page = client.get(address(talks)).content.decode()
    assert 'data-label="Date"' not in page
    assert "scenario:refund" in page
    assert "W205" in page


def test_withheld_text_is_not_searched_or_sorted(sign_in: Any, talks: Dataset) -> None:
    Dataset.objects.filter(pk=talks.pk).update(origin="production", status="raw")
    client = sign_in("viewer")
    page = client.get(address(talks), {"q": "zzz", "tag": "zzz", "col": ["message", "date", "tags"]})
    html = page.content.decode()
    assert len(page.context["page"].rows) == 4
    assert "refund" not in html.replace("refun finds refund", "")
    for sort in ("-session", "-date"):
        assert [row.pk for row in client.get(address(talks), {"sort": sort}).context["page"].rows] == [
            row.pk for row in page.context["page"].rows
        ]
    assert page.context["ignored"] == [("Words", "zzz"), ("Tag", "zzz")]
    assert set(count_facets(client, talks, q="zzz", meta="zzz")) == {
        "Splits",
        "Findings",
        "Turns",
        "Characters of a reply",
    }
    response = client.get(address(talks, "session_facets"), {"q": "zzz"})
    assert response.context["sample"].estimate == 4


def test_several_values_of_a_filter_are_chips_views_and_selections(sign_in: Any, talks: Dataset) -> None:
    client = sign_in("curator")
    query = "tag=scenario%3Arefund&tag=scenario%3Aother&without=split%3Dtrain"
    page = client.get(f"{address(talks)}?{query}")
    assert [chip[:2] for chip in page.context["chips"]] == [
        ("Tag", "scenario:refund"),
        ("Tag", "scenario:other"),
        ("Without split", "Train"),
    ]
    first, _, last = (url for _, _, url in page.context["chips"])
    assert first == f"{address(talks)}?{query.partition('&')[2]}"
    assert [row.session_id for row in client.get(last).context["page"].rows] == ["a1", "b_2"]
    client.post(f"{address(talks, 'save_view', 'sessions')}?{query}", {"name": "Both"})
    assert SavedView.objects.get().query == query
    client.post(f"{address(talks, 'select', 'sessions')}?{query}", {"all": "1"})
    assert SessionSelection.objects.get().keys == [talks.sessions.get(session_id="a1").pk]


def test_a_facet_adds_a_value_or_leaves_its_sessions_out(sign_in: Any, talks: Dataset) -> None:
    client = sign_in("curator")

    def find(label: str, **query: Any) -> dict[str, Any]:
        facets = client.get(address(talks, "session_facets"), query).context["facets"]
        return next(value for _, values in facets for value in values if value["label"] == label)

    assert listed_at(client, find("Train", split="none")["url"]) == 4
    assert listed_at(client, find("Train", split="none")["without_url"]) == 2
    assert listed_at(client, find("refund", split="none")["without_url"]) == 1
    Turn.objects.filter(dataset=talks, session__session_id="b1").update(metadata={"model": "m1"})
    assert find("m1", meta="model")["url"].endswith("?meta=model%3Dm1")
    assert listed_at(client, f"{address(talks)}?tag=scenario:refund&meta=model") == 0


def listed_at(client: Any, url: str) -> int:
    return len(client.get(url).context["page"].rows)


# --- saved views ----------------------------------------------------------------------------------------


def test_views_are_saved_for_oneself_or_shared(sign_in: Any, talks: Dataset) -> None:
    curator, lead = sign_in("curator"), sign_in("lead")
    save = f"{address(talks, 'save_view', 'sessions')}?q=refun&col=tags&sort=-turns&after=9"
    curator.post(save, {"name": "Refunds"})
    curator.post(
        f"{address(talks, 'save_view', 'sessions')}?split=train", {"name": "Training", "shared": "on"}
    )
    mine = SavedView.objects.get(name="Refunds")
    assert (mine.query, mine.has_text, mine.shared) == ("q=refun&col=tags&sort=-turns", True, False)
    assert "Refunds" in curator.get(address(talks)).content.decode()
    seen = lead.get(address(talks)).content.decode()
    assert "Training" in seen
    assert "Refunds" not in seen
    assert lead.post(address(talks, "delete_view", mine.pk)).status_code == 404
    curator.post(address(talks, "delete_view", mine.pk))
    assert not SavedView.objects.filter(pk=mine.pk).exists()


# --- selections -----------------------------------------------------------------------------------------


def test_a_job_leads_back_to_what_was_selected_from(sign_in: Any, talks: Dataset, empty_queue: None) -> None:
    client = sign_in("curator")
    query = "q=refun&sort=-turns"
    listing = f"{address(talks)}?{query}"
    selection = client.post(f"{address(talks, 'select', 'sessions')}?{query}", {"all": "1"})["Location"]
    assert f'href="{escape(listing)}">Back' in client.get(selection).content.decode()
    job = client.post(selection, {"action": "tag", "tag": "seen"})["Location"]
    assert f'href="{escape(listing)}">Back' in client.get(job).content.decode()
    outside = f"{job.partition('?')[0]}?back=https://example.org/"
    assert "example.org" not in client.get(outside).content.decode()


def test_sessions_with_a_finding_are_excluded_from_its_list(
    sign_in: Any, talks: Dataset, empty_queue: None
) -> None:
    client = sign_in("curator")
    listing = f"{address(talks, 'checks')}?code=W205"
    page = client.get(listing).content.decode()
    assert "Refunded, thanks" in page
    (action,) = re.findall(r'action="([^"]+/sessions/select/[^"]+)"', page)
    job = client.post(unescape(action), {"all": "1", "action": "exclude"})["Location"]
    assert f'href="{listing}">Back' in client.get(job).content.decode()
    assert JobRun.objects.get().operation == "exclude_sessions"
    assert SessionSelection.objects.get().keys == [talks.sessions.get(session_id="b1").pk]


def test_selected_sessions_are_tagged_and_excluded(sign_in: Any, talks: Dataset, empty_queue: None) -> None:
    client = sign_in("curator")
    selecting = f"{address(talks, 'select', 'sessions')}?q=refun"
    ticked = Session.objects.get(dataset=talks, session_id="a2").pk
    one = client.post(selecting, {"row": [ticked, 9**9]})
    assert SessionSelection.objects.get().keys == [ticked]
    page = client.get(one.headers["Location"])
    assert "1 session" in page.content.decode()
    matching = client.post(selecting, {"all": "1"}).headers["Location"]
    keys = SessionSelection.objects.latest("pk").keys
    assert keys == sorted(Session.objects.filter(session_id__in=["a1", "b1"]).values_list("pk", flat=True))
    refused = client.post(matching, {"action": "tag", "tag": "jo@example.org"}).content.decode()
    assert "A tag has up to 100 letters" in refused
    client.post(matching, {"action": "tag", "tag": "review:refunds"})
    factories.run_task(JobRun.objects.get(operation="tag_sessions"))
    tagged = Turn.objects.filter(dataset=talks, tags__contains=["review:refunds"])
    assert sorted(set(tagged.values_list("session__session_id", flat=True))) == ["a1", "b1"]
    client.post(matching, {"action": "exclude"})
    factories.run_task(JobRun.objects.get(operation="exclude_sessions"))
    assert Session.objects.filter(dataset=talks, excluded=True).count() == 2
    stored = str(list(JobRun.objects.values_list("parameters", flat=True)))
    assert "refun" not in stored.replace("review:refunds", "")
    assert sign_in("lead").get(matching).status_code == 404


def test_a_tag_is_no_personal_data(talks: Dataset) -> None:
    keys = list(talks.sessions.values_list("pk", flat=True))
    for tag in ("", "two words", "10.1.2.3", "jane-fonseca", "a" * 101):
        with pytest.raises(UserError):
            tag_sessions(talks, keys, tag)
    assert tag_sessions(talks, keys, "x")["turns"] == 10
    assert tag_sessions(talks, keys, "x")["turns"] == 0
    assert tag_sessions(talks, keys, "x", remove=True)["turns"] == 10
    Dataset.objects.filter(pk=talks.pk).update(legal_hold=True)
    with pytest.raises(UserError, match="hold"):
        tag_sessions(talks, keys, "x")


def test_a_few_sessions_are_changed_at_once_and_back(
    sign_in: Any, talks: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Undoing leaves alone what was so before."""
    client, url = sign_in("curator"), address(talks, "change_sessions")
    a1, a2 = (Session.objects.get(dataset=talks, session_id=name).pk for name in ("a1", "a2"))
    exclude_sessions(talks, [a2])
    done = client.post(url, {"row": [a1, a2], "action": "exclude"}).json()
    assert done["message"] == "1 session excluded"
    assert client.post(url, done["undo"]).json() == {"message": "Undone", "undo": None}
    assert list(Session.objects.filter(dataset=talks, excluded=True).values_list("pk", flat=True)) == [a2]
    tagged = Turn.objects.filter(dataset=talks, tags__contains=["scenario:refund"])
    done = client.post(url, {"row": [a1, a2], "action": "tag", "tag": "scenario:refund"}).json()
    assert done["message"] == "scenario:refund added to 4 turns"
    assert tagged.count() == 6
    assert client.post(url, done["undo"]).status_code == 200
    assert tagged.count() == 2
    assert client.post(url, {"row": [a2], "action": "untag", "tag": "scenario:refund"}).json()["undo"] is None
    for fields, error in (
        ({"action": "tag", "tag": "jo@example.org"}, "A tag has up to 100"),
        ({"action": "erase"}, "Unknown action"),
    ):
        assert error in client.post(url, {"row": [a1], **fields}).json()["error"]
    assert sign_in("lead").post(url, {**done["undo"]}).status_code in {403, 404}
    assert sign_in("viewer").post(url, {"row": [a1], "action": "exclude"}).status_code == 403
    monkeypatch.setattr(change_sessions, "MAX_TURNS_AT_ONCE", 5)
    assert "in a job" in client.post(url, {"row": [a1, a2], "action": "exclude"}).json()["error"]


def test_sessions_of_a_finding_are_selected(sign_in: Any, talks: Dataset) -> None:
    client, select = sign_in("curator"), f"{address(talks, 'select', 'sessions')}?code=W205"
    assert (
        f'action="{select}&amp;back='
        in client.get(address(talks, "checks"), {"code": "W205"}).content.decode()
    )
    client.post(select, {"all": "1"})
    assert SessionSelection.objects.get().keys == [talks.sessions.get(session_id="b1").pk]
    assert select not in sign_in("viewer").get(address(talks, "checks"), {"code": "W205"}).content.decode()


def test_nobody_selects_nothing(sign_in: Any, talks: Dataset) -> None:
    client = sign_in("curator")
    for page in ("sessions", "turns"):
        response = client.post(address(talks, "select", page), {}, follow=True)
        assert f"No {page} are selected" in response.content.decode()
    assert client.post(address(talks, "select", "rows"), {}).status_code == 404
    assert not SessionSelection.objects.exists()


# --- the list of turns ----------------------------------------------------------------------------------


def test_views_of_turns_are_of_their_list(sign_in: Any, talks: Dataset) -> None:
    curator = sign_in("curator")
    save = address(talks, "save_view", "turns")
    curator.post(
        f"{save}?dataset={talks.pk}&q=refun&tag=&role=user&after=9", {"name": "Asked", "shared": "on"}
    )
    view = SavedView.objects.get()
    assert (view.page, view.query, view.has_text) == ("turns", "q=refun&role=user", True)
    turns = f"{reverse('admin:datasets_app_turn_changelist')}?dataset={talks.pk}"
    seen = curator.get(f"{turns}&role=user&q=refun").context["views"]
    assert [(row.url, row.is_current) for row in seen] == [(f"{turns}&q=refun&role=user", True)]
    assert curator.get(address(talks)).context["views"] == []
    # A name is of one list: a view must not replace one that is seen nowhere beside it.
    refused = curator.post(address(talks, "save_view", "sessions"), {"name": "Asked"}, follow=True)
    assert "in the list of turns" in refused.content.decode()
    # Those who may not read see the name of a view without text.
    refused = curator.post(f"{save}?role=user", {"name": "Mail of jo@example.org"}, follow=True)
    assert "The name looks like personal data (EMAIL)" in refused.content.decode()
    assert SavedView.objects.get().page == "turns"
    Dataset.objects.filter(pk=talks.pk).update(origin="production", status="raw")
    viewer = sign_in("viewer")
    assert viewer.get(turns).context["views"] == []
    viewer.post(f"{save}?q=refun&role=user", {"name": "Blind"})
    assert SavedView.objects.get(name="Blind").query == "role=user"
    assert curator.post(address(talks, "delete_view", view.pk)).headers["Location"] == turns


def test_selected_turns_are_tagged_alone(sign_in: Any, talks: Dataset, empty_queue: None) -> None:
    client = sign_in("curator")
    ticked = Turn.objects.get(dataset=talks, session__session_id="a2", turn_index=3)
    turns = f"{reverse('admin:datasets_app_turn_changelist')}?dataset={talks.pk}"
    assert f'name="row" value="{ticked.pk}"' in client.get(turns).content.decode()
    one = client.post(address(talks, "select", "turns"), {"row": [ticked.pk, 9**9]}).headers["Location"]
    chosen = SessionSelection.objects.get()
    assert (chosen.keys, chosen.turns) == ([ticked.session_id], [ticked.pk])
    assert "<b>1 turn</b> of 1 session" in " ".join(client.get(one).content.decode().split())
    client.post(one, {"action": "tag", "tag": "review:late"})
    factories.run_task(JobRun.objects.get(operation="tag_sessions"))
    assert Turn.objects.get(dataset=talks, tags__contains=["review:late"]) == ticked
    matching = f"{address(talks, 'select', 'turns')}?q=refun&role=user"
    client.post(matching, {"all": "1"})
    expected = Turn.objects.filter(dataset=talks, role="user", text__icontains="refund")
    assert SessionSelection.objects.latest("pk").turns == sorted(expected.values_list("pk", flat=True))
    client.post(f"{address(talks, 'select', 'turns')}?role=assistant", {"all": "1"})
    assert len(SessionSelection.objects.latest("pk").turns or ()) == 5
    # What raw text has must not be told by how many turns match.
    Dataset.objects.filter(pk=talks.pk).update(origin="production", status="raw")
    refused = sign_in("viewer").post(matching, {"all": "1"}, follow=True)
    assert "No turns are selected" in refused.content.decode()


def test_excluded_sessions_are_not_exported(talks: Dataset, tmp_path: Path) -> None:
    from datasets_app.catalog.rows.turn_reader import Selection
    from datasets_app.exporting.export_dataset import export_to_path
    from datasets_app.exporting.sample_dataset import SampleOptions, sample_to_file
    from datasets_app.releasing.freeze import read_dataset_lines

    keys = dict(talks.sessions.values_list("session_id", "pk"))
    exclude_sessions(talks, [keys["a2"]])
    for format in ("turns", "openai", "csv"):
        out = tmp_path / f"out-{format}"
        result = export_to_path(talks, out, format=format)
        assert (result.sessions, result.turns) == (3, 6)
        assert result.notices[0] == "1 session excluded"
        assert "late" not in out.read_text()
    assert len(list(read_dataset_lines(talks))) == 6
    chosen = Selection(chosen=(keys["a1"], keys["a2"]))
    assert export_to_path(talks, tmp_path / "chosen", selection=chosen).sessions == 1
    assert "1 session excluded" in Path(tmp_path, "out-turns.meta.yaml").read_text()
    assert sample_to_file(talks, tmp_path / "sample.jsonl", SampleOptions(10)).sessions == 3
    with pytest.raises(UserError, match="excluded"):
        export_to_path(talks, tmp_path / "none", selection=Selection(chosen=(keys["a2"],)))
    exclude_sessions(talks, list(keys.values()))
    with pytest.raises(UserError, match="excluded"):
        export_to_path(talks, tmp_path / "none")
    assert exclude_sessions(talks, list(keys.values()), include=True) == {"sessions": 4}
    assert export_to_path(talks, tmp_path / "all").sessions == 4
