"""User names, postal addresses, dates of birth, and web addresses that say who somebody is."""

import re

import pytest

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.detection import find_values
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.domain.pii.session_scrub import SessionInput

# (class, text, the value in it)
VALUES = [
    ("HANDLE", "my username is jdoe42", "jdoe42"),
    ("HANDLE", "add me on discord: jane.doe#1234", "jane.doe#1234"),
    ("HANDLE", "u/janedoe said so", "u/janedoe"),
    ("HANDLE", "my insta is jane.codes", "jane.codes"),
    ("ADDRESS", "ship it to Hauptstraße 12, 10827 Berlin please", "Hauptstraße 12, 10827 Berlin"),
    ("ADDRESS", "12 rue de la Paix\n75002 Paris", "12 rue de la Paix\n75002 Paris"),
    ("ADDRESS", "221b baker street london nw1 6xe", "221b baker street london nw1 6xe"),
    ("ADDRESS", "PO Box 123, Dayton, OH 45402", "PO Box 123, Dayton, OH 45402"),
    ("ADDRESS", "Calle de Alcalá 45, 3º B, 28014 Madrid", "Calle de Alcalá 45, 3º B, 28014 Madrid"),
    ("ADDRESS", "Via Roma 10, 00184 Roma RM", "Via Roma 10, 00184 Roma RM"),
    ("ADDRESS", "Rua Augusta 1500, 01304-001 São Paulo - SP", "Rua Augusta 1500, 01304-001 São Paulo - SP"),
    ("ADDRESS", "ul. Marszałkowska 10/5, 00-590 Warszawa", "ul. Marszałkowska 10/5, 00-590 Warszawa"),
    ("ADDRESS", "Storgatan 5, 111 51 Stockholm", "Storgatan 5, 111 51 Stockholm"),
    ("ADDRESS", "Keizersgracht 123, 1015 CJ Amsterdam", "Keizersgracht 123, 1015 CJ Amsterdam"),
    ("DATE_OF_BIRTH", "DOB: 1984-03-12", "1984-03-12"),
    ("DATE_OF_BIRTH", "born on 3rd of March 1984", "3rd of March 1984"),
    ("DATE_OF_BIRTH", "Geburtsdatum: 12.03.1984", "12.03.1984"),
    ("DATE_OF_BIRTH", "née le 12 mars 1984", "12 mars 1984"),
    ("DATE_OF_BIRTH", "fecha de nacimiento: 12 de marzo de 1984", "12 de marzo de 1984"),
    (
        "URL",
        "reset: https://shop.example.com/r?email=jane@x.org",
        "https://shop.example.com/r?email=jane@x.org",
    ),
]
ORDINARY = [
    "@property def x",
    "@Override public void run",
    "@ParameterizedTest with @CsvSource, and @ConfigurationProperties",
    "@platform-team and @dependabot, please rebase",
    "the datasheet of the ATmega328P says 1.8 V",
    "use @babel/core and npm i @types/node",
    "meet @ 5pm, @here please",
    "the release date is 12/03/2024",
    "born in the 1990s",
    "a 5 star hotel on wall street, 12 street food stands",
    "Route 66 is long, the drive takes 2 hours",
    "version 12 road map, gate 12, terminal 3",
    "a table at 7 pm for 4 people on March 3rd",
    "https://docs.python.org/3/library/re.html",
    "https://example.com/search?q=red+shoes",
]
# Addresses of the web that carry somebody's name, number or page.
PERSONAL_URLS = """
https://sms.acme.com/optout?m=13285550142
https://sms.acme.com/stop/07700900461
https://acme.com/verify?dest=8285550142
https://www.ebay.com/usr/mango_wolf
https://calendly.com/kit-harlow/30min
https://acme.zoom.us/my/mangowolf
https://jharlow84.wordpress.com/2024/05/my-trip
https://mangowolf.itch.io/game
https://jane-roe.acme.com
https://acme.com/about/team/jane-roe
https://clinic.example.org/doctors/dr-jane-roe-x7k2
https://www.airbnb.com/users/show/48213377
https://cdn.acme.com/2024/jane_roe_passport.jpg
https://acme.com/rsvp/Jane%20Roe
https://acme.com/jharlow84/orders
https://acme.com/member.php?u=48213
https://acme.com/profile?id=48213
https://acme.com/sso?login_hint=jharlow
https://acme.com/join?inviter=Jane%20Roe
https://acme.com/followers?of=jharlow
https://acme.com/s?x=1&a=Jane+Roe
https://acme.com/#/users/mangowolf
https://lichess.org/@/mangowolf
https://acme.de/mitglieder/jharlow
https://acme.fr/profil/jeanne-dupont
acme.com/users/mangowolf
forum.acme.com/u/mangowolf
"""
PUBLIC_URLS = """
https://acme.com/flights?from=paris&to=london
https://acme.com/stores/santa-monica
https://acme.com/hotels/san-jose
https://acme.com/locations/charlotte-north-carolina
https://en.wikipedia.org/wiki/Jane_Austen
https://www.google.com/search?q=john+smith
https://acme.com/team/onboarding
https://acme.com/doctors/cardiology
https://acme.com/shop/kitchen-aid-mixer
https://acme.com/reports?from=1700000000&to=1700086400
https://acme.com/item/360012345678
https://acme.com/?ref=producthunt
https://acme.fr/membres/avantages
https://acme.de/konto/meine-daten
https://acme.wordpress.com
https://fastapi.github.io/fastapi
https://www.fiverr.com/categories/graphics-design
https://docs.acme.com/user/guide/chapter-1
see acme.io/user/guide and src/app/users/models.py
"""
# How people say when they were born; the values are in braces.
BIRTHS = """
DOB:{12/03/1984}
d/o/b {12/03/84}
dob {12MAR1984}
dob {12/III/1984}
DOB (mm/dd)? {03/12/84}
dob {march twelfth nineteen eighty four}
date of birth is {two four nineteen sixty two}
can you correct my date of birth, you have {12/03/1984} but it's {13/03/1984}
you have my birthday wrong, it's {june 2, 1997}
my birthday is on {12/03}
b-day: {3/12/84}
Birthday | {December 27, 1976}
Applicant Jane Doe, b. {15.02.85}
Jane Doe (* {12.03.1984})
born and raised in Leeds, {12 March 1984}
I was born in '{84}
my mother, born {1951}, has no phone
name,dob,city↵Jane Doe,{1984-03-12},Leeds↵John Doe,{1951-07-01},York
date_naissance={1984-03-12}
Né(e) le : {12/03/1984}
Nacimiento: {9 de septiembre de 1965}
nato/a il {12/03/1984}
dt. nasc. {12/03/84}
ich bin am {12.3.2014} in Kiel geboren
jag är född {840312}
urodziłem się w {1984} roku
szül. {1984.03.12}
{12.03.1984} г.р.
生年月日：{1984/03/12}
{1984年3月12日}生まれ
{1984년 3월 12일}생
"""
NO_BIRTHS = """
birthday dinner on the 12th of March 2024
my birthday party is on 12 March 2024
birth certificate issued 12/03/2024
date of birth missing. Order placed 12/03/2024
the form asks for date of birth, submitted 12/03/2024
the company was born in 1984
NATO summit 12/03/2024
our anniversary is on 12 March 2019
* 12.03.2024 fixed a bug
option b. 12 March
price 12.03, ratio 12/03, v12.3.84
2024年3月12日生产
will be 20 on the list
"""
# How people name accounts.
HANDLES = """
the login name i was given is {badger_4} and it fails
discord - {torvik_88}
DM {@lena_k} if you still want it
the account {mlopez88} was suspended
my account ({mlopez88}) got hacked
I registered as {mlopez88}, now logged in as {mlopez}
signed up with the username {mlopez}
{petraholm9} is my login
{petraholm9} on xbox
people know me as {nightowl77}
my handle used to be {xqwilsonx}, it's {qwilson_} now
handle's {nightowl77}
battle.net tag {Nightowl#21345}
insta {annar_foto}
cashapp {$annar22}
my Bluesky: {annar22.bsky.social}
report player {annar22} for spam
{annar22} keeps harassing me
please unban {annar22}
photo by {annar22}
change my username from {annar22} to {annarina_9}
pls unban me ign {xchasereedx}
Screen name ...... {pressure_260}
Benutzername↵{annar22}
mi cuenta {annar22} fue bloqueada
eingeloggt als {annar22}
connecté en tant que {annar22}
mój login to {annar22}
мой ник {annar22}
用户名是{annar22}
아이디: {annar22}
"user":"{qwilson}"
('author': '{qwilson}')
createdBy: {annar22}
auth failure for {caolainsugrue} from unknown device
session opened for user {annar22}(uid=1000)
thanks {karin.holm}, {k_holm} and {michaelcain} know more
watch me at {therealkarin}
<login>{qwilson}</login>
GET /users/{qwilson}/settings
10.0.0.1 - {qwilson} [10/Oct/2000:13:55:36 -0700] "GET /"
useradd {qwilson}
Agent: hello, how can I help?↵{annar22}: my order is late
[12:03:11] {annar22}: hi all
{annar22}: anyone here?↵{bobbyk_9}: yes
-!- {annar22} [~anna@host] has joined
"""
NO_HANDLES = """
on discord soon
logged in as root, connected as administrator
I'm logged in on two devices
the account is locked
author: unknown, owner: platform
created by terraform1.5, built by gcc13, by 10am
block sda1, ping db01, tag release_2024, mute channel2
contact support24 for the order_1234
a table named orders_2023, a function called my_func2
the game is called Halo3
player: VLC3
discord.js v14, twitter api v2, GitHub Actions ubuntu-22.04
PSN error CE-34878-0, signal 9, line 22 in main.py
handle http2, alias k8s, pseudo code, scheme utf8
product name is galaxy24, class name: MyClass2
key1: value1↵key2: value2
node1: up↵node2: down
sha256 was removed, iphone15 was stolen, gpt4 keeps hallucinating
change eth0 to wlan0, upgrade from ios16 to ios17
user_agent: curl7, user input is_valid2
the user is sceptical, an alert called goodmorning
send it to Grace from my account, flying to Hartsfield-Jackson in a Mercedes-Benz
the ESP32, the nRF52840 and the mpu6050 need new firmware
it is mistyped, please eliminar la cuenta
INV2024 from ACME
"""


def _find_values(text: str, kind: str) -> list[str]:
    return [text[match.start : match.end] for match in find_values(text) if match.kind == kind]


@pytest.mark.parametrize(
    ("kind", "positive", "negative"),
    [("DATE_OF_BIRTH", BIRTHS, NO_BIRTHS), ("HANDLE", HANDLES, NO_HANDLES)],
    ids=["births", "handles"],
)
def test_a_value_is_told_by_the_words_around_it(kind: str, positive: str, negative: str) -> None:
    """A network judges, so that a few of these lines may be wrong, which are written to mislead."""
    lines, near_misses = positive.strip().splitlines(), negative.strip().splitlines()
    missed = [
        line
        for line in lines
        if _find_values(re.sub(r"[{}]", "", line).replace("↵", "\n"), kind) != re.findall(r"\{(.*?)\}", line)
    ]
    taken = [line for line in near_misses if _find_values(line.replace("↵", "\n"), kind)]
    assert len(missed) <= 2, missed
    assert len(taken) <= 3, taken


def test_they_are_found_as_people_write_them() -> None:
    for kind, text, value in VALUES:
        found = {(match.kind, text[match.start : match.end]) for match in find_values(text)}
        assert (kind, value) in found, text


def test_what_looks_alike_is_left_alone() -> None:
    assert {text: found for text in ORDINARY if (found := find_values(text))} == {}


def test_an_address_of_the_web_is_personal_if_it_leads_to_a_person() -> None:
    find_values("https://acme.com/ and https://www.ebay.com/ are known to be public")
    for url in PERSONAL_URLS.split():
        assert _find_values(f"see {url} please", "URL") == [url]
    for text in PUBLIC_URLS.strip().splitlines():
        assert (text, _find_values(text, "URL")) == (text, [])


def test_a_scrub_leaves_no_part_and_changes_nothing_the_second_time() -> None:
    scrubber = Scrubber(Policy(), key=b"k" * 32)
    turns = [
        TurnRecord(str(number), 1, "user", text, [], None, None, None, None)
        for number, (_, text, _) in enumerate(VALUES)
    ]
    once = [result.turns[0] for result in scrubber.scrub([SessionInput([turn]) for turn in turns])]
    for turn, (kind, text, value) in zip(once, VALUES, strict=True):
        assert value not in turn.text, text
        assert f"[{kind}]" in turn.text, text
    assert not scrubber.count_remaining([SessionInput([turn]) for turn in once])
    again = scrubber.scrub([SessionInput([turn]) for turn in once])
    assert [result.turns[0].text for result in again] == [turn.text for turn in once]


@pytest.mark.parametrize(
    ("question", "answer", "value"),
    [
        ("Can I have your date of birth please?", "sure, 12 03 1984", "12 03 1984"),
        ("Wann sind Sie geboren?", "12.3.84", "12.3.84"),
        ("What year were you born?", "84", "84"),
        ("What name do you log in with?", "always_1362", "always_1362"),
        ("Which player do you want to report?", "it was karinholm", "karinholm"),
        ("Who invited you?", "holm33", "holm33"),
        ("And on Xbox?", "otter_kid", "otter_kid"),
        ("Quel est votre identifiant ?", "c'est annarx", "annarx"),
        ("What is your username?", "sunny_day99", "sunny_day99"),
        ("May I have your shipping address?", "12 maple st springfield", "12 maple st"),
    ],
)
def test_an_answer_is_what_was_asked_for(question: str, answer: str, value: str) -> None:
    turns = [
        TurnRecord("s", 1, "assistant", question, [], None, None, None, None),
        TurnRecord("s", 2, "user", answer, [], None, None, None, None),
    ]
    [result] = Scrubber(Policy(), key=b"k" * 32).scrub([SessionInput(turns)])
    assert value not in result.turns[1].text


@pytest.mark.parametrize(
    ("key", "value", "kind"),
    [
        ("user_name", "sunnyday", "HANDLE"),
        ("forum_nickname", "sunnyday", "HANDLE"),
        ("created_by", "jdoe_77", "HANDLE"),
        ("ig_handle", "sunnyday", "HANDLE"),
        ("approver", "jdoe_77", "HANDLE"),
        ("date_of_birth", "1984-03-12", "DATE_OF_BIRTH"),
        ("insured_dob", "12/03/84", "DATE_OF_BIRTH"),
        ("street", "Maple Street 12", "ADDRESS"),
        ("zip", "62704", "ADDRESS"),
    ],
)
def test_a_key_says_what_stands_under_it(key: str, value: str, kind: str) -> None:
    turn = TurnRecord("s", 1, "user", "hello", [], None, None, {key: value}, None)
    [result] = Scrubber(Policy(), key=b"k" * 32).scrub([SessionInput([turn])])
    assert result.turns[0].metadata == {key: f"[{kind}]"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Best,\nfalcon_karin", ["falcon_karin"]),
        ("dear silver-otter,", ["silver-otter"]),
        ("username: silver-otter", ["silver-otter"]),
        ("pls ban karin_h77 and t.holm9", ["karin_h77", "t.holm9"]),
        ('{"mentions": ["karinlovesdogs", "holm33"]}', ["karinlovesdogs", "holm33"]),
        ("id,login\n7,zmiddleton", ["zmiddleton"]),
        ("Team\n- karinholm\n- johnson11", ["karinholm", "johnson11"]),
        ("2025-01-02T10:11:12Z <karin77> hello", ["karin77"]),
        ("$karinh is my cashtag", ["$karinh"]),
        ("see silverfox.tumblr.com", ["silverfox.tumblr.com"]),
        ("/msg karinholm hi", ["karinholm"]),
        ("jholm@web01 logged in", ["jholm"]),
        ("ACME\\jdoe77 is locked", ["jdoe77"]),
        ("im 22karin on discord", ["22karin"]),
        ("@karin77 block him please", ["@karin77"]),
        ("the account co-owner", []),
        ("Owner: read-only", []),
        ("C:\\Windows\\System32", []),
        ("- train_data\n- eval_split", []),
        ("- python3\n- redis7", []),
        ("GET /?utm_name=frontpage", []),
        ("contact support24 for the order_1234", []),
        ("it's python3 and utf8", []),
    ],
)
def test_a_user_name_is_told_by_its_place(text: str, names: list[str]) -> None:
    assert _find_values(text, "HANDLE") == names


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("my insta is otter, dm me", "otter"),
        ("github handle badger", "badger"),
        ("auf insta heiß ich panda", "panda"),
        ("en instagram soy coral.pez", "coral.pez"),
        ("session opened for user otter", "otter"),
        ("user=otter action=login result=ok", "otter"),
        ("Reviewed-by: kbd9 <kbd@example.org>", "kbd9"),
        ("[14:02] meadow.kbaker: try again", "meadow.kbaker"),
        ("my repo is github.com/otter/things", "otter"),
    ],
)
def test_any_word_is_a_user_name_where_only_one_can_stand(text: str, value: str) -> None:
    assert any(value in found for kind in ("HANDLE", "URL") for found in _find_values(text, kind))


@pytest.mark.parametrize(
    "text",
    [
        "my insta is private, sorry",
        "session opened for user root",
        "f(user=owner, role=role)",
        "github.com/pallets/flask has it",
        "bisected to 3cd0a1b2, reverting",
        "SELECT @row := @row + 1",
        "the datasheet of the bmp280 says so",
        "KeyError in parse_row, line 88",
        "user_name is nullable",
        "nit: rename tmp2",
        "persona id: default_v1",
        "ticket moved on: bitlocker asks for recovery key",
        "whats the equivalent of ifconfig in iproute2? ip a ?",
        "ich möchte mich über eine verkäuferin beschweren",
    ],
)
def test_words_beside_names_of_accounts_are_left_alone(text: str) -> None:
    assert [match for match in find_values(text) if match.kind in ("HANDLE", "URL")] == []
