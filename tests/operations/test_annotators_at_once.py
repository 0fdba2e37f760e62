"""Many annotators at the same time, on connections of their own: what must hold holds afterwards."""

import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.utils import timezone

from annotations_app.agreement.adjudicate import adjudicate
from annotations_app.campaigns.edit import edit_campaign
from annotations_app.labeling.decide import decide
from annotations_app.labeling.lease_next import lease_next
from annotations_app.labeling.progress import recent_decisions
from annotations_app.models import Annotation, Assignment, Campaign, CampaignItem, Decision
from datasets_app.core.errors import UserError
from datasets_app.models import Turn
from tests.campaigns import (
    find_inconsistencies,
    get_user,
    make_annotators,
    make_campaign,
    make_replies,
    submit,
)

pytestmark = pytest.mark.django_db(transaction=True)

NAMES = [f"annotator-{number}" for number in range(8)]


@contextmanager
def all_at_once(*workers: object) -> Iterator[None]:
    """Run functions in threads; what one of them raises is raised here."""
    errors: list[BaseException] = []

    def run(worker: object) -> None:
        try:
            worker()  # type: ignore[operator]
        except BaseException as error:  # noqa: BLE001
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    yield
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if errors:
        raise errors[0]


class Annotator:
    """Presses keys at random, some of them twice, until nothing is served to them any more."""

    def __init__(self, to: Campaign, name: str, seed: int) -> None:
        self.to, self.user, self.chance = to, get_user(name), random.Random(seed)
        self.keys: list[uuid.UUID] = []
        self.refused: list[str] = []

    def __call__(self) -> None:
        for _ in range(400):
            current = lease_next(self.to, self.user).current
            if self.chance.random() < 0.05:
                self.run_out()
            if self.chance.random() < 0.1:
                self.take_back()
            if current is None:
                if not Assignment.objects.filter(campaign=self.to, state="leased").exists():
                    return
                time.sleep(0.1)
                continue
            kind = self.chance.choices(["label", "skip", "flag"], [8, 1, 1])[0]
            self.press(current.pk, kind)

    def press(self, assignment: int, kind: str) -> None:
        key = uuid.uuid4()
        label = self.chance.randrange(2) if kind == "label" else None
        try:
            for _ in range(self.chance.choice([1, 1, 2])):
                decide(assignment, self.user, key=key, kind=kind, label=label, notes="A reason.")
        except UserError as refusal:
            self.refused.append(refusal.message)
        else:
            self.keys.append(key)

    def take_back(self) -> None:
        for assignment in recent_decisions(self.to, self.user)[:1]:
            self.press(assignment.pk, "undo")

    def run_out(self) -> None:
        mine = Assignment.objects.filter(annotator=self.user, state="leased")
        mine.update(leased_until=timezone.now() - timedelta(minutes=1))


@pytest.mark.parametrize("order", ["random", "session"])
def test_never_more_than_the_overlap_and_every_key_once(tmp_path: Path, order: str) -> None:
    data = make_replies(tmp_path, 6, turns=8)
    [lead] = make_annotators("lea", role="lead")
    for turn in Turn.objects.filter(role="assistant").order_by("pk")[:4]:
        adjudicate(turn, "warm_v1", label=1, reason="Clear.", actor=lead)
    round_1 = make_campaign(
        data, *NAMES, overlap=3, order=order, gold_share=0.1, repeat_share=0.15, lease_minutes=5
    )
    annotators = [Annotator(round_1, name, seed) for seed, name in enumerate([*NAMES, *NAMES[:4]])]

    def lead_at_work() -> None:
        edit_campaign(round_1, changes={"overlap": 4, "annotators": NAMES[1:]}, actor=lead)
        edit_campaign(round_1, changes={"annotators": NAMES}, actor=lead)

    with all_at_once(*annotators, lead_at_work):
        pass

    assert not find_inconsistencies()
    # Of two tabs one may be too late to take something back; all else that was pressed was taken.
    assert all("undo" in message for one in annotators for message in one.refused)
    keys = [key for annotator in annotators for key in annotator.keys]
    assert Counter(Decision.objects.values_list("key", flat=True)) == Counter(keys)
    per_item = Counter(
        Assignment.objects.filter(state="labelled", repeat=False, item__gold=False).values_list(
            "item", flat=True
        )
    )
    assert max(per_item.values()) == 4
    assert not CampaignItem.objects.filter(open__lt=0).exists()
    labels = Annotation.objects.filter(campaign=round_1).values_list("turn", "annotator", "kind")
    assert max(Counter(labels).values()) == 1


def test_one_key_from_two_at_the_same_moment_is_one_decision(tmp_path: Path) -> None:
    round_1 = make_campaign(make_replies(tmp_path, 6), "ana", "ben")
    mine, theirs = (lease_next(round_1, get_user(name)).current for name in ("ana", "ben"))
    key = uuid.uuid4()
    outcomes = []

    def pressing(assignment: Assignment) -> None:
        try:
            outcomes.append(submit(assignment, key=key).what)
        except UserError as refusal:
            outcomes.append(refusal.message)

    with all_at_once(*[lambda a=a: pressing(a) for a in (mine, theirs, mine, theirs)]):
        pass
    assert Decision.objects.count() == 1
    assert Counter(outcomes) == {
        "counted": 1,
        "known": 1,
        "This decision's key belongs to another decision. Send it again with a new key.": 2,
    }
    assert not find_inconsistencies()
