"""The queue of disputed replies: which, in which order, and how many."""

from collections.abc import Sequence
from typing import NamedTuple

from django.http import Http404, HttpRequest, QueryDict

from annotations_app.agreement.adjudicate import (
    DisputeCounts,
    count_disputed,
    find_labels,
    list_disputed,
)
from annotations_app.campaigns.pages_common import admin_url, visible_campaign
from annotations_app.models import Assignment, Campaign
from datasets_app.catalog import raw_access
from datasets_app.core.web.pages import get_visible_dataset, parse_pk
from datasets_app.core.web.paging import parse_numbers
from datasets_app.domain.labels.schema import Schema
from datasets_app.models import Dataset

# Looked up at once: finding the most disputed of a million labels takes most of a second.
LOOKAHEAD = 20
MAX_DISPUTE = 1_000_000

# (dispute, primary key of the turn) of a DisputedReply.
DisputePosition = tuple[int, int]


class DisputeQueue(NamedTuple):
    """Replies of a dataset for a persona, or of a campaign; only ties, or only flagged ones."""

    dataset: Dataset
    persona_id: str
    campaign: Campaign | None
    tie: bool
    flagged: bool

    @classmethod
    def from_request(cls, request: HttpRequest) -> "DisputeQueue":
        """As the query string says; 404 for what does not exist or is not visible."""
        query = request.GET
        tie, flagged = "tie" in query, "flagged" in query
        if campaign_pk := parse_pk(query.get("campaign", "")):
            campaign = visible_campaign(request, campaign_pk)
            return cls(campaign.dataset, campaign.persona.persona_id, campaign, tie, flagged)
        dataset_pk, persona = parse_pk(query.get("dataset", "")), query.get("persona", "")
        if not dataset_pk or not persona:
            raise Http404
        dataset = get_visible_dataset(request, dataset_pk)
        if not raw_access.filter_personas(request.user, dataset, [persona]):
            raise Http404
        return cls(dataset, persona, None, tie, False)

    @property
    def schema(self) -> Schema | None:
        """What the campaign asks; None for the built-in criterion."""
        return self.campaign.schema_content if self.campaign else None

    @property
    def scope(self) -> list[tuple[str, str]]:
        if self.campaign:
            return [("campaign", str(self.campaign.pk))]
        return [("dataset", str(self.dataset.pk)), ("persona", self.persona_id)]

    def address(self, page: str = "adjudicate", **more: str) -> str:
        query = QueryDict(mutable=True)
        chosen = {"tie": "1" if self.tie else "", "flagged": "1" if self.flagged else ""}
        for name, value in [*self.scope, *chosen.items(), *more.items()]:
            if value:
                query[name] = value
        return f"{admin_url(f'campaign_{page}')}?{query.urlencode()}"

    def next_turns(self, after: DisputePosition | None) -> list[int]:
        """Turns without an adjudicated label, the most disputed first, after a position."""
        if self.flagged:
            turns = [turn for turn in self._flagged_turns() if not after or turn > after[1]]
            return self.without_adjudicated(turns)[:LOOKAHEAD]
        replies = list_disputed(
            self.dataset, self.persona_id, campaign=self.campaign, after=after, limit=LOOKAHEAD
        )
        # Ties come first of all.
        return [row.turn for row in replies if not self.tie or row.dispute == MAX_DISPUTE]

    def without_adjudicated(self, turns: Sequence[int]) -> list[int]:
        """Those of the turns that have no adjudicated label by now."""
        adjudicated = self._adjudicated_turns(turns)
        return [turn for turn in turns if turn not in adjudicated]

    def counts(self) -> DisputeCounts:
        if not self.flagged:
            return count_disputed(self.dataset, self.persona_id, campaign=self.campaign)
        turns = self._flagged_turns()
        return DisputeCounts(len(turns), len(self._adjudicated_turns(turns)))

    def _flagged_turns(self) -> list[int]:
        flagged = Assignment.objects.filter(campaign=self.campaign, state=Assignment.State.FLAGGED)
        return sorted(set(flagged.order_by().values_list("item__turn", flat=True)))

    def _adjudicated_turns(self, turns: Sequence[int]) -> set[int]:
        labels = find_labels(self.persona_id, self.campaign).filter(turn__in=turns, kind="adjudicated")
        return set(labels.values_list("turn", flat=True))


def parse_position(text: str) -> DisputePosition | None:
    """ "1000000.17" → the place of a turn; None if it is malformed."""
    numbers = parse_numbers(text, 2)
    return (numbers[0], numbers[1]) if numbers else None


def parse_turn_pks(text: str) -> list[int]:
    """ "17.23.4" → primary keys of at most LOOKAHEAD turns."""
    parts = text.split(".")[:LOOKAHEAD]
    return [key for part in parts if (key := parse_pk(part)) is not None]
