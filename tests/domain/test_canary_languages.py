"""Planted values in the language of the texts around them: names, sentences, and a result by language."""

import re
import unicodedata
from random import Random
from statistics import median
from string import Formatter

import pytest

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii import detector
from datasets_app.domain.pii.canary.carriers import SENTENCE, Carriers, compile_question_pattern, list_nouns
from datasets_app.domain.pii.canary.language_files import OTHER, list_languages, read_sections, read_words
from datasets_app.domain.pii.canary.measure import measure_survival
from datasets_app.domain.pii.canary.survival import survives
from datasets_app.domain.pii.canary.survival_text import describe_survival
from datasets_app.domain.pii.canary.values import PlantedValue, make_value
from datasets_app.domain.pii.network.languages import load_measured
from datasets_app.domain.pii.placeholders import USUAL_WORDS
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber

LANGUAGES = list_languages()
SCRIPTS = {
    "ar": "ARABIC",
    "el": "GREEK",
    "he": "HEBREW",
    "hi": "DEVANAGARI",
    "ja": "CJK HIRAGANA IDEOGRAPHIC",
    "ko": "HANGUL",
    "ru": "CYRILLIC",
    "uk": "CYRILLIC",
    "zh": "CJK",
}
FEWEST = {"NAME": 4, "user": 3, "assistant": 2, "any": 1, "answers": 2} | dict.fromkeys(
    (detector.PHONE, detector.ADDRESS, detector.DATE_OF_BIRTH, detector.EMAIL), 2
)
# What lexicons of personas are mostly written in.
WESTERN = ("en", "de", "fr", "es", "pt", "it", "nl")
THAI = ("สวัสดีค่ะ สินค้าของฉันยังไม่มาถึงเลย ช่วยตรวจสอบให้หน่อยได้ไหมคะ", "ขอบคุณค่ะ เราจะตรวจสอบให้ทันที")
GERMAN = ("Guten Tag, meine Bestellung ist noch nicht angekommen.", "Das tut mir leid, ich sehe gleich nach.")


def conversation(number: int, *texts: str) -> list[TurnRecord]:
    return [
        TurnRecord(f"s-{number}", place + 1, "assistant" if place % 2 else "user", text, [])
        for place, text in enumerate(texts)
    ]


def spoken(language: str) -> list[TurnRecord]:
    """What people say there, without any value."""
    sections = read_sections(language)
    lines = [*sections["NAME"], *sections["PHONE"], *sections["ADDRESS"], *sections["EMAIL"]]
    return conversation(1, " ".join(lines).replace("{value}", ""), " ".join(lines).replace("{value}", ""))


def scripts_of(text: str) -> set[str]:
    return {unicodedata.name(letter).split()[0] for letter in text if letter.isalpha()}


def test_each_language_in_which_it_is_measured_what_stays_has_a_file() -> None:
    assert set(LANGUAGES) >= {*load_measured(), "en"}
    assert len(LANGUAGES) >= 28


@pytest.mark.parametrize("language", [*LANGUAGES, OTHER])
def test_a_file_has_sentences_of_all_kinds_that_take_a_value(language: str) -> None:
    sections = read_sections(language)
    for title, fewest in FEWEST.items() if language != OTHER else ():
        assert len(set(sections[title])) >= fewest, title
    for title in {*sections, *detector.KINDS} - {
        "nouns",
        "mine",
        "countries",
        "months",
        "women",
        "men",
        "last",
    }:
        fields = {"noun", "value"} if title in ("user", "assistant") else {"value"}
        if title.startswith(("name", "titles")):
            fields = {"first", "last"}
        for line in sections.get(title, ()):
            used = {field for _, field, _, _ in Formatter().parse(line) if field is not None}
            if title == "dates":
                fields = {"year", "yy", "month", "day", "name", "short"}
            exact = not title.startswith(("titles", "dates"))
            assert used == fields if exact else used <= fields, (title, line)
    assert len(read_words(language, "months")) == (12 if "months" in sections else 0)
    assert all(line.split(": ")[0] in detector.KINDS for line in sections["nouns"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_file_has_nouns_and_names_that_stand_in_none_of_its_sentences(language: str) -> None:
    own = {line.split(": ")[0] for line in read_sections(language)["nouns"]}
    assert own >= {"PHONE", "EMAIL", "CREDIT_CARD", "ADDRESS", "ACCOUNT", "DATE_OF_BIRTH", "NAME"}
    names = {title: read_words(language, title) for title in ("women", "men", "last")}
    assert all(len(set(words)) == len(words) for words in names.values())
    assert len(names["women"]) >= 20
    assert len(names["men"]) >= 20
    assert len(names["last"]) >= 39
    lines = [line for title in FEWEST for line in read_sections(language)[title]]
    random = Random(7)
    for _ in range(300):
        name = make_value(detector.NAME, random, language)
        assert not [line for line in lines if survives(name, line)], name
        assert survives(name, f"{lines[0]} {name.text}"), name


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_conversation_gets_names_of_its_script(language: str) -> None:
    carriers, random = Carriers([spoken(language)]), Random(3)
    allowed = set(SCRIPTS.get(language, "LATIN").split())
    for _ in range(25):
        planted = carriers.plant(detector.NAME, random)
        assert scripts_of(planted.value.text) <= allowed
        assert survives(planted.value, planted.turns[planted.place].text)
    if language not in ("da", "no", "hr", "id"):  # others are written much alike
        assert carriers.languages == [language]


@pytest.mark.parametrize("language", LANGUAGES)
def test_questions_for_a_value_are_known_in_each_language(language: str) -> None:
    for kind in (detector.PHONE, detector.EMAIL):
        pattern = compile_question_pattern(kind, language)
        assert pattern is not None
        assert pattern.search(f"{list_nouns(kind, language)[0]}?"), kind
        assert not pattern.search("?")


def test_family_names_stand_first_where_that_is_usual() -> None:
    for language, space in (("zh", ""), ("ja", ""), ("ko", ""), ("hu", " "), ("vi", " ")):
        made = [make_value(detector.NAME, Random(seed), language) for seed in range(60)]
        whole = [name.text for name in made if name.form == "first and last name"]
        lasts, firsts = (
            read_words(language, "last"),
            read_words(language, "women") + read_words(language, "men"),
        )
        assert whole
        assert all(
            any(text == f"{last}{space}{first}" for last in lasts for first in firsts) for text in whole
        )


def test_addresses_and_telephones_are_of_the_countries_of_a_language() -> None:
    for language, country in (("de", "DE"), ("pl", "PL"), ("sv", "SE")):
        forms = {make_value(detector.ADDRESS, Random(seed), language).form for seed in range(30)}
        assert {form.split(",")[0] for form in forms} == {country}
    assert {make_value(detector.PHONE, Random(seed), "fr").form[:2] for seed in range(30)} == {"FR"}
    # Of Japan there are none.
    assert len({make_value(detector.PHONE, Random(seed), "ja").form[:2] for seed in range(60)}) > 3


def test_birth_dates_are_written_as_the_language_writes_them() -> None:
    for language, form in (("en", "March 7, 1984"), ("pl", "7 marca 1984"), ("ja", "1984年3月7日")):
        made = [make_value(detector.DATE_OF_BIRTH, Random(seed), language) for seed in range(60)]
        assert {form, "1984-03-07", "07.03.1984"} <= {value.form for value in made}
    # Without a file: figures alone.
    made = [make_value(detector.DATE_OF_BIRTH, Random(seed), "th") for seed in range(20)]
    assert not any(letter.isalpha() for value in made for letter in value.text)


@pytest.mark.parametrize(
    ("parts", "text", "left"),
    [
        (("田中", "陽子"), "お世話になります、田中さん", True),
        (("田中", "陽子"), "お世話になります、[NAME]さん", False),
        (("민수",), "[NAME]민수입니다", True),
        (("प्रिया",), "मैं प्रिया हूँ", True),
        (("प्रिया",), "मैं प्रियाओं के साथ हूँ", False),
        (("राम",), "रामायण", False),
        (("Novák",), "tady Nováková", False),
        (("İbrahim",), "ben i̇brahim", True),
        (("Νίκος",), "ΝΊΚΟΣ", True),
    ],
)
def test_what_is_left_of_a_name_in_each_script(parts: tuple[str, ...], text: str, left: bool) -> None:
    assert survives(PlantedValue(detector.NAME, "".join(parts), "", parts), text) is left


def test_a_conversation_that_tells_no_language_is_taken_for_one_in_the_most_frequent() -> None:
    carriers = Carriers(
        [
            conversation(1, "1234", "!"),
            conversation(2, *GERMAN),
            conversation(3, *GERMAN),
            conversation(4, *THAI),
        ]
    )
    assert carriers.languages == ["de", "de", "de", "th"]
    assert Carriers([conversation(1, "1234", "!")]).languages == ["en"]


def test_in_a_language_without_a_file_values_are_planted_bare() -> None:
    carriers, random = Carriers([conversation(1, *THAI)]), Random(4)
    for kind in detector.KINDS:
        planted = carriers.plant(kind, random)
        text = planted.turns[planted.place].text
        assert planted.manner == SENTENCE
        added = text
        for line in THAI:
            added = added.replace(line, "")
        nouns = planted.value.nouns or list_nouns(kind, "th")
        rest = added.replace(planted.value.text, "").strip(" .,:。")
        assert rest in ("", *(noun.strip(".") for noun in nouns)), (kind, added)


def test_the_result_by_language_adds_up_and_is_said() -> None:
    sessions = [conversation(1, *GERMAN), conversation(2, *THAI), conversation(3, *THAI)]
    scrubber = Scrubber(Policy(kinds=(detector.EMAIL,)), key=b"a key for tests, of no other worth")
    survival = measure_survival(sessions, scrubber, count=10 * len(detector.KINDS), seed=3)
    assert set(survival.by_language) == {"de", "th"}
    assert sum(one.planted for one in survival.by_language.values()) == survival.planted
    assert sum(one.survived for one in survival.by_language.values()) == survival.survived > 100
    german, thai = survival.by_language["de"], survival.by_language["th"]
    shares = [f"German {german.survived} of {german.planted}", f"Thai {thai.survived} of {thai.planted}"]
    said = describe_survival(survival.as_json())
    assert said.endswith(f" By language: {shares[1]}, {shares[0]}.")
    alone = measure_survival(sessions[:1], scrubber, count=len(detector.KINDS), seed=3)
    assert "By language" not in describe_survival(alone.as_json())
    stored = {name: value for name, value in survival.as_json().items() if name != "languages"}
    assert said.startswith(describe_survival(stored))


def test_of_many_languages_the_most_frequent_are_named() -> None:
    stated = {"planted": 12, "survived": 2, "upper": 0.4, "confidence": 0.95}
    languages = {name: {"planted": 20 - place, "survived": 1} for place, name in enumerate(LANGUAGES[:11])}
    said = describe_survival({**stated, "languages": languages})
    assert said.count(" of ") == 11
    assert said.endswith("3 other languages 3 of 33.")


def test_padded_placeholders_have_as_many_words_as_values_of_their_class_usually_have() -> None:
    for kind in detector.KINDS:
        made = [make_value(kind, Random(seed), code) for code in WESTERN for seed in range(60)]
        words = median(len(re.findall(r"[\w']+", value.text)) for value in made)
        assert abs(USUAL_WORDS.get(kind, 1) - words) <= 1, f"{kind} has {words} words: USUAL_WORDS"
