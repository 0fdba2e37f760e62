"""The way a curator goes: import, watch, read, check, export, download."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from playwright.sync_api import Page, expect

from datasets_app.models import CheckReport, Dataset, JobRun
from tests import factories

pytestmark = pytest.mark.browser


def address(name: str, *arguments: Any) -> str:
    return reverse(f"admin:datasets_app_{name}", args=arguments)


def upload(page: Page, path: Path) -> None:
    page.goto("/admin/")
    page.get_by_role("link", name="Import a file").click()
    page.set_input_files("[name=file]", path)
    page.select_option("[name=origin]", "synthetic")
    page.click("text=Upload and preview")
    expect(page.get_by_text("Nothing has been imported yet")).to_be_visible()


def drop(page: Page, selector: str, name: str, text: str) -> None:
    """Drag a file over an element and let it go there."""
    data = page.evaluate_handle(
        """([name, text]) => {
            const data = new DataTransfer();
            data.items.add(new File([text], name));
            return data;
        }""",
        [name, text],
    )
    page.dispatch_event(selector, "dragover", {"dataTransfer": data})
    expect(page.locator(selector)).to_have_class(re.compile("ad-over"))
    page.dispatch_event(selector, "drop", {"dataTransfer": data})
    expect(page.locator(selector)).not_to_have_class(re.compile("ad-over"))


def test_from_file_to_download(page: Page, processes: Any, tmp_path: Path) -> None:
    processes.start("worker")
    lines = factories.make_sessions(40, 4, tags=["scenario:support"])
    path = factories.write_jsonl(tmp_path / "Support May.jsonl", lines)
    page.goto("/admin/")
    page.get_by_role("link", name="Import a file").click()
    drop(page, "[data-drop]", "table.csv", "a,b")
    expect(page.locator("[name=dataset_name]")).to_have_value("table")
    drop(page, "[data-drop]", path.name, path.read_text())
    expect(page.locator("[name=dataset_name]")).to_have_value("Support_May")
    page.select_option("[name=origin]", "synthetic")
    page.click("text=Upload and preview")
    expect(page.get_by_text("What user says as number 1 of s1.")).to_be_visible()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator(".ad-badge", has_text="Done")).to_be_visible(timeout=20_000)
    expect(page.get_by_text("40 sessions, 160 turns", exact=True)).to_be_visible()

    page.click("text=Open the dataset")
    page.get_by_role("button", name="Run checks").click()
    expect(page.locator(".ad-badge", has_text="Done")).to_be_visible(timeout=20_000)
    report = CheckReport.objects.get()
    page.click("text=See findings")
    expect(page.get_by_text("Last report").or_(page.get_by_text("Report of")).first).to_be_visible()
    assert f"report={report.pk}" in page.url

    page.get_by_role("link", name="Data", exact=True).click()
    page.get_by_role("link", name="Sessions", exact=True).click()
    page.get_by_role("link", name="s3", exact=True).click()
    expect(page.locator("#turn-2 .ad-text")).to_have_text("What assistant says as number 2 of s3.")
    page.get_by_role("link", name="Support_May").first.click()

    page.get_by_role("link", name="Export", exact=True).click()
    page.click("text=Start export")
    with page.expect_download() as begun:
        page.get_by_role("link", name="Download Support_May.jsonl").click()
    content = Path(begun.value.path()).read_bytes()
    assert begun.value.suggested_filename == "Support_May.jsonl"
    assert [json.loads(line)["text"] for line in content.splitlines()] == [line["text"] for line in lines]
    export = JobRun.objects.get(operation="export_dataset")
    assert export.files.get(kind="export").sha256 == hashlib.sha256(content).hexdigest()


def test_progress_moves_without_a_reload(page: Page, transactional_db: None, tmp_path: Path) -> None:
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(2))
    job = JobRun.objects.create(
        operation="export_dataset", dataset=dataset, dataset_name=dataset.name, state="running", total=100
    )
    page.goto(address("jobrun_change", job.pk))
    page.evaluate("window.sameDocument = true")
    for done in (25, 50):
        JobRun.objects.filter(pk=job.pk).update(done=done)
        expect(page.locator(".ad-percent")).to_have_text(f"{done} %")
        expect(page.locator("progress")).to_have_attribute("value", str(done))
    page.focus("#cancel-job")
    page.wait_for_timeout(2_200)
    assert page.evaluate("document.activeElement.id") == "cancel-job"
    expect(page.locator("#job-news")).to_have_text("Running, 50 percent")
    JobRun.objects.filter(pk=job.pk).update(state="done", done=100)
    expect(page.locator(".ad-badge", has_text="Done")).to_be_visible()
    expect(page.locator("#job-news")).to_have_text("Done")
    assert page.evaluate("window.sameDocument")


def test_the_start_page_follows_jobs(page: Page, transactional_db: None, tmp_path: Path) -> None:
    dataset = factories.make_dataset(tmp_path, factories.make_sessions(1))
    page.goto("/admin/")
    expect(page.get_by_text("No jobs are running.")).to_be_visible()
    job = JobRun.objects.create(
        operation="check_dataset", dataset=dataset, dataset_name="support", state="running", done=1, total=2
    )
    expect(page.get_by_role("link", name=f"Check dataset #{job.pk}")).to_be_visible()
    expect(page.get_by_text("50 %")).to_be_visible()


def test_a_file_with_problems_can_be_imported_in_part(page: Page, processes: Any, tmp_path: Path) -> None:
    processes.start("worker")
    lines = [*factories.make_sessions(3), {**factories.make_turn("bad"), "role": "system"}]
    upload(page, factories.write_jsonl(tmp_path / "mixed.jsonl", lines))
    expect(page.get_by_text("E103")).to_be_visible()
    expect(page.get_by_role("button", name="Import", exact=True)).to_be_disabled()
    expect(page.get_by_text("The import would fail")).to_be_visible()
    page.get_by_label("Import the valid sessions").check()
    expect(page.get_by_text("The import would fail")).to_be_hidden()
    page.get_by_role("button", name="Import", exact=True).click()
    expect(page.locator(".ad-badge", has_text="Done")).to_be_visible()
    assert Dataset.objects.get().session_count == 3
    expect(page.get_by_role("link", name="Download mixed.quarantine.jsonl")).to_be_visible()


def test_with_only_the_keyboard(page: Page, processes: Any, tmp_path: Path) -> None:
    processes.start("worker")
    path = factories.write_jsonl(tmp_path / "keys.jsonl", factories.make_sessions(3))
    page.goto("/admin/")
    press(page, "Import a file", "**/import/")
    page.set_input_files("[name=file]", path)
    page.focus("[name=origin]")
    page.keyboard.press("s")
    press(page, "Upload and preview", "**/import/*/")
    press(page, "Import", "**/jobrun/*/change/")
    expect(page.locator(".ad-badge", has_text="Done")).to_be_visible()
    press(page, "Open the dataset", "**/dataset/*/change/")
    press(page, "Sessions", "**/sessions/")
    press(page, "s1", "**/session/*/change/")
    for key, session in (("j", "s2"), ("ArrowRight", "s3"), ("k", "s2"), ("ArrowLeft", "s1")):
        page.keyboard.press(key)
        expect(page.locator("h2.ad-title")).to_have_text(session)


def press(page: Page, text: str, where: str) -> None:
    reach(page, text)
    page.keyboard.press("Enter")
    page.wait_for_url(where)


def reach(page: Page, text: str) -> None:
    """Press Tab until the element with this text has the focus, and can be seen to have it."""
    for _ in range(80):
        page.keyboard.press("Tab")
        here = page.evaluate("(document.activeElement.innerText || '').trim()")
        if here == text:
            assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
            return
    raise AssertionError(f"Tab never reaches {text!r}")


def test_hostile_text_is_only_text(page: Page, transactional_db: None, tmp_path: Path) -> None:
    evil = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"
    line = factories.make_turn(evil, text=evil, tags=[evil], metadata={evil: evil}, persona_id=evil)
    dataset = factories.make_dataset(tmp_path, [line])
    session = dataset.sessions.get()
    for shown in (
        address("session_change", session.pk),
        address("turn_change", session.turns.get().pk),
        address("turn_changelist") + "?q=owned",
        address("dataset_sessions", dataset.pk),
    ):
        page.goto(shown)
        assert "owned" not in page.title().replace(evil, "")
        assert page.locator("main img[src=x], #content-main img, #content-main script").count() == 0


def test_nothing_scrolls_sideways_on_a_phone(
    phone_page: Page, transactional_db: None, tmp_path: Path
) -> None:
    long = "x" * 400
    lines = [
        factories.make_turn(long, index, text=text, tags=[long, "a"], metadata={long: long}, extra_key=long)
        for index, text in enumerate((long * 20, "short", "مرحبا " * 400), 1)
    ]
    dataset = factories.make_dataset(tmp_path, lines, "n" * 100)
    job = JobRun.objects.create(
        operation="import_dataset",
        dataset=dataset,
        dataset_name=dataset.name,
        state="failed",
        error=long,
        result={"problems": [{"line": 1, "code": "E101", "message": long, "session_id": long}]},
    )
    session = dataset.sessions.get()
    pages = ["/admin/", address("dataset_changelist"), address("dataset_import"), address("turn_changelist")]
    pages += [
        address(f"dataset_{name}", dataset.pk)
        for name in ("change", "checks", "sessions", "jobs", "history", "export", "edit")
    ]
    pages += [address("session_change", session.pk), address("turn_change", session.turns.first().pk)]
    pages += [
        address("turn_changelist") + "?q=short",
        address("jobrun_change", job.pk),
        address("jobrun_changelist"),
    ]
    for shown in pages:
        phone_page.goto(shown)
        assert phone_page.evaluate("document.documentElement.scrollWidth") <= 390, shown


def test_long_texts_unfold(page: Page, transactional_db: None, tmp_path: Path) -> None:
    dataset = factories.make_dataset(tmp_path, [factories.make_turn(text="word " * 500 + "the end")])
    page.goto(address("session_change", dataset.sessions.get().pk))
    expect(page.get_by_text("the end")).to_be_hidden()
    page.click("text=Show all 2,507 characters")
    expect(page.get_by_text("the end")).to_be_visible()
    page.click("text=Show less")
    expect(page.get_by_text("the end")).to_be_hidden()


def test_the_connection_breaking_is_told(
    page: Page, transactional_db: None, tmp_path: Path, browser_errors: list[str]
) -> None:
    job = JobRun.objects.create(operation="export_dataset", state="running", total=100)
    page.goto(address("jobrun_change", job.pk))
    page.context.set_offline(True)
    page.wait_for_function("document.body.classList.contains('ad-lost')")
    page.context.set_offline(False)
    page.wait_for_function("!document.body.classList.contains('ad-lost')")
    assert browser_errors
    browser_errors.clear()
