"""Which sessions are taken for copies of one another, and that nobody is by chance."""

import random
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_app.domain.splits.near_duplicates import NearDuplicateFinder, Pair, choose_bands, split_words

VOCABULARY = [f"{one}{two}{three}" for one in "bdfgk" for two in "aeiou" for three in ("l", "n", "rt", "st")]


def talk(seed: object, turns: int = 6, length: int = 20) -> list[str]:
    chance = random.Random(str(seed))
    return [" ".join(chance.choices(VOCABULARY, k=length)) for _ in range(turns)]


def found(sessions: list[list[str]], similarity: float = 0.65) -> list[Pair]:
    with NearDuplicateFinder(similarity) as duplicates:
        duplicates.add(sessions)
        return sorted(duplicates.find_pairs())


def exact(one: list[str], other: list[str]) -> float:
    """The plain definition, on words and not on their hashes."""
    first, second = (
        {tuple(w[i : i + 2]) for i in range(max(1, len(w) - 1))} for w in map(split_words, (one, other))
    )
    return len(first & second) / len(first | second)


def test_what_differs_between_copies_is_folded() -> None:
    assert split_words(["Hello, WORLD! Order 4711 of [NAME_1]"]) == split_words(
        ["hello world -- order 12 of [EMAIL]"]
    )
    assert split_words(["[MAC_2:x:x:x:x:x] of [NAME:x]: hi"]) == ["of", "hi"]
    assert split_words(["STRASSE"]) == split_words(["straße"])
    assert split_words(["我要退款"]) == ["我", "要", "退", "款"]
    assert split_words(["👍 👍", "🎉"]) == ["👍", "👍", "🎉"]
    assert split_words(["", " "]) == []


def test_copies_with_small_changes_are_found_and_strangers_are_not() -> None:
    sessions = [talk(number) for number in range(60)]
    one_turn_rewritten = [*sessions[7][:-1], talk("another")[0]]
    shouted = [text.upper() + "!!" for text in sessions[9]]
    pairs = found([*sessions, one_turn_rewritten, shouted, sessions[11]])
    assert [(pair.first, pair.second) for pair in pairs] == [(7, 60), (9, 61), (11, 62)]
    assert [pair.similarity for pair in pairs] == pytest.approx(
        [exact(sessions[7], one_turn_rewritten), 1.0, 1.0], abs=0.02
    )


def test_every_pair_well_above_the_threshold_is_found_and_none_below_it() -> None:
    chance = random.Random(3)
    sessions = [talk(number, 4) for number in range(20)]
    for number in range(60):
        copied = [text.split() for text in sessions[number % 20]]
        for _ in range(chance.randint(1, 25)):
            text = chance.choice(copied)
            text[chance.randrange(len(text))] = chance.choice(VOCABULARY)
        sessions.append([" ".join(text) for text in copied])
    alike = {(pair.first, pair.second): pair.similarity for pair in found(sessions, 0.6)}
    for (i, one), (j, other) in combinations(enumerate(sessions), 2):
        similarity = exact(one, other)
        assert (i, j) not in alike or alike[i, j] == pytest.approx(similarity)
        assert (i, j) in alike or similarity < 0.66
        assert (i, j) not in alike or similarity >= 0.6


def test_neither_order_nor_batches_matter() -> None:
    sessions = [talk(number % 70, 2) + talk(number, 1, 4) for number in range(140)]
    order = list(range(140))
    random.Random(1).shuffle(order)
    forward = {(pair.first, pair.second) for pair in found(sessions)}
    shuffled = {
        tuple(sorted((order[pair.first], order[pair.second])))
        for pair in found([sessions[number] for number in order])
    }
    assert forward == shuffled
    assert len(forward) == 70


def test_thousands_of_one_template_are_found_without_comparing_each_with_each() -> None:
    compared = []
    with NearDuplicateFinder() as duplicates:
        duplicates.add([*talk("template"), talk(number, 1, 3)[0]] for number in range(800))
        pairs = list(duplicates.find_pairs(lambda done, total: compared.append(total)))
    together = {0}
    for pair in sorted(pairs):
        if together & {pair.first, pair.second}:
            together |= {pair.first, pair.second}
    assert len({number for pair in pairs for number in pair[:2]}) == 800
    assert compared[0] < 800 * 800 / 4


def test_sessions_without_any_text_are_nobody_s_twins() -> None:
    assert found([[], [""], [" \n"]]) == []
    assert found([["hm"], ["Hm."], ["ok"]]) == [Pair(0, 1, 1.0)]


@given(st.lists(st.lists(st.text(max_size=12), max_size=3), max_size=6))
def test_any_text_is_taken(sessions: list[list[str]]) -> None:
    for pair in found(sessions, 0.5):
        assert pair.first < pair.second
        assert pair.similarity == pytest.approx(exact(sessions[pair.first], sessions[pair.second]))


@pytest.mark.parametrize("similarity", [0.5, 0.65, 0.8, 0.95])
def test_bands_find_what_is_just_as_alike_as_was_asked_for(similarity: float) -> None:
    bands, rows = choose_bands(similarity)
    assert 1 - (1 - similarity**rows) ** bands >= 0.995
    assert bands * rows <= 256
