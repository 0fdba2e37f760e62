"""Ordinary words of other languages are no people, people named among them are; English is as before."""

from datasets_app.domain.pii.names.foreign_words import find_ordinary_words, load_foreign_words
from datasets_app.domain.pii.names.names import load_name_finder

NOBODY = (
    "Meine Rechnung ist falsch, bitte rufen Sie mich an",
    "Mon colis n'est pas arrivé, merci de me rappeler",
    "mi pedido no llegó y nadie me contesta",
    "il mio pacco non è ancora arrivato",
    "Mijn pakket is niet bezorgd en de klantenservice neemt niet op",
    "Mój telefon nie działa od wczoraj",
    "jag har inte fått min beställning ännu",
)
PEOPLE = (
    ("Mit freundlichen Grüßen\nSabine Hoffmann", "Sabine Hoffmann"),
    ("bonjour, je suis Camille Lefebvre et mon colis est perdu", "Camille Lefebvre"),
    ("hola, mi nombre es Alejandro Vargas", "Alejandro Vargas"),
    ("thanks, Hans wrote that already", "Hans"),
    ("Telefon: see below, ask Sarah Miller", "Sarah Miller"),
)


def test_words_of_other_languages_are_no_people() -> None:
    found = load_name_finder(("builtin",)).find_many(NOBODY)
    assert not [text[m.start : m.end] for text, matches in zip(NOBODY, found, strict=True) for m in matches]


def test_people_among_such_words_are_found() -> None:
    texts = [text for text, _ in PEOPLE]
    found = load_name_finder(("builtin",)).find_many(texts)
    for (text, name), matches in zip(PEOPLE, found, strict=True):
        assert any(text[m.start : m.end] == name for m in matches), text


def test_english_text_is_judged_as_before() -> None:
    words = "Hans and Mette asked Van Morrison in Adelaide".split()
    assert find_ordinary_words(words, range(len(words))) == []
    foreign, every = load_foreign_words()
    assert foreign < every
    assert not {"the", "and", "please", "phone"} & foreign
