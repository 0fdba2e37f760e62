"""The next things for one annotator: items, gold items and hidden repeats, as the campaign asks for them."""

from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef
from django.db.models.functions import Now
from django.utils import timezone

from annotations_app.domain.assignment import MIN_REPEAT_DISTANCE, NextKind, choose_next_kind, seeded_draw
from annotations_app.labeling import leases
from annotations_app.labeling.leases import LeaseAttempt, LeaseRequest
from annotations_app.models import Assignment, Campaign, CampaignMember

# A repeat is drawn from so many of the latest labels that are far enough away.
MAX_REPEAT_CANDIDATES = 200
# Who finds nothing has everything gone through again, but not at every call.
FULL_SEARCH_INTERVAL = timedelta(minutes=1)
# What others give back can be seen so long afterwards.
RETURN_VISIBILITY_DELAY = timedelta(seconds=10)


class Allocator:
    """Gives to one member of that user name, whose row is locked; keeps where they are in it.

    ``contended``: something was there, but others were taking it at this very moment.
    """

    def __init__(self, member: CampaignMember, username: str, request: LeaseRequest) -> None:
        self.member, self.name, self.asking, self.campaign = member, username, request, member.campaign
        self.is_contended = False
        self._no_returned_items = False
        self._changes: dict[str, Any] = {}

    def allocate(self, count: int) -> None:
        """Up to ``count`` things, each of the kind that is due, or an item where there is none of it."""
        for _ in range(count):
            kind = choose_next_kind(
                self.campaign.seed,
                self.name,
                self.member.served,
                gold_share=self.campaign.gold_share,
                repeat_share=self.campaign.repeat_share,
            )
            given = (
                kind is NextKind.GOLD
                and self._allocate_gold()
                or kind is NextKind.REPEAT
                and self._allocate_repeat()
            )
            if not given and not self._allocate_item():
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
            self.asking, ordinal=self.member.served, gold_cursor=self.member.gold_cursor
        )
        if position is None:
            return False
        self._update_member(gold_cursor=position)
        return True

    def _allocate_repeat(self) -> bool:
        item = self._choose_repeat()
        if item is None:
            return False
        leases.lease_repeat(self.asking, item, ordinal=self.member.served)
        return True

    def _choose_repeat(self) -> int | None:
        """One they have labelled, with enough decisions since; at most once each."""
        own = Assignment.objects.of(self.member.campaign_id, self.member.user_id)
        far = list(
            own.decided().values_list("decided_at", flat=True)[MIN_REPEAT_DISTANCE : MIN_REPEAT_DISTANCE + 1]
        )
        if not far:
            return None
        again = Assignment.objects.filter(item=OuterRef("item"), annotator=self.member.user_id, repeat=True)
        items = list(
            own.decided()
            .filter(~Exists(again), state="labelled", repeat=False, decided_at__lte=far[0])
            .values_list("item", flat=True)[:MAX_REPEAT_CANDIDATES]
        )
        if not items:
            return None
        drawn = seeded_draw(self.campaign.seed, self.name, self.member.served, "repeat")
        return int(items[int(drawn * len(items))])

    # --- items ------------------------------------------------------------------------------------

    def _allocate_item(self) -> bool:
        if self.campaign.order == Campaign.Order.SESSION and self._allocate_by_session():
            return True
        return self._allocate_returned() or self._allocate_next() or self._search_again()

    def _allocate_by_session(self) -> bool:
        """What is left of the session they are in, else one that nobody is in the middle of."""
        if self.member.session_id is not None:
            found = self._lease_from("session", share_sessions=False, session=self.member.session_id)
            if found.given:
                return True
        leases.lock_session_start(self.member.campaign_id)
        return self._allocate_returned(share_sessions=False) or self._allocate_next(share_sessions=False)

    def _allocate_returned(self, *, share_sessions: bool = True) -> bool:
        """What was given back after they had passed it by."""
        if self._no_returned_items:
            return False
        found = self._lease_from(
            "returned",
            share_sessions=share_sessions,
            cursor=self.member.cursor,
            returned_seen=self.member.returned_seen,
        )
        if share_sessions and not found.seen:
            self._no_returned_items = True
            self._changes["returned_seen"] = Now() - RETURN_VISIBILITY_DELAY
        return found.given

    def _allocate_next(self, *, share_sessions: bool = True) -> bool:
        found = self._lease_from("next", share_sessions=share_sessions, cursor=self.member.cursor)
        if found.first is None:
            passed = self.campaign.item_count
        else:
            passed = found.first if found.given and found.first == found.position else found.first - 1
        if passed > self.member.cursor:
            self._update_member(cursor=passed)
        return found.given

    def _search_again(self) -> bool:
        """From the beginning: if anything has slipped through, it is found here."""
        last = self.member.searched_at
        if last is not None and timezone.now() - last < FULL_SEARCH_INTERVAL:
            return False
        self._update_member(searched_at=timezone.now())
        return self._lease_from("next", share_sessions=True, cursor=0).given

    def _lease_from(self, place: str, *, share_sessions: bool, **position: Any) -> LeaseAttempt:
        for window in leases.WINDOW_SIZES:
            found = leases.lease_item(
                self.asking,
                place,
                ordinal=self.member.served,
                window=window,
                share_sessions=share_sessions,
                **position,
            )
            if found.given or found.seen < window:
                break
        self.is_contended = bool(found.seen) and not found.given
        if found.session is not None and self.campaign.order == Campaign.Order.SESSION:
            self._update_member(session_id=found.session)
        return found
