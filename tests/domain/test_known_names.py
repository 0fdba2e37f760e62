"""A name that a session has told is found again: in file names, without accents, as an ordinary word."""

import json
from typing import Any

import pytest

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber, SessionInput


@pytest.fixture(scope="module")
def scrubber() -> Scrubber:
    return Scrubber(Policy(), key=b"k" * 32)


def make_session(name: str, value: str, where: str) -> list[TurnRecord]:
    metadata: dict[str, Any] = {
        "file": {"attachments": [{"name": value}]},
        "key": {"scores": {value: 3}},
    }.get(where, {})
    text = value if where == "text" else "OK."
    return [
        TurnRecord("s", 1, "user", "?", [], metadata={"author": name}),
        TurnRecord("s", 2, "assistant", text, [], metadata=metadata),
    ]


def write(turn: TurnRecord) -> str:
    return turn.text + json.dumps(turn.metadata, ensure_ascii=False)


def scrub(scrubber: Scrubber, turns: list[TurnRecord]) -> str:
    [once] = scrubber.scrub([SessionInput(turns)])
    [twice] = scrubber.scrub([SessionInput(once.turns)])
    assert twice.turns == once.turns
    return write(once.turns[1])


LEFT = "will power müller muller mueller sukru brecht hannah lefevre ostergaard oestergaard dvorak"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        (
            "Will Power",
            "rechnung_will_power.pdf WillPower_CV.docx willpower.vcf Will-Power-invoice.pdf "
            "power_will_2023.pdf https://files.example.com/u/will-power/avatar.png Will%20Power.pdf",
        ),
        (
            "Jürgen Müller",
            "muller-bericht.pdf mueller-bericht.pdf bericht_juergen_mueller.pdf jmueller_scan.pdf",
        ),
        ("Jürgen Mueller", "Bericht_Mu\u0308ller.pdf Müller.pdf"),
        ("Hélène Lefèvre", "HeleneLefevre.docx"),
        ("Søren Østergaard", "soren_ostergaard.pdf soerenoestergaard.pdf"),
        ("Şükrü Yıldız", "sukru_yildiz.pdf"),
        ("Jiří Dvořák", "DvorakJiri2.pdf"),
        ("Hannah Brecht", "Hannahs_Lebenslauf.pdf brecht_scan.png hbrecht.zip"),
    ],
)
def test_names_of_files_are_searched_for_the_people_of_their_session(
    scrubber: Scrubber, name: str, values: str
) -> None:
    for value in values.split():
        for where in ("file", "key"):
            said = scrub(scrubber, make_session(name, value, where)).lower()
            assert "[name]" in said, value
            left = [part for part in LEFT.split() if part in said]
            assert not left, said


MEANT = {
    "Will Power": [
        "Thanks Will!",
        "Hi Will, I checked your order.",
        "Will, can you look at it?",
        "The refund is on its way. Thx will",
        "I have Will's order here.",
        "Yesterday I spoke with Will about it.",
        "The parcel for Will Power is here.",
        "Please open rechnung_will_power.pdf again.",
    ],
    "May Parker": ["May, can you send it again?", "Thanks May!"],
    "Rose Wagner": ["Danke Rose!", "Merci Rose !", "Hola Rose, tu pedido llegó."],
    "Mark Stone": ["Certainly, Mr. Stone.", "I will send it.\n\nBest regards,\nMark"],
}
NOT_MEANT = {
    "Will Power": [
        "I will power it off tonight.",
        "Will you be there?",
        "Will power be restored today?",
        "The will was signed.",
        "Power supply is broken.",
        "Power, water and gas are included.",
        "Thanks, will do!",
        "thanks will do",
        "Hi, will you be open on Sunday?",
        "hi will this work with my phone?",
        "I WILL call you.",
        "Use `will-change: transform` there.",
    ],
    "May Parker": [
        "May I ask why?",
        "Hello May I ask something?",
        "It may, in rare cases, take longer.",
        "We moved in May 2024.",
        "Since May, prices went up.",
    ],
    "Rose Wagner": ["Leider ist die Rose verwelkt.", "Ich hätte gern eine Rose, bitte."],
    "Bill Gray": ["The bill, as printed, is wrong.", "My bill is paid, thanks."],
    "Drew Fields": ["I drew a picture of both fields."],
}


def test_an_ordinary_word_is_a_name_where_its_place_says_so(scrubber: Scrubber) -> None:
    for name, texts in MEANT.items():
        for text in texts:
            assert "[NAME]" in scrub(scrubber, make_session(name, text, "text")), text


def test_an_ordinary_word_stays_where_no_person_is_meant(scrubber: Scrubber) -> None:
    for name, texts in NOT_MEANT.items():
        for text in texts:
            assert "[NAME]" not in scrub(scrubber, make_session(name, text, "text")), text


def test_file_names_and_keys_of_other_words_stay(scrubber: Scrubber) -> None:
    for name, values in {
        "Will Power": "power_supply.pdf last_will.docx power",
        "May Parker": "may-2024-report.pdf",
        "Mark Stone": "stone_tiles.pdf bookmarks.html Markdown",
        "Ann Lee": "annual-report.pdf planning_sleeves.xlsx",
        "Jürgen Müller": "Mullbinden.pdf",
        "Grant Field": "field",
    }.items():
        for value in values.split():
            for where in ("file", "key"):
                assert "[NAME]" not in scrub(scrubber, make_session(name, value, where)), value


def test_a_name_in_the_object_of_a_person_is_a_name(scrubber: Scrubber) -> None:
    for metadata in (
        {"user": {"name": "Will Power"}},
        {"requester": {"name": "Will Power", "email": "a@b.example"}},
        {"recipients": [{"display_name": "Will Power"}]},
        {"participants": ["Will Power", "Grace Stone"]},
        {"name": "Will Power"},
    ):
        turns = [TurnRecord("s", 1, "user", "Thanks Will!", [], metadata=metadata)]
        said = scrub(scrubber, [*turns, TurnRecord("s", 2, "assistant", "Will, will you?", [])])
        assert said.startswith("[NAME], will"), metadata
        [scrubbed] = scrubber.scrub([SessionInput(turns)])
        assert "Will" not in write(scrubbed.turns[0])


def test_names_of_things_in_such_objects_stay(scrubber: Scrubber) -> None:
    for metadata in (
        {"phone": {"name": "iPhone 12"}},
        {"account": {"name": "Acme Tools"}},
        {"agent": {"name": "Triage bot"}},
        {"parent": {"name": "Kitchenware"}},
        {"owner": {"name": "Platform team"}},
        {"author": {"name": "model-v2"}},
        {"users": ["admin", "power user"]},
        {"name": "Support Queue", "model": {"name": "Claude 3.5 Sonnet"}, "tool": {"name": "Weather Lookup"}},
        {"name": "get_weather"},
    ):
        turns = [TurnRecord("s", 1, "user", "OK.", [], metadata=metadata)]
        [scrubbed] = scrubber.scrub([SessionInput(turns)])
        assert scrubbed.turns == turns, metadata


@pytest.mark.parametrize(
    ("name", "values", "left"),
    [
        ("Jana Nováková", "zpráva_Novákové.pdf smlouva-Novakovou-2024.docx Jany_Novákové.txt", "Nov nov Jan"),
        ("Pavel Dvořák", "faktura_Dvořákovi.pdf pro_Pavla_Dvoraka.xlsx s_Pavlem.txt", "Dvo Pav"),
        ("Katarzyna Kowalska", "umowa_Kowalskiej.pdf dla_Katarzyny.docx", "Kowal Katarz"),
        ("Marek Wiśniewski", "umowa_z_Markiem.pdf faktura-Wisniewskiego.pdf", "Mark Wi"),
        ("Ольга Петрова", "договор_Петровой.pdf письмо_Ольге.docx Петрову_анкета.pdf", "Петр Ольг"),
        ("Оксана Кравчук", "лист_Оксані.pdf довідка_Кравчука.docx", "Окс Кравч"),
        ("Ivana Babić", "ugovor_Babića.pdf za_Ivanu.docx", "Bab Ivan"),
        ("Милош Јовановић", "уговор_Јовановића.pdf за_Милоша.docx", "Јов Мил"),
        ("Zuzana Kováčová", "zmluva_Kováčovej.pdf od_Zuzany.txt", "Kov Zuz"),
        ("Νίκος Παπαδόπουλος", "σύμβαση_Παπαδοπούλου.docx βιογραφικό_Νίκου.pdf", "Παπ Νίκ"),
        ("Μαρία Καραγιάννη", "αίτηση-Μαρίας.pdf τιμολόγιο_Καραγιάννης.pdf", "Μαρ Καρ"),
        ("Jonas Kazlauskas", "sutartis_Kazlausko.pdf", "Kazl"),
        ("Andris Bērziņš", "ligums_Bērziņa.pdf", "Bērz"),
    ],
)
def test_case_forms_of_a_name_are_found_in_identifiers(
    scrubber: Scrubber, name: str, values: str, left: str
) -> None:
    for value in values.split():
        for where in ("file", "key"):
            said = scrub(scrubber, make_session(name, value, where))
            assert "[NAME]" in said, value
            assert not [part for part in left.split() if part in said], said


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("Dana Petráková", "data_export.csv dane_klienta.csv petrol_prices.csv dan-2024.pdf"),
        ("Martin Horák", "hora_summary.csv market_report.pdf horizont.png martian.txt"),
        ("Marek Koval", "marketing.csv mark_done.js kovariance.csv"),
        ("Anna Rosová", "annotations.json anno-2023.csv rosetta_stone.png announce.md"),
        ("Лена Миронова", "ленивый_код.py миграция.sql линейка.png"),
        ("Νίκος Μάρκου", "νικητές_2024.pdf μάρκετινγκ.pptx"),
        ("Monika Sandler", "mono_audio.wav sandbox_config.yaml monitor_log.txt sandwich.png"),
    ],
)
def test_words_that_begin_like_a_name_stay(scrubber: Scrubber, name: str, values: str) -> None:
    for value in values.split():
        assert value in scrub(scrubber, make_session(name, value, "file")), value
