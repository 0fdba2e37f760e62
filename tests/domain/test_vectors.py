"""Vectors of frequent words, which tell the network what a word means in any language."""

import numpy as np

from datasets_app.domain.pii.network.features import VECTOR, FeatureReader
from datasets_app.domain.pii.network.lexicon import KNOWN_LEVEL, hash_word, list_hashes, look_up
from datasets_app.domain.pii.network.vectors import load_vectors


def compare(one: str, other: str) -> float:
    vectors = load_vectors()
    found = vectors.read(np.array(vectors.find([one, other])))
    return float(found[0] @ found[1] / np.linalg.norm(found[0]) / np.linalg.norm(found[1]))


def read_row(word: str) -> int:
    return FeatureReader().read_words([word])[0][VECTOR]


def test_words_of_one_meaning_are_near_each_other_in_any_language() -> None:
    for one, other in (("danke", "thanks"), ("berlin", "hamburg"), ("猫", "子猫")):
        assert compare(one, other) > compare(one, "router") + 0.2


def test_each_common_word_has_a_vector_and_no_other_word() -> None:
    vectors = load_vectors()
    assert len(vectors.codes) == len(list_hashes(KNOWN_LEVEL)) + 1
    assert vectors.find(["danke", "qwrtzplk", "kowalczykówna"])[1:] == [0, 0]
    # A name that is no frequent word of any language is in the lexicon, but means nothing.
    name = "abbruzzese"
    assert look_up([name])[0]
    assert hash_word(name) not in list_hashes(KNOWN_LEVEL)
    assert vectors.find([name]) == [0]
    assert not vectors.read(np.array([0])).any()


def test_an_unknown_form_has_the_vector_of_its_longest_known_beginning() -> None:
    assert read_row("Bäckereien") in load_vectors().find(["bäckereien", "bäckereie", "bäckerei"])
    assert read_row("Danke") == read_row("danke") > 0
    assert read_row("[NAME]") == read_row("tune2fs") == read_row("!") == 0


def test_a_character_has_the_vector_of_the_word_that_it_is_part_of() -> None:
    from datasets_app.domain.pii.network.words import split_words

    text = "熊猫"
    rows, _gaps = FeatureReader().read(text, split_words(text))
    assert [row[VECTOR] for row in rows] == load_vectors().find([text]) * 2
