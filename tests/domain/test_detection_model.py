"""The detection model: wording that no rule and no template has, near misses, and what holds for any text."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.pii.detection import ValueFinder
from datasets_app.domain.pii.learned import detection_model
from datasets_app.domain.pii.learned.candidates import Candidate, find_dates, find_numbers
from datasets_app.domain.pii.learned.detection_model import WEIGHTS_PATH, find_answers, search_folded
from datasets_app.domain.pii.learned.features import (
    CLASSIFY,
    DESCRIBE,
    list_features,
    split_question,
    split_tokens,
)
from datasets_app.domain.pii.learned.parts import (
    MIN_NUMBER_DIGITS,
    Parts,
    count_digits_in_row,
    may_hold_date,
)
from datasets_app.domain.pii.learned.scoring import Scorer, Weights
from datasets_app.domain.pii.rules.finder import find_all
from scripts.detection_model.examples import Row, list_examples, make_rows
from tests.domain.growth import assert_linear_time
from tests.strategies import EXAMPLES_FACTOR

MAX_MEGABYTES = 5


def list_values(text: str, kind: str) -> list[str]:
    return [text[match.start : match.end] for match in ValueFinder(find_all).find(text) if match.kind == kind]


# None of the wording around numbers and dates is in a template; like that around some of the user names and
# near misses the network has learned lines (``scripts/network/texts/en-users.txt``).
FOUND = (
    ("Lass uns kurz schnacken, du kriegst mich auf 0176 4455 812 an die Strippe", "PHONE", "0176 4455 812"),
    ("my handset got a new sim, so it's 4021 77 65 from Monday", "PHONE", "4021 77 65"),
    ("give my carer a tinkle, 40 21 77 65", "PHONE", "40 21 77 65"),
    ("la ligne du gardien, c'est 40 21 77 65 12", "PHONE", "40 21 77 65 12"),
    ("kid came along 14.02.2011, needs own card", "DATE_OF_BIRTH", "14.02.2011"),
    ("nata quel bellissimo 3 maggio 1988, mia figlia", "DATE_OF_BIRTH", "3 maggio 1988"),
    ("everybody in the lobby knows me as brambleknot", "HANDLE", "brambleknot"),
    ("the fellow behind otter_parade sold me a dud", "HANDLE", "otter_parade"),
    ("kannst du pixelfuchs23 entsperren?", "HANDLE", "pixelfuchs23"),
    ("please kick snorlax_fan off the server", "HANDLE", "snorlax_fan"),
    ("the consulate noted L4471920X as my passport", "ID_NUMBER", "L4471920X"),
    ("mon passeport porte le 14AF82251", "ID_NUMBER", "14AF82251"),
    (
        "our twins were born the seventh of may two thousand and one",
        "DATE_OF_BIRTH",
        "seventh of may two thousand",
    ),
    (
        "ik ben geboren op zeven mei negentienhonderd vierentachtig",
        "DATE_OF_BIRTH",
        "zeven mei negentienhonderd",
    ),
    ("I was born 04/22/93 first child of three", "DATE_OF_BIRTH", "04/22/93"),
    ("everyone online knows me as thornpickle, same on discord", "HANDLE", "thornpickle"),
)
KEPT = (
    "the parcel label reads 40217765",
    "python -c 'print(42150373126)'",
    "please edit settings.py and created_at",
    "upgrade to v8.5.6-rc4",
    "the delivery comes on the seventh of may",
    "version 2024.11.03 came out",
    "we sold 40217765 tickets",
    "the concert is on 3 May 2025",
    "the lobby opens at noon on 14.02.2025",
    "my username keeps getting rejected",
    "the getUserName call is slow",
    "row 4021776 has a typo",
    "kubectl get pods shows web-frontend-7",
    "Rechnung 40217765 vom 14.02.2024",
    "meet us in the discord server",
    "call the helper parse_date first",
    "https://acme.com/reports?from=1700000000&to=1700086400",
    "github_login",
    "guardian_phone2",
)


def test_wording_that_nobody_wrote_down_is_judged_by_its_words() -> None:
    missed = [(text, kind) for text, kind, value in FOUND if value not in " ".join(list_values(text, kind))]
    assert not missed


def test_what_only_looks_like_personal_data_stays() -> None:
    taken = {text: [text[m.start : m.end] for m in ValueFinder(search_folded).find(text)] for text in KEPT}
    assert not {text: found for text, found in taken.items() if found}


def test_the_question_decides_what_a_reply_is() -> None:
    for question, reply, kind in (
        ("Which line could our fitter try on the day?", "4021 77 65 12", "PHONE"),
        (
            "And when did you first see the light of the day? Your date of birth, please",
            "02.11.1971",
            "DATE_OF_BIRTH",
        ),
    ):
        assert [match.kind for match in find_answers(question, reply)] == [kind], question
    assert not find_answers("What does the parcel label say?", "40217765")
    assert not find_answers("When did you order?", "02.11.2024")


@settings(max_examples=150)
@given(st.text(max_size=120), st.text(max_size=40))
def test_findings_lie_in_the_text_and_are_always_the_same(text: str, question: str) -> None:
    for found in (search_folded(text), find_answers(question, text)):
        assert all(0 <= match.start < match.end <= len(text) for match in found)
        assert {match.kind for match in found} <= detection_model.KINDS
    assert search_folded(text) == search_folded(text)


def sum_features(weights: Weights, row: Row, candidate: Candidate) -> int:
    features = set(list_features(row.text, candidate, row.question))
    return sum(weights.weigh(candidate.sort, *feature) for feature in features)


def test_tables_give_the_sum_of_the_features_and_no_candidate_is_ruled_out_early() -> None:
    with np.load(WEIGHTS_PATH) as stored:
        weights = Weights(stored["weights"], 1.0)
    scorers = {sort: Scorer(weights, sort) for sort in DESCRIBE}
    # Every third one by day.
    rows = list(make_rows(random.Random(5), 1))[:: 1 if EXAMPLES_FACTOR > 1 else 3]
    rows += [
        row._replace(text="\n".join(other.text for other in rows[n : n + 3]))
        for n, row in enumerate(rows[:300])
    ]
    parts = Parts()
    for row in rows:
        context = parts.split(row.text)
        assert list(zip(*context[1:], strict=True)) == split_tokens(row.text), row.text
        asked = split_question(row.question) if row.question else None
        of_parts = [parts[part].flags for part in row.text.split()]
        assert count_digits_in_row(of_parts) >= MIN_NUMBER_DIGITS or not list(find_numbers(row.text))
        assert may_hold_date(of_parts) or not list(find_dates(row.text)), row.text
        for find in (find_numbers, find_dates):
            for candidate in list(find(row.text))[:4]:
                sort, start, end = candidate
                value = row.text[start:end]
                own = scorers[sort].weigh_value(DESCRIBE[sort](value))
                score = scorers[sort].score(context, start, end, CLASSIFY[sort](value), own, asked)
                assert score == sum_features(weights, row, candidate), (row.text, value)


def test_candidates_take_linear_time() -> None:
    for piece in ("1 ", "12.", "2 may ", "a1-", "one hundred and ", "A12 ", "x_", "the 3rd of "):
        assert_linear_time(lambda text: [list(find(text)) for find in (find_numbers, find_dates)], piece)


def test_the_weights_are_small_and_hold_no_words() -> None:
    assert WEIGHTS_PATH.stat().st_size < MAX_MEGABYTES * 1e6
    with np.load(WEIGHTS_PATH) as stored:
        assert {stored[name].dtype.kind for name in stored.files} <= {"i", "f"}


def test_every_template_can_be_filled_and_training_repeats_itself() -> None:
    from scripts.detection_model import training

    rows = list(make_rows(random.Random(3), 1))
    assert {row.language for row in rows} >= {
        "en",
        "de",
        "fr",
        "es",
        "it",
        "nl",
        "pt",
        "pl",
        "sv",
        "da",
        "no",
        "fi",
        "cs",
    }
    examples = [example for row in rows[:400] for example in list_examples(row)]
    labels = np.array([bool(example.kind) for example in examples])
    assert labels.any()
    assert not labels.all()
    weights = [
        training.fit(training.make_matrix(examples), labels, training.weigh(examples)) for _ in range(2)
    ]
    assert np.array_equal(*weights)
