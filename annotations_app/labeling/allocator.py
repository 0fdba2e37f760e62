"""Chooses what one annotator gets next: items, gold items and hidden repeats, in the campaign's shares."""

from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef
from django.db.models.functions import Now
from django.utils import timezone

from annotations_app.domain.assignment import MIN_REPEAT_DISTANCE, NextKind, choose_next_kind, seeded_draw
from annotations_app.labeling import leases
from annotations_app.labeling.leases import LeaseAttempt, LeaseRequest
from annotations_app.models import Assignment, Campaign, CampaignMember

# A repeat is drawn from so many of the latest labels that are far enough back.
MAX_REPEAT_CANDIDATES = 200
# An annotator who finds nothing searches the whole campaign again, but not at every call.
FULL_SEARCH_INTERVAL = timedelta(minutes=1)
# A transaction may commit a return this long after the time it wrote down.
RETURN_VISIBILITY_DELAY = timedelta(seconds=10)


class Allocator:
    """Leases to one member, whose row is locked, and keeps their position in the campaign.

    ``is_contended``: the last search found items, but others were taking them at that very moment.
    """

    def __init__(self, member: CampaignMember, username: str) -> None:
        self.member, self.username, self.campaign = member, username, member.campaign
        self.request = LeaseRequest(
            member.campaign_id, member.user_id, member.campaign.persona.digest, member.campaign.lease_minutes
        )
        self.is_contended = False
        self._no_returned_items = False
        self._changes: dict[str, Any] = {}

    def allocate(self, count: int) -> None:
        """Lease up to ``count`` things, each of the kind that is due, or an item if there is none of it."""
        for _ in range(count):
            # A calibration round is the same for all: neither gold replies nor repeats.
            kind = (
                NextKind.ITEM
                if self.campaign.is_calibrating
                else choose_next_kind(
                    self.campaign.seed,
                    self.username,
                    self.member.served,
                    gold_share=self.campaign.gold_share,
                    repeat_share=self.campaign.repeat_share,
                )
            )
            is_leased = (
                kind is NextKind.GOLD
                and self._allocate_gold()
                or kind is NextKind.REPEAT
                and self._allocate_repeat()
                or self._allocate_item()
            )
            if not is_leased:
                break
            self._update_member(served=self.member.served + 1)
        if self._changes:
            CampaignMember.objects.filter(pk=self.member.pk).update(**self._changes)

    def _update_member(self, **changes: Any) -> None:
        for name, value in changes.items():
            setattr(self.member, name, value)
        self._changes |= changes

    def _allocate_gold(self) -> bool:
        position = leases.lease_gold_item(
            self.request, ordinal=self.member.served, gold_cursor=self.member.gold_cursor
        )
        if position is None:
            return False
        self._update_member(gold_cursor=position)
        return True

    def _allocate_repeat(self) -> bool:
        item = self._choose_repeat()
        if item is None:
            return False
        leases.lease_repeat(self.request, item, ordinal=self.member.served)
        return True

    def _choose_repeat(self) -> int | None:
        """An item they labeled enough decisions ago and have not repeated yet."""
        decided = Assignment.objects.for_member(self.member.campaign_id, self.member.user_id).select_decided()
        latest_allowed = decided.values_list("decided_at", flat=True)[MIN_REPEAT_DISTANCE:].first()
        if latest_allowed is None:
            return None
        repeats = Assignment.objects.filter(item=OuterRef("item"), annotator=self.member.user_id, repeat=True)
        items = list(
            decided.filter(
                ~Exists(repeats), state="labelled", repeat=False, decided_at__lte=latest_allowed
            ).values_list("item", flat=True)[:MAX_REPEAT_CANDIDATES]
        )
        if not items:
            return None
        draw = seeded_draw(self.campaign.seed, self.username, self.member.served, "repeat")
        return int(items[int(draw * len(items))])

    # --- items ------------------------------------------------------------------------------------

    def _allocate_item(self) -> bool:
        if self.campaign.order == Campaign.Order.SESSION and self._allocate_by_session():
            return True
        return self._allocate_returned() or self._allocate_next() or self._search_again()

    def _allocate_by_session(self) -> bool:
        """An item of the session they are in, else of one that nobody else is in."""
        if self.member.session_id is not None:
            attempt = self._lease_from("session", share_sessions=False, session=self.member.session_id)
            if attempt.is_leased:
                return True
        leases.lock_session_start(self.member.campaign_id)
        return self._allocate_returned(share_sessions=False) or self._allocate_next(share_sessions=False)

    def _allocate_returned(self, *, share_sessions: bool = True) -> bool:
        """An item that was returned after their cursor had passed it."""
        if self._no_returned_items:
            return False
        attempt = self._lease_from(
            "returned",
            share_sessions=share_sessions,
            cursor=self.member.cursor,
            returned_seen=self.member.returned_seen,
        )
        if share_sessions and not attempt.candidates:
            self._no_returned_items = True
            self._changes["returned_seen"] = Now() - RETURN_VISIBILITY_DELAY
        return attempt.is_leased

    def _allocate_next(self, *, share_sessions: bool = True) -> bool:
        attempt = self._lease_from("next", share_sessions=share_sessions, cursor=self.member.cursor)
        if attempt.first is None:
            passed = self.campaign.item_count
        else:
            is_first = attempt.is_leased and attempt.first == attempt.position
            passed = attempt.first if is_first else attempt.first - 1
        if passed > self.member.cursor:
            self._update_member(cursor=passed)
        return attempt.is_leased

    def _search_again(self) -> bool:
        """Search from the beginning, for anything the cursor missed."""
        last = self.member.searched_at
        if last is not None and timezone.now() - last < FULL_SEARCH_INTERVAL:
            return False
        self._update_member(searched_at=timezone.now())
        return self._lease_from("next", share_sessions=True, cursor=0).is_leased

    def _lease_from(self, place: str, *, share_sessions: bool, **position: Any) -> LeaseAttempt:
        for window in leases.WINDOW_SIZES:
            attempt = leases.lease_item(
                self.request,
                place,
                ordinal=self.member.served,
                window=window,
                share_sessions=share_sessions,
                **position,
            )
            if attempt.is_leased or attempt.candidates < window:
                break
        self.is_contended = bool(attempt.candidates) and not attempt.is_leased
        if attempt.session is not None and self.campaign.order == Campaign.Order.SESSION:
            self._update_member(session_id=attempt.session)
        return attempt
