"""Retention in a browser, by keyboard, on a phone in the dark: a rule activated, a hold set, an erasure."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page

from datasets_app.core.web.pages import dataset_url
from datasets_app.models import Dataset, RetentionPolicy, Session
from tests import factories
from tests.browser.faults import find_serious_violations

pytestmark = pytest.mark.browser


def test_a_rule_is_let_act_a_hold_keeps_from_it_a_session_can_go(
    phone_page: Page, curator: User, tmp_path: Any
) -> None:
    curator.groups.add(Group.objects.get(name="privacy officer"))
    stored = factories.make_dataset(tmp_path, factories.make_sessions(2), "support_prod")
    Dataset.objects.update(created_at=timezone.now() - timedelta(days=20))
    rule = RetentionPolicy.objects.create(position=1, pattern="*_prod.jsonl", retention="30 days")
    phone_page.goto(reverse("admin:datasets_app_retentionpolicy_of_policy", args=[rule.pk]))
    assert phone_page.get_by_text("2 sessions, 4 turns").is_visible()
    assert find_serious_violations(phone_page) == []
    phone_page.get_by_role("button", name="Activate").focus()
    phone_page.keyboard.press("Enter")
    phone_page.get_by_text("is now active").wait_for()
    rule.refresh_from_db()
    assert rule.active

    phone_page.goto(dataset_url(stored, "retention"))
    assert phone_page.get_by_text("Applies", exact=True).is_visible()
    phone_page.get_by_label("Reason").first.focus()
    phone_page.keyboard.type("A claim is open")
    phone_page.keyboard.press("Enter")
    phone_page.get_by_role("heading", name="Kept: on legal hold").wait_for()
    assert find_serious_violations(phone_page) == []
    assert _no_wider(phone_page)

    session = Session.objects.first()
    assert session is not None
    phone_page.goto(reverse("admin:datasets_app_dataset_erase_session", args=[stored.pk, session.pk]))
    assert phone_page.get_by_text("The dataset is on legal hold").is_visible()
    assert not phone_page.get_by_role("button", name="Erase permanently").count()
    Dataset.objects.update(legal_hold=False)
    phone_page.reload()
    assert phone_page.get_by_role("button", name="Erase permanently").is_visible()
    assert find_serious_violations(phone_page) == []
    assert _no_wider(phone_page)


def test_a_person_is_found_and_erased_by_keyboard(phone_page: Page, curator: User, tmp_path: Any) -> None:
    curator.groups.add(Group.objects.get(name="privacy officer"))
    lines = [factories.make_turn(f"s{n}", text="Write to jane.roe@mailbox.org") for n in range(3)]
    factories.make_dataset(tmp_path, lines, "support_prod")
    phone_page.goto(reverse("admin:datasets_app_dataset_erase_person"))
    phone_page.get_by_label("User ID, e-mail address or name").focus()
    phone_page.keyboard.type("jane.roe@mailbox.org")
    phone_page.keyboard.press("Enter")
    phone_page.get_by_role("heading", name="Erase 3 sessions").wait_for()
    assert phone_page.get_by_role("cell", name="text (3)").is_visible()
    assert find_serious_violations(phone_page) == []
    assert _no_wider(phone_page)
    assert "jane" not in phone_page.url
    phone_page.get_by_label("Reason").focus()
    phone_page.keyboard.type("Request of 3 May")
    phone_page.keyboard.press("Enter")
    phone_page.wait_for_url("**/jobrun/**")
    assert "Request of 3 May" in phone_page.content()


def _no_wider(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))
