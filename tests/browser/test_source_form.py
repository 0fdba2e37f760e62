"""The form of a source shows the fields of its kind."""

from typing import Any

from playwright.sync_api import Page, expect

from datasets_app.models import Source


def test_fields_follow_the_kind(page: Page, curator: Any) -> None:
    source = Source.objects.create(name="apps", kind="otlp", dataset_name="prod", created_by=curator)
    page.goto("/admin/datasets_app/source/add/")
    for kind, shown in {
        "otlp": set(),
        "folder": {"location"},
        "langfuse": {"location", "token"},
        "phoenix": {"location", "token", "project"},
    }.items():
        page.select_option("[name=kind]", kind)
        for name in ("location", "token", "project"):
            expect(page.locator(f"[name={name}]")).to_be_visible(visible=name in shown)
    page.goto(f"/admin/datasets_app/source/{source.pk}/change/")
    expect(page.locator("[name=dataset_name]")).to_be_visible()
    assert not page.locator("[name=location]").count()
