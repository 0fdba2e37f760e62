"""Ordinary words of other languages are no people, people named among them are; English is as before."""

import pytest

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


def find_names(text: str) -> list[str]:
    return [text[match.start : match.end] for match in load_name_finder(("builtin",)).find(text)]


def test_words_of_other_languages_are_no_people() -> None:
    found = load_name_finder(("builtin",)).find_many(NOBODY)
    assert not [text[m.start : m.end] for text, matches in zip(NOBODY, found, strict=True) for m in matches]


def test_people_among_such_words_are_found() -> None:
    texts = [text for text, _ in PEOPLE]
    found = load_name_finder(("builtin",)).find_many(texts)
    for (text, name), matches in zip(PEOPLE, found, strict=True):
        assert any(text[m.start : m.end] == name for m in matches), text


@pytest.mark.parametrize(
    "text",
    [
        "Der Drucker druckt nur noch halbe Seiten, Rest bleibt weiß",
        "le plateau n'accroche plus du tout, j'ai pourtant nettoyé la buse",
        "alguien sabe por qué no me deja redimensionar la partición? sale un candado al lado",
        "rilasciata la versione nuova in produzione, tolgo la pagina di manutenzione",
        "Kun je de server herstarten, ik krijg steeds een foutmelding",
        "Está muito perto da mesa, suba um pouco e teste de novo",
        "drukarka pokazuje błąd, co to znaczy?",
    ],
)
def test_what_lists_of_last_names_have_is_no_name_in_a_foreign_text(text: str) -> None:
    assert find_names(text) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Mein Mann Uwe kommt sie morgen abholen.", "Uwe"),
        ("laut oskar war es das Netzteil vom Rechner", "oskar"),
        ("les enfants parlent encore de Monsieur Hugonnet", "Hugonnet"),
        ("c'est mathis qui a la clé de la salle", "mathis"),
        ("pregúntale a julián, él lo montó todo", "julián"),
        ("je laisse Inès Marchal approuver, elle connaît mieux le module", "Inès Marchal"),
    ],
)
def test_people_in_a_foreign_text_are_found(text: str, name: str) -> None:
    assert find_names(text) == [name]


def test_a_foreign_word_leaves_the_names_in_english_text() -> None:
    text = (
        "The list is long: after the soirée we saw Kanye West, P. Diddy and Roberto Cavalli with all of them"
    )
    assert find_names(text) == ["Kanye West", "P. Diddy", "Roberto Cavalli"]


@pytest.mark.parametrize("name", ["sam", "ali", "ella", "mari"])
def test_a_reply_with_a_name_that_is_a_word_elsewhere_is_not_foreign(name: str) -> None:
    for text in (f"{name} 1234", f"my name is {name}", f"{name} anderson"):
        assert any(name in found for found in find_names(text)), text


def test_people_who_are_called_like_software_are_found() -> None:
    people = (
        "Julia hat den Server neu gestartet",
        "ich glaube, Julia hatte das Paket schon auf dem Server installiert",
        "Julia sagte, die API sei langsam",
        "hier Julia nous a envoyé le script",
        "Julia ha reiniciado el servidor",
        "Julia reinició el servidor ayer",
        "Julia ha riavviato il server",
        "Julia heeft gisteren de server herstart",
        "Julia zei dat de API traag is",
        "Julia reiniciou o servidor ontem",
    )
    assert [text for text in people if not " ".join(find_names(text)).startswith("Julia")] == []
