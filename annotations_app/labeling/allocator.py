"""The next things for one annotator: items, gold items and hidden repeats, as the campaign asks for them."""

from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef
from django.db.models.functions import Now
from django.utils import timezone

from annotations_app.domain.assignment import REPEAT_DISTANCE, Next, draw, kind_of_next
from annotations_app.labeling import leases
from annotations_app.labeling.leases import Asking, Found
from annotations_app.models import Assignment, Campaign, CampaignMember

# A repeat is drawn from so many of the latest labels that are far enough away.
REPEATS_FROM = 200
# Who finds nothing has everything gone through again, but not at every call.
SEARCH_AGAIN_AFTER = timedelta(minutes=1)
# What others give back can be seen so long afterwards.
SETTLED_AFTER = timedelta(seconds=10)


class Giver:
    """Gives to one member of that user name, whose row is locked; keeps where they are in it.

    ``contended``: something was there, but others were taking it at this very moment.
    """

    def __init__(self, member: CampaignMember, name: str, asking: Asking) -> None:
        self.member, self.name, self.asking, self.campaign = member, name, asking, member.campaign
        self.contended = False
        self._nothing_returned = False
        self._changes: dict[str, Any] = {}

    def give(self, count: int) -> None:
        """Up to ``count`` things, each of the kind that is due, or an item where there is none of it."""
        for _ in range(count):
            kind = kind_of_next(
                self.campaign.seed,
                self.name,
                self.member.served,
                gold_share=self.campaign.gold_share,
                repeat_share=self.campaign.repeat_share,
            )
            given = kind is Next.GOLD and self._give_gold() or kind is Next.REPEAT and self._give_repeat()
            if not given and not self._give_item():
                break
            self._set(served=self.member.served + 1)
        if self._changes:
            CampaignMember.objects.filter(pk=self.member.pk).update(**self._changes)

    def _set(self, **changes: Any) -> None:
        for name, value in changes.items():
            setattr(self.member, name, value)
        self._changes |= changes

    def _give_gold(self) -> bool:
        position = leases.take_gold(
            self.asking, ordinal=self.member.served, gold_cursor=self.member.gold_cursor
        )
        if position is None:
            return False
        self._set(gold_cursor=position)
        return True

    def _give_repeat(self) -> bool:
        item = self._item_to_repeat()
        if item is None:
            return False
        leases.give_again(self.asking, item, ordinal=self.member.served)
        return True

    def _item_to_repeat(self) -> int | None:
        """One they have labelled, with enough decisions since; at most once each."""
        own = Assignment.objects.of(self.member.campaign_id, self.member.user_id)
        far = list(own.decided().values_list("decided_at", flat=True)[REPEAT_DISTANCE : REPEAT_DISTANCE + 1])
        if not far:
            return None
        again = Assignment.objects.filter(item=OuterRef("item"), annotator=self.member.user_id, repeat=True)
        items = list(
            own.decided()
            .filter(~Exists(again), state="labelled", repeat=False, decided_at__lte=far[0])
            .values_list("item", flat=True)[:REPEATS_FROM]
        )
        if not items:
            return None
        drawn = draw(self.campaign.seed, self.name, self.member.served, "repeat")
        return int(items[int(drawn * len(items))])

    # --- items ------------------------------------------------------------------------------------

    def _give_item(self) -> bool:
        if self.campaign.order == Campaign.Order.SESSION and self._give_within_sessions():
            return True
        return self._give_returned() or self._give_next() or self._search_again()

    def _give_within_sessions(self) -> bool:
        """What is left of the session they are in, else one that nobody is in the middle of."""
        if self.member.session_id is not None:
            found = self._look("session", beside_others=False, session=self.member.session_id)
            if found.given:
                return True
        leases.begin_session(self.member.campaign_id)
        return self._give_returned(beside_others=False) or self._give_next(beside_others=False)

    def _give_returned(self, *, beside_others: bool = True) -> bool:
        """What was given back after they had passed it by."""
        if self._nothing_returned:
            return False
        found = self._look(
            "returned",
            beside_others=beside_others,
            cursor=self.member.cursor,
            returned_seen=self.member.returned_seen,
        )
        if beside_others and not found.seen:
            self._nothing_returned = True
            self._changes["returned_seen"] = Now() - SETTLED_AFTER
        return found.given

    def _give_next(self, *, beside_others: bool = True) -> bool:
        found = self._look("next", beside_others=beside_others, cursor=self.member.cursor)
        if found.first is None:
            passed = self.campaign.item_count
        else:
            passed = found.first if found.given and found.first == found.position else found.first - 1
        if passed > self.member.cursor:
            self._set(cursor=passed)
        return found.given

    def _search_again(self) -> bool:
        """From the beginning: if anything has slipped through, it is found here."""
        last = self.member.searched_at
        if last is not None and timezone.now() - last < SEARCH_AGAIN_AFTER:
            return False
        self._set(searched_at=timezone.now())
        return self._look("next", beside_others=True, cursor=0).given

    def _look(self, place: str, *, beside_others: bool, **where: Any) -> Found:
        for window in leases.WINDOWS:
            found = leases.take(
                self.asking,
                place,
                ordinal=self.member.served,
                window=window,
                beside_others=beside_others,
                **where,
            )
            if found.given or found.seen < window:
                break
        self.contended = bool(found.seen) and not found.given
        if found.session is not None and self.campaign.order == Campaign.Order.SESSION:
            self._set(session_id=found.session)
        return found
