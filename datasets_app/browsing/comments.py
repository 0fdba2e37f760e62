"""Comments on sessions. They may quote the text, so they are read, scrubbed and deleted as the text is."""

import re
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from datasets_app.catalog import gates, raw_access
from datasets_app.catalog.facts import lock_dataset
from datasets_app.core import audit, outgoing
from datasets_app.core.errors import UserError
from datasets_app.domain.wording import format_count
from datasets_app.hooks import AttentionItem
from datasets_app.models import Dataset, Session, SessionComment
from datasets_app.models.browsing import MAX_COMMENT_LENGTH

MENTIONED_FOR = timedelta(days=14)


def list_mentions(user: Any) -> list[AttentionItem]:
    """Datasets in whose comments the user was mentioned in the last days."""
    recent = SessionComment.objects.filter(
        mentions__contains=[user.pk],
        created_at__gt=timezone.now() - MENTIONED_FOR,
        dataset__in=Dataset.objects.visible_to(user),
    ).exclude(author=user)
    latest: dict[str, list[SessionComment]] = {}
    for found in recent.select_related("dataset").order_by("-id")[:100]:
        latest.setdefault(found.dataset.name, []).append(found)
    return [
        AttentionItem(
            "warn",
            "alternate_email",
            name,
            f"mentions you in {format_count(len(found), 'comment')}",
            f"{reverse('admin:datasets_app_session_change', args=[found[0].session_id])}#comments",
            "Open the last one",
        )
        for name, found in latest.items()
    ]


MAX_MENTIONS = 20
# A user name, of the characters that Django allows; not the second part of an e-mail address.
_MENTION = re.compile(r"(?<![\w.+-])@([\w.@+-]{1,150})")
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def add_comment(session: Session, text: str, *, turn_index: int | None, actor: Any) -> SessionComment:
    """Raises UserError if the actor may not read the session's text, or the comment is empty or too long."""
    text = _CONTROL_CHARACTERS.sub("", text.replace("\r\n", "\n")).strip()
    if not text:
        raise UserError("The comment is empty. Write something first.")
    if len(text) > MAX_COMMENT_LENGTH:
        raise UserError(
            f"A comment has at most {MAX_COMMENT_LENGTH:,} characters; this one has {len(text):,}."
        )
    with transaction.atomic():
        # No scrub that ends meanwhile misses it, and no deletion.
        dataset = lock_dataset(session.dataset_id)
        gates.check_can_use(dataset)
        raw_access.check_may_read(actor, dataset)
        gates.check_is_idle(dataset.name, None, "comment when the job has finished.")
        mentioned = find_mentioned(dataset, text)
        comment = SessionComment.objects.create(
            dataset=dataset,
            session=session,
            turn_index=turn_index,
            author=actor,
            author_name=actor.get_username(),
            text=text,
            mentions=[user.pk for user in mentioned],
        )
        audit.record(
            "add_comment",
            actor=actor,
            dataset_name=dataset.name,
            session=session.pk,
            comment=comment.pk,
            mentions=len(mentioned),
        )
        if mentioned:
            outgoing.emit(
                outgoing.Kind.COMMENT_MENTION, dataset=dataset, recipients=mentioned, session=session.pk
            )
    return comment


def find_mentioned(dataset: Dataset, text: str) -> list[Any]:
    """The people named as @name who see the dataset and may read its text; others learn nothing of it."""
    names = {name.rstrip(".@+-") for name in _MENTION.findall(text)} | set(_MENTION.findall(text))
    users = get_user_model().objects.filter(username__in=sorted(names), is_active=True)[:MAX_MENTIONS]
    return [user for user in users if _may_read_comment(user, dataset)]


def _may_read_comment(user: Any, dataset: Dataset) -> bool:
    return (
        user.has_perm("datasets_app.view_turn")
        and Dataset.objects.visible_to(user).filter(pk=dataset.pk).exists()
        and raw_access.may_read(user, dataset)
    )


def delete_comment(comment: SessionComment, *, actor: Any) -> None:
    """Raises UserError if the dataset is on legal hold, or a job is running on it."""
    with transaction.atomic():
        dataset = lock_dataset(comment.dataset_id)
        gates.check_can_delete(dataset, None, "delete the comment when the job has finished.")
        audit.record(
            "delete_comment",
            actor=actor,
            dataset_name=dataset.name,
            session=comment.session_id,
            comment=comment.pk,
        )
        comment.delete()


def split_mentions(comment: SessionComment) -> list[tuple[str, bool]]:
    """The text in pieces, each with whether it mentions somebody."""
    pieces, at = [], 0
    for match in _MENTION.finditer(comment.text) if comment.mentions else ():
        pieces += [(comment.text[at : match.start()], False), (match[0], True)]
        at = match.end()
    return [piece for piece in [*pieces, (comment.text[at:], False)] if piece[0]]
