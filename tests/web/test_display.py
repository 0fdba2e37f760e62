"""Times, digests and ids of sessions, as every page shows them."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.urls import reverse

from datasets_app.core.web.time_zone import showing_times_in
from datasets_app.models import Dataset
from datasets_app.templatetags import values as display

NOON = datetime(2026, 11, 21, 12, 0, 5, tzinfo=UTC)
DIGEST = "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("before", "text"),
    [
        (timedelta(seconds=20), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(minutes=59, seconds=59), "59 minutes ago"),
        (timedelta(hours=5), "5 hours ago"),
        (timedelta(days=2, hours=3), "2 days ago"),
        (timedelta(days=30), "22 Oct 2026"),
        (-timedelta(seconds=20), "in less than a minute"),
        (-timedelta(days=3, seconds=1), "in 3 days"),
    ],
)
def test_times_are_relative_for_a_month(before: timedelta, text: str) -> None:
    assert display.describe_age(NOON - before, NOON) == text


def test_the_exact_time_is_in_the_time_zone_of_the_reader() -> None:
    with showing_times_in("America/New_York"):
        tag = display.exact_time(NOON)
    assert 'title="21 Nov 2026 07:00:05 EST"' in tag
    assert 'datetime="2026-11-21T07:00:05-05:00"' in tag
    for unknown in ("", "../etc/passwd", "Nowhere/City"):
        with showing_times_in(unknown):
            assert "12:00:05 UTC" in display.exact_time(NOON)
    assert display.ago(None) == display.exact_time(None) == display.digest(None) == "–"


def test_digests_are_short_and_can_be_copied() -> None:
    tag = display.digest(DIGEST, "SHA-256")
    assert f'title="{DIGEST}">01234567…</code>' in tag
    assert f'data-copy="{DIGEST}"' in tag
    assert "Copy SHA-256" in tag
    assert ">01234567…<" in display.session_name(DIGEST)
    assert display.session_name("<support 7>") == "<support 7>"


def test_the_browser_tells_its_time_zone(curator: Any, dataset: Dataset) -> None:
    Dataset.objects.filter(pk=dataset.pk).update(created_at=NOON)
    address = reverse("admin:datasets_app_dataset_change", args=[dataset.pk])
    assert "21 Nov 2026 12:00:05 UTC" in curator.get(address).content.decode()
    curator.cookies["time_zone"] = "Asia/Tokyo"
    assert "21 Nov 2026 21:00:05 JST" in curator.get(address).content.decode()
