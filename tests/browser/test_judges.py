"""No byte of a judge's verdict reaches the browser before the person has committed."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Response, expect

from annotations_app.judges.judges import get_judge
from annotations_app.judges.reveal import reveal_judge
from annotations_app.judges.run_judge import run_judge
from annotations_app.models import Annotation, Verdict
from tests.browser.conftest import DESKTOP, sign_in
from tests.browser.faults import find_serious_violations
from tests.campaigns import get_user, make_campaign, make_replies

pytestmark = pytest.mark.browser


def test_the_traffic_holds_no_verdict_before_the_commitment(
    open_page: Any, transactional_db: None, tmp_path: Path
) -> None:
    campaign = make_campaign(make_replies(tmp_path, 6), "anna")
    anna = get_user("anna")
    anna.set_password("a long password")
    anna.save()
    run_judge(campaign, get_judge("offline"))
    reveal_judge(campaign, get_judge("offline"), actor=None)
    for verdict in Verdict.objects.all():
        Verdict.objects.filter(pk=verdict.pk).update(rationale=f"canary-{verdict.turn_id}-quillon")
    page: Page = open_page(viewport=DESKTOP)
    received: list[Response] = []
    page.on("response", lambda response: received.append(response))
    sign_in(page, "anna", f"/annotate/{campaign.name}/")
    page.wait_for_function("() => document.querySelector('.q-item:not([hidden])') !== null")
    page.wait_for_load_state("networkidle")
    traffic = [_body(response) for response in received]
    assert any(b"q-item" in body for body in traffic)
    assert not [body for body in traffic if b"quillon" in body or b'class="q-revealed"' in body]

    page.wait_for_timeout(250)
    page.keyboard.press("0")
    expect(page.locator(".q-revealed")).to_have_count(1)
    [label] = Annotation.objects.all()
    expect(page.locator(".q-revealed")).to_contain_text(f"canary-{label.turn_id}-quillon")
    others = Verdict.objects.exclude(turn_id=label.turn_id).values_list("turn_id", flat=True)
    page.wait_for_load_state("networkidle")
    everything = b"".join(map(_body, received))
    assert everything.count(b"quillon") == everything.count(f"canary-{label.turn_id}-quillon".encode())
    assert not [turn for turn in others if f"canary-{turn}-quillon".encode() in everything]
    assert not find_serious_violations(page)


def _body(response: Response) -> bytes:
    try:
        return response.body() + repr(response.headers).encode()
    except Exception:  # a redirect has none
        return repr(response.headers).encode()
