"""Products that look like people, and people who are called like products."""

import pytest

from datasets_app.domain.pii.names.gazetteer import look_up_word
from datasets_app.domain.pii.names.names import load_name_finder
from datasets_app.domain.pii.names.products import PRODUCTS_PATH, Certainty, _load_entries, _read_entries


def find_names(text: str) -> list[str]:
    matches = load_name_finder(("builtin",)).find(text)
    return [text[match.start : match.end] for match in matches]


@pytest.mark.parametrize(
    "text",
    [
        "Have you tried Kibana and Grafana?",
        "I installed Lenovo drivers and Raspberry Pi OS",
        "Ask Popeyes, or Wendy's, if they have it",
        "I got a Baconator at Wendy's yesterday",
        "she bought a Calvin Klein jacket and a Dr Pepper",
        "is the Jenkins server down?",
        "the service is written in Julia",
        "we use Django with Julia 1.9",
        "Cassandra, Kafka and Hadoop",
        "I switched to Hugo last year",
        "Do you speak Kannada or Urdu?",
        "the Oscar plan and the Ada compiler",
        "MinHash and RDFLib are in the POSIX layer, see MyModel",
        "call gus(max=3) and wendell=60 on the EBCDIC terminal",
    ],
)
def test_products_are_no_people(text: str) -> None:
    assert find_names(text) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("my name is Julia", ["Julia"]),
        ("Julia Roe wrote it in Julia", ["Julia Roe"]),
        ("I talked to Julia about the Jenkins server", ["Julia"]),
        ("Dear Ruby, thanks for the help", ["Ruby"]),
        ("please ask Oscar to call me", ["Oscar"]),
        ("I gave it to Mrs. Jenkins on Monday", ["Jenkins"]),
        ("James Dyson and Edward Jones", ["James Dyson", "Edward Jones"]),
        ("Wendy's house is next to Denny's", ["Wendy"]),
        ("Carter's laptop is broken", ["Carter"]),
        ("Mary McDonald, DeShawn Ford and JoAnn Chase", ["Mary McDonald", "DeShawn Ford", "JoAnn Chase"]),
        ("customer: tamil", ["tamil"]),
    ],
)
def test_people_who_are_called_like_products_are_found(text: str, names: list[str]) -> None:
    assert find_names(text) == names


def test_the_packaged_list() -> None:
    entries = list(_read_entries(PRODUCTS_PATH.read_text(encoding="utf-8")))
    assert len(entries) > 2_000
    assert all(entry.words and entry.words[0][0] not in "?!," for entry in entries)
    # What needs no context is a first name in no list.
    sure = [
        entry.words[0] for entry in entries if entry.certainty == Certainty.SURE and len(entry.words) == 1
    ]
    assert not [word for word in sure if look_up_word(word).first]
    assert {entry.certainty for entry, _ in _load_entries()["wendy"]} == {Certainty.DOUBTFUL}
