"""The start page says what there is and what wants attention."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from datasets_app.catalog import text_gates
from datasets_app.models import AttentionState, CheckReport, Dataset, JobFile, JobRun
from tests import factories


def start_page(client: Any) -> str:
    return client.get(reverse("admin:index")).content.decode()


def test_an_empty_installation_says_how_to_begin(curator: Any) -> None:
    html = start_page(curator)
    assert "No datasets yet" in html
    assert "Load the demonstration" in html
    assert "First steps" in html
    assert reverse("admin:datasets_app_dataset_import") in html


def test_the_demonstration_is_loaded_into_an_empty_installation_only(sign_in: Any) -> None:
    url = reverse("admin:annotations_app_campaign_load_demo")
    assert sign_in("viewer").post(url).status_code == 403
    client = sign_in("curator")
    page = client.post(url, follow=True)
    dataset = Dataset.objects.get()
    assert page.redirect_chain[-1][0] == reverse("admin:datasets_app_dataset_change", args=[dataset.pk])
    assert "Loaded the demonstration" in page.content.decode()
    # What the demonstration has is not what people did themselves.
    steps = client.get(reverse("admin:index")).context["first_steps"]
    assert [(step.is_done, bool(step.url)) for step in steps] == [
        (False, True), (False, False), (False, True), (False, False), (False, True), (False, False),
    ]  # fmt: skip
    dataset.delete()
    Dataset.objects.create(name="other")
    client.post(url)
    assert Dataset.objects.get().name == "other"


def test_items_are_assigned_for_all_and_snoozed_for_oneself(sign_in: Any, dataset: Dataset) -> None:
    curator, officer = sign_in("curator"), sign_in("privacy officer")
    url = reverse("admin:datasets_app_dataset_attention")
    [entry] = curator.get(reverse("admin:index")).context["attention"]
    key = entry.item.key
    curator.post(url, {"key": key, "user": officer.user.pk})
    assert "Assigned to privacy_officer" in start_page(curator)
    assert "Assigned to you" in start_page(officer)
    curator.post(url, {"key": key, "days": "7"})
    html = start_page(curator)
    assert "has not been checked" not in html
    assert "Show 1 snoozed" in html
    assert "has not been checked" in start_page(officer)
    assert "has not been checked" in curator.get(reverse("admin:index"), {"snoozed": ""}).content.decode()
    curator.post(url, {"key": key, "user": ""})
    assert "Assigned to" not in start_page(officer).split("Assign to")[0]
    curator.post(url, {"key": "0" * 32, "days": "7"})
    curator.post(url, {"key": key, "days": "0"})
    assert AttentionState.objects.filter(snoozed_until__gt=timezone.now()).count() == 0


def test_the_last_weeks_and_the_first_steps(sign_in: Any, dataset: Dataset) -> None:
    client = sign_in("curator")
    CheckReport.objects.create(dataset=dataset, turn_count=4, error_count=1234)
    old = CheckReport.objects.create(dataset=dataset, turn_count=4, error_count=9)
    CheckReport.objects.filter(pk=old.pk).update(created_at=timezone.now() - timedelta(weeks=20))
    context = client.get(reverse("admin:index")).context
    trends = {trend.title: trend for trend in context["trends"]}
    assert (trends["Errors found"].total, trends["Errors found"].last, trends["Scrubs"].total) == (
        1234,
        1234,
        0,
    )
    assert [step.is_done for step in context["first_steps"]] == [True, True, False, False, False, False]
    client.post(reverse("admin:datasets_app_dataset_attention"), {"key": "first-steps", "days": "forever"})
    assert "First steps" not in start_page(client)


def test_without_a_role_there_is_a_sentence(sign_in: Any, dataset: Dataset) -> None:
    html = start_page(sign_in("none"))
    assert "Your account doesn't have access to datasets" in html
    assert dataset.name not in html


def test_what_wants_attention(curator: Any, dataset: Dataset, tmp_path: Path) -> None:
    clean = factories.make_dataset(tmp_path, [factories.make_turn("c")], "clean")
    Dataset.objects.filter(pk=clean.pk).update(license="MIT")
    CheckReport.objects.create(dataset=clean, turn_count=1)
    bad = factories.make_dataset(tmp_path, [factories.make_turn("b")], "bad")
    CheckReport.objects.create(dataset=bad)
    CheckReport.objects.create(dataset=bad, turn_count=1, error_count=3)
    now = timezone.now()
    failed = JobRun.objects.create(
        operation="import_dataset", dataset_name="broken", state="failed", error="Why.", finished_at=now
    )
    for name in ("q.jsonl", "r.jsonl"):
        JobFile.objects.create(
            job_run=failed, kind="quarantine", name=name, file="x", expires_at=now + timedelta(days=1)
        )
    html = start_page(curator)
    attention = html[html.index('id="attention"') : html.index('id="recent"')]
    assert "has not been checked and has no license" in attention
    assert "has 3 check errors" in attention
    assert "Why." in attention
    assert attention.count("has quarantined lines") == 1
    assert "2 files" in attention
    assert ">clean<" not in attention


def test_old_failures_are_no_news(curator: Any, dataset: Dataset) -> None:
    long_ago = timezone.now() - timedelta(days=30)
    JobRun.objects.create(operation="check_dataset", state="failed", error="Old.", finished_at=long_ago)
    assert "Old." not in start_page(curator)


def test_only_jobs_of_the_browser_are_told_to_have_failed(curator: Any, dataset: Dataset) -> None:
    JobRun.objects.create(
        operation="import_dataset",
        state="failed",
        error="In a terminal.",
        foreground=True,
        finished_at=timezone.now(),
    )
    assert "In a terminal." not in start_page(curator)


def test_checks_are_run_from_the_start_page_by_who_may(
    sign_in: Any, dataset: Dataset, empty_queue: None
) -> None:
    address = reverse("admin:datasets_app_dataset_run_checks", args=[dataset.pk])
    assert address not in start_page(sign_in("viewer"))
    client = sign_in("curator")
    assert f'action="{address}"' in start_page(client)
    client.post(address)
    assert JobRun.objects.get().operation == "check_dataset"


def test_who_only_labels_is_shown_the_way_to_the_queue(sign_in: Any, dataset: Dataset) -> None:
    annotator = sign_in("annotator")
    assert annotator.get("/")["Location"] == reverse("annotate:campaigns")
    annotator.user.is_staff = True
    annotator.user.save()
    assert annotator.get("/")["Location"] == reverse("admin:index")
    assert f'href="{reverse("annotate:campaigns")}"' in start_page(annotator)
    assert "Open campaigns" not in start_page(sign_in("viewer"))


PAGES = [
    "index",
    "dataset_changelist",
    "change",
    "checks",
    "scrub",
    "sharing",
    "sessions",
    "jobs",
    "history",
    "turns",
    "search",
    "session",
]


def test_more_rows_cost_no_more_queries(sign_in: Any, tmp_path: Path) -> None:
    client = sign_in("superuser")
    first = factories.make_dataset(tmp_path, factories.make_sessions(2), "first")
    text_gates.scan_and_describe(first)
    CheckReport.objects.create(dataset=first, error_count=1, totals={"E301": 1})
    few = {page: _queries(client, _address(page, first)) for page in PAGES}
    lines = factories.make_sessions(60, 6, text="A number.")  # one text: it is searched for personal data
    for number in range(8):
        other = factories.make_dataset(tmp_path, lines, f"other{number}")
        text_gates.scan_and_describe(other)
        CheckReport.objects.create(dataset=other, error_count=1, totals={"E301": 1})
        for state in ("running", "failed", "done"):
            JobRun.objects.create(operation="check_dataset", dataset=other, state=state, actor=client.user)
    many = {page: _queries(client, _address(page, other)) for page in PAGES}
    assert {page: count for page, count in many.items() if count > few[page] + _steps_more(page)} == {}


def _steps_more(page: str) -> int:
    """Pages that leave out a part that would be empty fetch it once it is not; a page of turns that the
    nearest dataset doesn't fill reads the next ones at once."""
    return {"dataset_changelist": 1, "index": 1, "turns": 1}.get(page, 0)


def _address(page: str, dataset: Dataset) -> str:
    turns = reverse("admin:datasets_app_turn_changelist")
    special = {
        "index": reverse("admin:index"),
        "dataset_changelist": reverse("admin:datasets_app_dataset_changelist"),
        "turns": turns,
        "search": f"{turns}?q=number",
        "session": reverse("admin:datasets_app_session_change", args=[dataset.sessions.first().pk]),
    }
    return special.get(page) or reverse(f"admin:datasets_app_dataset_{page}", args=[dataset.pk])


def _queries(client: Any, address: str) -> int:
    from django.db import connection

    client.get(address)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


def test_the_sidebar_marks_where_the_breadcrumbs_begin(sign_in: Any, dataset: Dataset) -> None:
    client = sign_in("superuser")

    def list_marked(name: str, *arguments: int) -> list[str]:
        html = client.get(reverse(f"admin:{name}", args=arguments)).content.decode()
        sidebar = html[html.index('id="nav-sidebar-apps"') : html.index('id="header-inner"')]
        links = re.findall(r"<a ([^>]*)>(.*?)</a>", sidebar, re.DOTALL)
        return [
            re.sub(r"<[^>]*>", " ", text).split()[-1] for marks, text in links if "aria-current=" in marks
        ]

    assert list_marked("annotations_app_campaign_dataset_labels", dataset.pk) == ["Datasets"]
    assert list_marked("datasets_app_dataset_change", dataset.pk) == ["Datasets"]
    assert list_marked("annotations_app_campaign_changelist") == ["Campaigns"]
    assert list_marked("annotations_app_campaign_add") == ["Campaigns"]
    assert list_marked("datasets_app_dataset_generate") == ["Generate"]


def test_icons_of_the_navigation_are_not_read_out(sign_in: Any) -> None:
    html = start_page(sign_in("superuser"))
    icons = re.findall(r'<span class="material-symbols-outlined md-18 mr-3[^>]*>', html)
    assert len(icons) > 5
    assert [icon for icon in icons if 'aria-hidden="true"' not in icon] == []
