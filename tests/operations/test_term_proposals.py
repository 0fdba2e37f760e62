"""Brands that a preview proposes to keep, and what people decide."""

import json
from pathlib import Path

import pytest
from django.db import connection

from datasets_app.models import AuditEvent, Dataset, JobRun, ScrubMark, ScrubRun, TextScan, Turn
from datasets_app.scrubbing.marks import keep_terms, mark_not_personal, remove_mark
from datasets_app.scrubbing.proposals import count_open_proposals, find_preview, list_proposals
from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset
from tests.factories import make_dataset, make_turn

pytestmark = pytest.mark.django_db(transaction=True)

PEOPLE = ["Maria", "Kevin", "Priya", "Olga", "Jamal", "Ingrid"]


@pytest.fixture
def stored(tmp_path: Path) -> Dataset:
    lines = []
    for number, person in enumerate(PEOPLE):
        lines += [
            make_turn(f"s{number}", 1, text=f"my name is {person}, where is my order"),
            make_turn(f"s{number}", 2, role="assistant", text=f"Hi {person}! Fredo's Pizzas is on it."),
        ]
    return make_dataset(tmp_path, lines, origin="production")


def preview(stored: Dataset) -> ScrubRun:
    scrub_dataset(stored, parse_policy(None), dry_run=True)
    found = find_preview(stored)
    assert found is not None
    return found


def list_terms(stored: Dataset) -> list[str]:
    return [proposal.snippet.value for proposal in list_proposals(preview(stored))]


def test_a_word_in_many_sessions_is_proposed_and_people_are_not(stored: Dataset) -> None:
    [proposal] = list_proposals(preview(stored))
    assert proposal.snippet.value == "Fredo"
    assert proposal.counts[:4] == (6, 6, 6, 0)
    assert proposal.may_be_name
    # Nothing raw is stored outside the conversations: keys of findings and counts.
    with connection.cursor() as cursor:
        for table in ("scrubrun", "scrubchunk", "scrubfinding", "jobrun", "auditevent", "scrubmark"):
            cursor.execute(f"SELECT t::text FROM datasets_app_{table} t")
            assert "fredo" not in str(cursor.fetchall()).lower(), table


def test_what_is_kept_stays_and_what_is_decided_is_not_proposed_again(stored: Dataset) -> None:
    [proposal] = list_proposals(preview(stored))
    finding = find_preview(stored).findings.get(pk=proposal.finding)  # type: ignore[union-attr]
    mark_not_personal(stored, finding=finding, actor=None)
    assert count_open_proposals(stored) == 0
    assert list_terms(stored) == []
    facts = scrub_dataset(stored, parse_policy(None))
    texts = list(Turn.objects.in_order().values_list("text", flat=True))
    assert texts[:2] == ["my name is [NAME], where is my order", "Hi [NAME]! Fredo's Pizzas is on it."]
    assert find_preview(stored) is None
    verification = ScrubRun.objects.get(pk=facts["scrub"]).verification
    assert verification is not None
    assert verification["exempt"] == {"": [1, 6]}


def test_terms_of_all_datasets(stored: Dataset) -> None:
    assert keep_terms(["Fredo"], actor=None) == []
    assert list_terms(stored) == []
    [mark] = ScrubMark.objects.all()
    assert (mark.dataset, mark.kind, mark.term) == (None, "", "Fredo")
    assert remove_mark(mark, actor=None) == []
    assert list_terms(stored) == ["Fredo"]
    events = AuditEvent.objects.filter(action__endswith="scrub_mark").order_by("pk")
    assert [event.action for event in events] == ["add_scrub_mark", "remove_scrub_mark"]
    assert "fredo" not in json.dumps([event.details for event in events]).lower()


def test_a_pattern_that_stays_everywhere_opens_and_closes_what_it_concerns(
    stored: Dataset, tmp_path: Path
) -> None:
    other = make_dataset(tmp_path, [make_turn("a", text="Mail help@acme-shop.org")], name="other")
    for dataset in (stored, other):
        TextScan.objects.update_or_create(
            dataset=dataset,
            defaults={"scanned_to": 10**9, "found": {"EMAIL": 1} if dataset == other else {}},
        )
    assert keep_terms(["help@acme-shop.org"], actor=None, override="our own address") == [other]
    assert not TextScan.objects.get(dataset=other).found
    scrub_dataset(other, parse_policy(None))
    assert Turn.objects.get(session__dataset=other).text == "Mail help@acme-shop.org"
    [mark] = ScrubMark.objects.all()
    assert (mark.kind, mark.reason) == ("EMAIL", "our own address")
    assert remove_mark(mark, actor=None) == [other]
    assert JobRun.objects.count() == 0


def test_in_a_small_dataset_every_word_that_nothing_shows_to_be_a_person_is_proposed(tmp_path: Path) -> None:
    dataset = make_dataset(
        tmp_path,
        [
            make_turn("a", 1, text="my name is Maria, does Gustave retry failed jobs?"),
            make_turn(
                "a", 2, role="assistant", text="Hi Maria! Gustave retries when a run has no exit code."
            ),
            make_turn("b", 1, text="Merci Hélène, meine Frau Heike fragt auch"),
        ],
        origin="production",
    )
    assert list_terms(dataset) == ["Gustave"]


def test_whoever_is_greeted_is_not_proposed_however_often(tmp_path: Path) -> None:
    lines = []
    for number in range(6):
        lines += [
            make_turn(f"s{number}", 1, text="Hi Jelka, where is my order?"),
            make_turn(
                f"s{number}", 2, role="assistant", text="It is Jelka who packs it. Ask Fredo for pizza."
            ),
        ]
    assert list_terms(make_dataset(tmp_path, lines, origin="production")) == ["Fredo"]


def test_who_is_spoken_to_at_the_end_of_a_sentence_is_not_proposed(tmp_path: Path) -> None:
    lines = []
    for number in range(6):
        lines += [
            make_turn(f"s{number}", 1, text="My order is late."),
            make_turn(
                f"s{number}", 2, role="assistant", text="Sorry about that, Jelka! Ask Fredo for pizza."
            ),
        ]
    assert list_terms(make_dataset(tmp_path, lines, origin="production")) == ["Fredo"]
