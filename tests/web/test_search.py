"""Searching turns: what is found, what is not, and that no syntax breaks it."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from datasets_app.catalog import search
from datasets_app.catalog.search import MAX_HITS, make_excerpt, search_turns
from datasets_app.models import Dataset, Turn
from tests import factories


@pytest.fixture
def searched(db: None, tmp_path: Path) -> list[int]:
    texts = [
        "My refund is late",
        "The order number is wrong",
        "Order a refund, please",
        "مرحبا فاتورتي",
        "Nothing",
    ]
    lines = [
        factories.make_turn("s1", index, text=text, tags=[f"scenario:{index % 2}"])
        for index, text in enumerate(texts, 1)
    ]
    dataset = factories.make_dataset(tmp_path, lines)
    factories.make_dataset(tmp_path, [factories.make_turn(text="refund elsewhere")], "other")
    return [dataset.pk]


def found(ids: list[int], words: str, **more: Any) -> list[int]:
    turn_ids = [key.turn for key in search_turns(ids, words, **more).turns]
    return list(Turn.objects.filter(pk__in=turn_ids).in_order().values_list("turn_index", flat=True))


@pytest.mark.parametrize(
    ("words", "turns"),
    [
        ("refund", [1, 3]),
        ("REFUND", [1, 3]),
        ("refund order", [3]),
        ('"order number"', [2]),
        ("late or wrong", [1, 2]),
        ("refund -late", [3]),
        ("فاتورتي", [4]),
        ("refun", [1, 3]),
        ("ord num", [2]),
        ("re", []),
        ('"refun"', []),
        ("refun -late", []),
        ("efund", []),
        ("zzz", []),
        ("-", []),
        ("' OR 1=1 --", []),
        ("& | ! ( ) : *", []),
        ('"unclosed', []),
        ("\0refund", [1, 3]),
        ("%s {} %(tag)s", []),
        ("\\", []),
    ],
)
def test_words(searched: list[int], words: str, turns: list[int]) -> None:
    assert found(searched, words) == turns


def test_tags_and_roles_narrow_it(searched: list[int]) -> None:
    assert found(searched, "", tag="scenario:1") == [1, 3, 5]
    assert found(searched, "refund", tag="scenario:0") == []
    assert found(searched, "", tag="scenario") == []
    assert found(searched, "order", role="assistant") == [2]
    assert found([], "refund") == []
    assert found(searched, "", role="user") == []


def test_of_a_common_word_in_many_turns_the_first_are_found(
    db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only where the index would find it, too: not in a tag, not as part of an address."""
    odd = ["see refund .com", "the <b refund > tag", "refund.example.com is down", "the Refund is late"]
    texts = [*odd, *["my refund is late"] * (MAX_HITS + 1)]
    lines = [factories.make_turn("s1", index, text=text) for index, text in enumerate(texts, 1)]
    ids = [factories.make_dataset(tmp_path, lines).pk]
    by_index = search_turns(ids, "refund")
    monkeypatch.setattr(search, "MIN_TURNS_FOR_FIRST", 0)
    first = search_turns(ids, "Refund")
    assert first.more
    assert by_index.more
    assert len(first.turns) == MAX_HITS
    assert 2 not in found(ids, "refund")
    assert not {2, 3} & set(found(ids, '"refund"'))
    assert found(ids, "refund", role="assistant") == found(ids, "REFUND or REFUND", role="assistant")
    assert len(found(ids, "tag")) == 1


def test_a_word_in_every_turn_is_cut_short_and_said_so(sign_in: Any, tmp_path: Path) -> None:
    factories.make_dataset(tmp_path, factories.make_sessions(MAX_HITS // 2 + 5))
    client = sign_in("curator")
    address = reverse("admin:datasets_app_turn_changelist")
    page = client.get(address, {"q": "number"}).content.decode()
    assert "More than 1,000 turns match" in page
    seen = set()
    for number in range(1, MAX_HITS // 50 + 1):
        page = client.get(address, {"q": "number", "page": number}).content.decode()
        rows = re.findall(r"/session/(\d+)/change/\?turn=(\d+)#", page)
        assert len(rows) == 50
        seen |= set(rows)
    assert len(seen) == MAX_HITS
    assert 'rel="next"' not in page


def test_the_index_is_the_one_that_is_searched(searched: list[int]) -> None:
    """The expression of the search must stay that of the migration, or every text is read."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'turn_search'")
        definition = cursor.fetchone()[0]
    assert "to_tsvector('simple'::regconfig, COALESCE(\"left\"(text, 50000), ''::text)), tags" in definition


def test_a_miss_says_how_to_search(sign_in: Any, dataset: Dataset) -> None:
    page = sign_in("curator").get(reverse("admin:datasets_app_turn_changelist"), {"q": "zzz"})
    assert "No matching turns" in page.content.decode()


@pytest.mark.parametrize(
    ("text", "words", "pieces"),
    [
        ("a refund.", "refund", [("a ", False), ("refund", True), (".", False)]),
        ("Refund refunds", "refund", [("Refund", True), (" ", False), ("refunds", True)]),
        ("Refund refunds", '"refund"', [("Refund", True), (" refunds", False)]),
        ("a (b", "(b", [("a (", False), ("b", True)]),
        ("kept", "-kept or", [("kept", False)]),
        ("", "x", []),
    ],
)
def test_excerpts(text: str, words: str, pieces: list[tuple[str, bool]]) -> None:
    assert make_excerpt(text, words).pieces == pieces


def test_an_excerpt_is_cut_around_the_word() -> None:
    cut = make_excerpt("x " * 1000 + "needle" + " y" * 1000, "needle")
    assert cut.cut_before
    assert cut.cut_after
    assert ("needle", True) in cut.pieces
    assert sum(len(piece) for piece, _ in cut.pieces) <= 280


def test_a_search_in_all_datasets_says_which_it_covers(
    sign_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("earlier", "later"):
        factories.make_dataset(tmp_path, factories.make_sessions(1), name)
    client = sign_in("curator")
    address = reverse("admin:datasets_app_turn_changelist")
    found = client.get(address, {"q": "says"}).content.decode()
    assert "earlier" in found
    assert "recently updated" not in found
    monkeypatch.setattr("datasets_app.browsing.turn_pages.MAX_DATASETS_SEARCHED", 1)
    Dataset.objects.get(name="later").save()
    response = client.get(address, {"q": "says"})
    assert "Searched the 1 most recently updated" in response.content.decode()
    assert {turn.session.dataset.name for turn in response.context["page"].rows} == {"later"}
