"""What people say of findings is kept, and applied to the whole dataset from then on."""

from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from datasets_app.core.errors import UserError
from datasets_app.models import AuditEvent, Dataset, ScrubFinding, ScrubMark, Turn
from datasets_app.scrubbing.marks import mark_missed, mark_not_personal, remove_mark
from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset
from tests.factories import make_dataset, make_turn

pytestmark = pytest.mark.django_db(transaction=True)

LINES = [
    make_turn("a", 1, text="Write to help@acme-shop.org, or to jo@example.org."),
    make_turn("a", 2, text="The code word is Blue  Heron 42.", metadata={"hint": "blue heron 42"}),
    make_turn("b", 1, text="It was BLUE HERON 42, from help@acme-shop.org"),
]


@pytest.fixture
def stored(tmp_path: Path) -> Dataset:
    return make_dataset(tmp_path, LINES)


def preview(stored: Dataset) -> list[ScrubFinding]:
    scrub_dataset(stored, parse_policy(None), dry_run=True)
    return list(ScrubFinding.objects.order_by("session", "turn_index", "start"))


def missed(stored: Dataset, **given: Any) -> ScrubMark:
    second = Turn.objects.get(session__session_id="a", turn_index=2)
    start = second.text.index("Blue")
    place = {"turn": second, "field": "text", "start": start, "end": start + 14, "kind": "CREDENTIAL"}
    return mark_missed(stored, **{**place, **given}, actor=None)


def test_what_is_not_personal_stays_everywhere(stored: Dataset) -> None:
    first = preview(stored)[0]
    mark = mark_not_personal(stored, finding=first, actor=None, override="our own address")
    assert (mark.term, mark.kind, mark.reason) == ("help@acme-shop.org", "EMAIL", "our own address")
    assert mark_not_personal(stored, term="help@acme-shop.org", actor=None, override="again") == mark
    scrub_dataset(stored, parse_policy(None))
    texts = list(Turn.objects.in_order().values_list("text", flat=True))
    assert texts[0] == "Write to help@acme-shop.org, or to [EMAIL]."
    assert "help@acme-shop.org" in texts[2]


def test_what_was_missed_is_found_everywhere_and_kept_nowhere(stored: Dataset) -> None:
    mark = missed(stored)
    assert (mark.kind, mark.words, mark.length, mark.term) == ("CREDENTIAL", 3, 13, "")
    with connection.cursor() as cursor:
        for table in ("scrubmark", "auditevent"):
            cursor.execute(f"SELECT t::text FROM datasets_app_{table} t")
            assert "heron" not in str(cursor.fetchall()).lower()
    assert {(f.turn_index, f.field) for f in preview(stored) if f.kind == "CREDENTIAL"} >= {
        (2, "text"),
        (2, "metadata.hint"),
        (1, "text"),
    }
    scrub_dataset(stored, parse_policy(None))
    assert not any("heron" in f"{row.text} {row.metadata}".lower() for row in Turn.objects.all())


def test_a_mark_that_was_removed_is_forgotten(stored: Dataset) -> None:
    remove_mark(missed(stored), actor=None)
    assert not any(finding.kind == "CREDENTIAL" for finding in preview(stored))
    told = AuditEvent.objects.filter(action__in=["add_scrub_mark", "remove_scrub_mark"]).order_by("pk")
    assert [event.details["verdict"] for event in told] == ["missed", "missed"]


def test_a_value_that_was_replaced_is_known_to_nobody(stored: Dataset) -> None:
    scrub_dataset(stored, parse_policy(None))
    finding = ScrubFinding.objects.first()
    with pytest.raises(UserError, match="nobody knows it any more"):
        mark_not_personal(stored, finding=finding, actor=None)


@pytest.mark.parametrize(
    "given",
    [{"end": 999}, {"start": 5, "end": 5}, {"field": "metadata.nowhere"}, {"kind": "what?"}, {"end": 18}],
)
def test_marks_that_say_nothing_are_refused(stored: Dataset, given: dict[str, Any]) -> None:
    if given == {"end": 18}:
        given = {"start": 16, "end": 17}  # a blank
    with pytest.raises(UserError) as refused:
        missed(stored, **given)
    assert "Heron" not in refused.value.message
    assert not ScrubMark.objects.exists()


@pytest.mark.parametrize("term", ["", "  ", "x" * 201])
def test_a_term_must_be_one(stored: Dataset, term: str) -> None:
    with pytest.raises(UserError, match="1 to 200"):
        mark_not_personal(stored, term=term, actor=None)


def test_a_mark_never_holds_a_term_and_a_digest(stored: Dataset) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        ScrubMark.objects.create(
            dataset=stored, verdict="missed", kind="NAME", term="Jo", digest="ab", words=1, length=2
        )
