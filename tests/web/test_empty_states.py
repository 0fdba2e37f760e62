"""Pages of an installation in which there is nothing yet say what to do, with a button for it."""

import re
from typing import Any

import pytest
from django.test import Client

# Address → the button of an administrator.
EMPTY_PAGES = {
    "/admin/": "Import a",
    "/admin/datasets_app/dataset/": "Import a file",
    "/admin/datasets_app/turn/": "Import a file",
    "/admin/datasets_app/jobrun/": "Import a file",
    "/admin/datasets_app/source/": "Add source",
    "/admin/datasets_app/webhookendpoint/": "Add webhook",
    "/admin/datasets_app/persona/": "Add persona",
    "/admin/datasets_app/retentionpolicy/": "Add retention rule",
    "/admin/annotations_app/campaign/": "Create a campaign",
    "/admin/annotations_app/annotation/": "Create a campaign",
    "/admin/datasets_app/apitoken/": "Create your first token",
    "/admin/datasets_app/retentionpolicy/rehearsal/": "Show retention rules",
    "/admin/datasets_app/auditevent/?action=none": "Clear filters",
    "/admin/datasets_app/turn/?q=none": "Clear filters",
    "/admin/datasets_app/dataset/?q=none": "Show all",
}


@pytest.mark.django_db
def test_every_empty_list_has_a_button(admin_client: Client) -> None:
    lacking: dict[str, Any] = {}
    for address, button in EMPTY_PAGES.items():
        response = admin_client.get(address)
        empty = re.search(r'<div[^>]*class="[^"]*ad-empty.*', response.content.decode(), re.S)
        text = " ".join(re.sub("<[^>]+>", " ", empty[0]).split()) if empty else ""
        # A list is called by its name, not "Select dataset to change".
        title = re.search(r"<title>\s*(.*?)\s*</title>", response.content.decode(), re.S)
        if response.status_code != 200 or button not in text or not title or title[1].startswith("Select "):
            lacking[address] = (response.status_code, text[:200])
    assert lacking == {}


def test_readers_get_no_button_that_is_not_theirs(sign_in: Any) -> None:
    html = sign_in("viewer").get("/admin/datasets_app/dataset/").content.decode()
    assert "No datasets yet" in html
    assert "Import a file" not in html
