"""The page of a session: formatting, findings, metadata, and comments with mentions."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from datasets_app.browsing.comments import add_comment, split_mentions
from datasets_app.checking.check_dataset import check_dataset
from datasets_app.core.errors import UserError
from datasets_app.models import AuditEvent, Dataset, SavedView, Session, SessionComment
from datasets_app.retention.erase_session import erase_session
from datasets_app.retention.holds import change_hold
from tests import factories

MARKDOWN = "**bold** `code`\n<script>alert(1)</script>\n![seen](https://example.org/pixel.png)"


@pytest.fixture
def talk(db: None, tmp_path: Path) -> Session:
    lines = [
        factories.make_turn(
            "s1", 1, text="Write to jo@company.org, please", metadata={"model": "m", "took": 1}
        ),
        factories.make_turn(
            "s1",
            2,
            text=MARKDOWN,
            metadata={"model": "m", "took": 2, "tool_calls": [{"name": "look_up", "arguments": {"id": 7}}]},
        ),
        factories.make_turn("s2", 1, text="Another one"),
    ]
    return factories.make_dataset(tmp_path, lines).sessions.order_by("id")[0]


def read(client: Any, session: Session, query: str = "") -> str:
    page = client.get(reverse("admin:datasets_app_session_change", args=[session.pk]) + query)
    return str(page.content.decode())


def test_markdown_is_formatted_or_raw(sign_in: Any, talk: Session) -> None:
    client = sign_in("curator")
    page = read(client, talk)
    assert "<strong>bold</strong> <code>code</code>" in page
    assert "<script>alert" not in page
    assert "<img src" not in page
    assert 'rel="noopener noreferrer nofollow"' in page
    raw = read(client, talk, "?raw=1")
    assert "**bold** `code`" in raw
    assert "<strong>bold" not in raw
    assert "?raw=1" in raw.split('rel="next"')[1][:200]


def test_findings_are_highlighted_after_checks(sign_in: Any, talk: Session) -> None:
    client = sign_in("curator")
    assert "ad-found-found" not in read(client, talk)
    check_dataset(talk.dataset, actor=None, name_models=())
    page = read(client, talk)
    assert 'jo@company.org<span class="ad-found-tail">' in page
    assert 'href="#turn-1"' in page


def test_metadata_stands_beside_and_tool_calls_are_folded(sign_in: Any, talk: Session) -> None:
    page = read(sign_in("curator"), talk)
    panel = page.split('aria-label="About this session"')[1]
    assert panel.count(">model<") == 1
    assert panel.count(">took<") == 2
    assert "tool_calls" not in panel
    assert re.search(r'Tool call: <span\s+dir="auto">look_up</span></summary>', page)


# --- comments -------------------------------------------------------------------------------------------


def test_comments_mention_people_who_may_read_it(sign_in: Any, talk: Session) -> None:
    curator, viewer, officer = sign_in("curator"), sign_in("viewer"), sign_in("privacy officer")
    address = reverse("admin:datasets_app_dataset_comment", args=[talk.dataset_id, talk.pk])
    text = "Look, @privacy_officer. Not @viewer, nor a@curator"
    assert curator.post(address, {"text": text, "turn": "2"}).status_code == 302
    assert viewer.post(address, {"text": "I may not"}).status_code == 403
    comment = SessionComment.objects.get()
    assert comment.mentions == [officer.user.pk]
    assert split_mentions(comment)[1] == ("@privacy_officer.", True)
    assert "@privacy_officer" in read(officer, talk)
    assert "mentions you in 1 comment" in " ".join(officer.get("/admin/").content.decode().split())
    assert "mentions you" not in curator.get("/admin/").content.decode()
    assert "@privacy_officer" not in read(viewer, talk)
    assert text not in str(list(AuditEvent.objects.values_list("details", flat=True)))
    delete = reverse("admin:datasets_app_dataset_delete_comment", args=[talk.dataset_id, comment.pk])
    assert officer.post(delete).status_code == 404
    change_hold(talk.dataset, "A claim", held=True)
    assert "on legal hold" in curator.post(delete, follow=True).content.decode()
    assert SessionComment.objects.exists()
    change_hold(talk.dataset, "Settled", held=False)
    curator.post(delete)
    assert not SessionComment.objects.exists()


def test_what_is_no_comment_is_refused(sign_in: Any, talk: Session) -> None:
    user = sign_in("curator").user
    for text in (" \n", "x" * 4_001, "\0"):
        with pytest.raises(UserError):
            add_comment(talk, text, turn_index=None, actor=user)
    with pytest.raises(UserError):
        add_comment(talk, "I can't read it", turn_index=None, actor=sign_in("viewer").user)


def test_comments_are_erased_with_their_session(sign_in: Any, talk: Session) -> None:
    user = sign_in("curator").user
    add_comment(talk, "Gone soon", turn_index=None, actor=user)
    other = Session.objects.get(session_id="s2")
    add_comment(other, "Stays", turn_index=1, actor=user)
    assert erase_session(talk, "A request")["comments"] == 1
    assert SessionComment.objects.get().text == "Stays"


def test_comments_are_scrubbed_with_their_session(sign_in: Any, talk: Session) -> None:
    from datasets_app.domain.pii.policy import Policy
    from datasets_app.scrubbing.scrub_dataset import scrub_dataset

    add_comment(talk, "His address is jo@company.org", turn_index=1, actor=sign_in("curator").user)
    user = sign_in("lead").user
    for name, has_text in (("words", True), ("lengths", False)):
        SavedView.objects.create(dataset=talk.dataset, owner=user, name=name, has_text=has_text)
    scrub_dataset(Dataset.objects.get(), Policy(kinds=("EMAIL",)))
    assert "jo@" not in SessionComment.objects.get().text
    assert SavedView.objects.get().name == "lengths"
