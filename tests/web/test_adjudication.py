"""Settling disputes: which come, what is seen of each, and what settling leaves behind."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.urls import reverse

from annotations_app.models import Annotation, Campaign
from datasets_app.models import AuditEvent
from tests.campaigns import label_all_replies, lease_for, make_campaign, make_replies, submit
from tests.web.test_campaign_pages import address, html_of, words


@pytest.fixture
def disputed(tmp_path: Path) -> Campaign:
    """Four replies; on all but the last two of three say on-brand, that one is a tie."""
    own = make_campaign(make_replies(tmp_path, 4, turns=4), "ana", "ben", "cy", overlap=3, order="session")
    label_all_replies(own, "ana", 1, limit=4)
    label_all_replies(own, "ben", 0, limit=4)
    label_all_replies(own, "cy", 1, limit=3)
    return own


def begin(client: Any, own: Campaign, **query: str) -> str:
    """The address of the first dispute."""
    response = client.get(address("adjudicate"), {"campaign": own.pk, **query})
    assert response.status_code == 302
    return str(response["Location"])


def turn_of(where: str) -> int:
    return int(parse_qs(urlsplit(where).query)["turn"][0])


def test_they_come_one_by_one_until_all_are_settled(sign_in: Any, disputed: Campaign) -> None:
    client = sign_in("lead")
    where, seen = begin(client, disputed), []
    while True:
        page = client.get(where)
        if page.status_code != 200 or page.templates[0].name != "annotations_app/adjudication.html":
            break
        seen.append(turn_of(where))
        where = client.post(where, {"label": "1", "reason": ""})["Location"]
        where = client.get(where, follow=False).headers.get("Location", where)
    assert len(set(seen)) == 4
    tie = Annotation.objects.filter(turn=seen[0], kind="label")
    assert sorted(tie.values_list("label", flat=True)) == [0, 1]
    assert "All 4 adjudicated" in client.get(where).content.decode()
    settled = Annotation.objects.filter(kind="adjudicated")
    assert set(settled.values_list("turn", flat=True)) == set(seen)
    assert set(settled.values_list("annotator", "campaign", "label")) == {("lead", disputed.pk, 1)}
    assert Annotation.objects.filter(kind="label").count() == 11
    assert AuditEvent.objects.filter(action="adjudicate").count() == 4
    told = words(client.get(address("counted"), {"campaign": disputed.pk}).content.decode())
    assert "4 of 4 disputed replies adjudicated" in told


def test_all_that_was_said_is_seen(sign_in: Any, disputed: Campaign) -> None:
    client = sign_in("lead")
    where = begin(client, disputed)
    label = Annotation.objects.filter(turn=turn_of(where), annotator="ben").get()
    Annotation.objects.filter(pk=label.pk).update(
        notes="<b>cold</b>", confidence=0.75, seconds=9.0, persona_digest="0" * 64
    )
    html = client.get(where).content.decode()
    text = words(html)
    assert "&lt;b&gt;cold&lt;/b&gt;" in html
    for told in ("ben Off-brand", "stale", "confidence 0.75", "9 s", "1 on-brand", "1 off-brand"):
        assert told in text, told
    assert "Gladly: here is your invoice." in text
    session = reverse("admin:datasets_app_session_change", args=[label.turn.session_id])
    assert f"{session}?turn={label.turn.turn_index}" in html
    assert 'id="judged"' in html
    assert "Reason (optional)" in text


def test_against_the_majority_a_reason_is_needed(sign_in: Any, disputed: Campaign) -> None:
    client = sign_in("lead")
    with_majority = Annotation.objects.filter(annotator="cy").first()
    where = f"{address('adjudicate')}?campaign={disputed.pk}&turn={with_majority.turn_id}"
    assert "required for off-brand, against the majority" in words(client.get(where).content.decode())
    refused = client.post(where, {"label": "0", "reason": "  "})
    assert (
        "Most annotators say on-brand. Explain briefly why the reply is off-brand" in refused.content.decode()
    )
    assert not Annotation.objects.filter(kind="adjudicated").exists()
    assert client.post(where, {"label": "0", "reason": "A form letter."}).status_code == 302
    settled = Annotation.objects.get(kind="adjudicated")
    assert (settled.label, settled.notes) == (0, "A form letter.")
    agreeing = Annotation.objects.filter(annotator="cy").exclude(turn=settled.turn).first()
    other = f"{address('adjudicate')}?campaign={disputed.pk}&turn={agreeing.turn_id}"
    assert client.post(other, {"label": "1", "reason": ""}).status_code == 302


def test_what_was_settled_can_be_settled_anew(sign_in: Any, disputed: Campaign) -> None:
    client = sign_in("lead")
    where = begin(client, disputed)
    client.post(where, {"label": "1", "reason": "First thought."})
    html = words(client.get(where).content.decode())
    assert "Adjudicated: On-brand" in html
    client.post(where, {"label": "0", "reason": "Second thought."})
    html = client.get(where).content.decode()
    assert "Adjudicated: Off-brand" in html
    assert "1 withdrawn" in html
    assert "First thought." in html
    kinds = Annotation.objects.filter(annotator="lead").order_by("id").values_list("kind", "label")
    assert list(kinds) == [("withdrawn", 1), ("adjudicated", 0)]


def test_one_may_be_passed_over(sign_in: Any, disputed: Campaign) -> None:
    client = sign_in("lead")
    where, seen = begin(client, disputed), set()
    for _ in range(4):
        seen.add(turn_of(where))
        following = client.get(where).context["next_url"]
        answer = client.get(following)
        where = answer.headers.get("Location", following)
    assert len(seen) == 4
    assert "End of the queue" in answer.content.decode()
    assert "4 disputed replies are not adjudicated because you skipped them." in words(
        answer.content.decode()
    )


def test_only_ties_or_what_was_flagged(sign_in: Any, disputed: Campaign) -> None:
    client = sign_in("lead")
    given = lease_for(disputed, "cy").current
    submit(given, "flag", None, notes="Broken or cut off: ends in mid-word")
    flagged = begin(client, disputed, flagged="1")
    assert turn_of(flagged) == given.item.turn_id
    html = words(client.get(flagged).content.decode())
    assert "cy Flagged" in html
    assert "Broken or cut off: ends in mid-word" in html
    tie = begin(client, disputed, tie="1")
    assert turn_of(tie) == given.item.turn_id
    assert "ahead" not in tie
    client.post(tie, {"label": "1"})
    left = client.get(address("adjudicate"), {"campaign": disputed.pk, "tie": "1"}).content.decode()
    assert "No more ties" in left
    told = client.get(address("counted"), {"campaign": disputed.pk, "flagged": "1"}).content.decode()
    assert "1 of 1 flagged reply adjudicated" in words(told)


def test_labels_of_a_dataset_without_a_campaign(sign_in: Any, disputed: Campaign) -> None:
    Annotation.objects.update(campaign=None)
    client = sign_in("lead")
    query = {"dataset": disputed.dataset_id, "persona": "warm_v1"}
    where = client.get(address("adjudicate"), query)["Location"]
    client.post(where, {"label": "1"})
    assert Annotation.objects.get(kind="adjudicated").campaign is None


@pytest.mark.parametrize("query", [{}, {"campaign": "x"}, {"campaign": "999999"}, {"dataset": "1"}])
def test_what_is_not_there_is_not_found(sign_in: Any, query: dict[str, str]) -> None:
    assert sign_in("lead").get(address("adjudicate"), query).status_code == 404


def test_only_replies_of_the_dataset_are_settled(sign_in: Any, disputed: Campaign, tmp_path: Path) -> None:
    client = sign_in("lead")
    other = make_replies(tmp_path, 1, name="other").sessions.first().turns.get(turn_index=2)
    asked = disputed.dataset.sessions.first().turns.get(turn_index=1)
    for turn in (other, asked):
        where = f"{address('adjudicate')}?campaign={disputed.pk}&turn={turn.pk}"
        assert client.post(where, {"label": "1"}).status_code == 404
    where = begin(client, disputed)
    assert "A label is 1" in client.post(where, {"label": "2"}).content.decode()
    assert not Annotation.objects.filter(kind="adjudicated").exists()


def test_without_disputes_it_says_so(sign_in: Any, tmp_path: Path) -> None:
    own = make_campaign(make_replies(tmp_path, 2), "ana", "ben", overlap=2)
    html = html_of(sign_in("lead"), "adjudicate", campaign=str(own.pk))
    assert "No disagreements" in html


# --- labels in the list, and their history ---


def test_the_list_of_labels_tells_where_they_are_from(sign_in: Any, disputed: Campaign) -> None:
    client = sign_in("lead")
    client.post(begin(client, disputed), {"label": "1"})
    listed = reverse("admin:annotations_app_annotation_changelist")
    text = words(client.get(listed).content.decode())
    assert "in round-1" in text
    assert "Adjudicated" in text
    only = client.get(listed, {"kind__exact": "adjudicated"})
    assert only.context["cl"].result_count == 1
    of_campaign = client.get(listed, {"campaign__id__exact": disputed.pk})
    assert of_campaign.context["cl"].result_count == 12


def test_a_label_of_a_campaign_is_read_with_its_history_and_not_written(
    sign_in: Any, disputed: Campaign
) -> None:
    client = sign_in("superuser")
    label = Annotation.objects.filter(annotator="ana").first()
    submit(label.assignment, label=0, seconds=2.5)
    where = reverse("admin:annotations_app_annotation_change", args=[label.pk])
    html = client.get(where).content.decode()
    hint = "have a history and can't be edited here"
    assert hint in html
    text = words(html)
    assert "Label: on-brand" in text
    assert "Label: off-brand" in text
    assert "after 2.5 s" in text
    assert f"campaign={disputed.pk}&amp;turn={label.turn_id}" in client.get(where).content.decode()
    assert client.post(where, {"label": "1", "annotator": "me"}).status_code == 403
    gone = reverse("admin:annotations_app_annotation_delete", args=[label.pk])
    assert client.post(gone, {"post": "yes"}).status_code == 403
    label.refresh_from_db()
    assert (label.label, label.annotator) == (0, "ana")
    Annotation.objects.filter(pk=label.pk).update(campaign=None)
    imported = client.get(where).content.decode()
    assert hint not in imported
    assert 'name="label"' in imported
