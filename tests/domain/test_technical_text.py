"""Technical text is no personal data; what a format decides is found beside it all the same."""

import pytest

from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.pii.detection import Detection, DetectionInput
from datasets_app.domain.pii.detector import ADDRESS, NAME, Match
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.pii.rules.finder import find_all
from datasets_app.domain.pii.rules.short_codes import is_thing
from datasets_app.domain.pii.scrubber import Scrubber, SessionInput
from tests.domain.growth import assert_linear_time

NOBODYS = [
    # versions
    '{"driverVersion": "31.0.15.3623", "ok": true}',
    "Release 10.2.14.3 fails",
    "built with 4.8.9037.0 of dotnet",
    "we upgraded from 10.0.1.1 to 10.0.1.2 last night",
    "pip install foo==10.0.1.1",
    "version: 192.168.7.31",
    'FileVersion("10.0.12.7")',
    "OPR/106.0.4998.70 on Linux",
    "firmware 7.10.1.5",
    "see section 7.4.2.1",
    "curl/8.5.0 and okhttp/4.12.0",
    "the build number is 10.7.31.9",
    "The kernel is 4.18.0-553.el8_10.x86_64 here",
    "Client 6.1.0-18-amd64 crashed",
    "clients on v1.0.0-beta.11",
    "glibc-2.28-251.el8_10.2.x86_64 for the customer",
    # user agents
    "Mozilla/5.0 (Macintosh; Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4",
    "UA: Mozilla/5.0 (iPhone; CPU iPhone OS 17_4) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
    # public ids of API objects
    "chatcmpl-8pQ2rStUvWxYzAbC3dEfGhIjKlMn9",
    "see msg_01AbCdEfGhJkMnPqRsTuVwXy",
    "thread_zY9xW7vU5tS3rQ1pO9nM7lK5 is gone",
    "toolu_01A09q90qw90lq917835lq9",
    "resp_67cb32528d6881909eb2859a55e18a85",
    "asst_abc123def456ghi789jkl012",
    "call_ab1CD2ef3GH4ij5KL6mn7OP8",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "nanoid V1StGXR8_Z5jdHi6B-myT",
    # product codes
    "EAN 4006381333931",
    "GTIN: 00012345600012",
    "ISBN 978-3-16-148410-0",
    "SKU 415-555-0101-XL",
    "ASIN B08N5WRWNW",
    "MPN 12-3456-789 and part 98-7654-321",
    "Art.-Nr. 030-1234567",
    "part number 98-7654-321",
    "Artikelnummer 0171 2345678",
    "model no. 555-0199-22",
    "UPC 036000291452",
    # digests
    "sha512-pKvURIxJVi2CgRXROh/M6pJ/UrTVRZKX+LQ+QtqJI4vBNibkPcs43bCCSIkn7JBPtCBXRDmD6IWFF51QVRr+Yg==",
    "example.org/lib v1.2.3/go.mod h1:ofzkNjhU/4iM/0uOeHXWAMJoI5BBKoz3mzfQsRFIsPo=",
    "image@sha256:454349e422f05297191ead13e21d3db520e5abef52055e4964b82fb213f593a1",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "blake3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
    # templates and blanks
    "Dear {customer_name}, hi {{ user.first_name }}",
    "Hi %(user_name)s and ${USERNAME} and $USER_NAME",
    "mail {{contact.email}}",
    "<PERSON> wrote to <<EMAIL:1>> as <user_name>",
    "[Your Name], [INSERT DATE], [NAME_1], [REDACTED_PERSON_1]",
    "%NAME% {% user %}",
    # masked values
    "my card is **** **** **** 4242",
    "j***@mailbox.example or +44 7700 ***123",
    "SSN XXX-XX-6789, name XXXXX",
    "secret=********",
    "(555) 555-XXXX and 123-45-XXXX",
    "000-00-0000, 00000000-0000-0000-0000-000000000000",
    # identifiers in backquotes
    "call `judge_budget` first",
    "the field `userName` of `jane_doe_config`",
    "run `preg_replace()` there",
    "lottery 03 17 22 35 41 49",
    # what the network alone took for something
    "RFC 2119, ISO 27001:2022, DIN EN 60335-1",
    "PO 4500012345 line 10",
    'ETag: "33a64df551425fcc55e4d42a148795d9f25f89d4"',
    "fill in YOUR_NAME_HERE",
    "Since firmware 192.0.45.1123 the pump stalls, build 20240115.3 was fine",
    "nuget: Contoso.Core 172.16.3.1-beta2 conflicts with >= 10.0.0.5 && < 11.0.0.0",
    "Mise à jour vers la version 10.4.12.7 impossible depuis hier",
    '<PackageReference Include="Grpc" Version="10.1.2.3" /> and <FileVersion>192.168.1.2</FileVersion>',
    "UA was okhttp/4.12.0 Dalvik/2.1.0 (Linux; U; Android 13; SM-G991B Build/TP1A.220624.014)",
    "curl/8.5.0, python-requests/2.31.0 and Googlebot/2.1 (+http://www.google.com/bot.html) hit us",
    "asst_4LkQ9vN2bX7cJ5hT8rWm1ZpY called tool call_9dKfL2mQ8xR4tV6bN0zC3sJw, see "
    "resp_67ccd2bed1ec8190b14f964abc054267",
    "Batch batch_6779ef20eaa8819098a2ecf99f6f37bc finished, output in "
    "file-9Xk2LmQp7RtVwZ3sNbJcYd and vs_abc123def456ghi789",
    '{"id": "toolu_01XFDUDYJgAACzvnptvVoYEL", "type": "tool_use", "name": "get_weather"}',
    "Stripe events evt_1NG8Du2eZvKYlo2CUI79vXWy and price_1MoBy5LkdIwHu7ixZhnattbh look ok; "
    "Sentry event 8f2a9c1d4b7e4f0a9c3d2e1f0a9b8c7d",
    "Is UPC 036000291452 the same as ISBN 978-3-16-148410-0?",
    "Artikelnummer 703.468.21 ist ausverkauft, Ersatzteil-Nr. 00754869 auch",
    "Référence produit 8720-1155-340, code EAN: 3017620422003",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 broke it; index 83db48f..bf269f4 100644",
    'Cargo.lock: checksum = "2c1eb2d1fc5a4c1eb2d1fc5a4c1eb2d1fc5a4c1eb2d1fc5a4c1eb2d1fc5a4c1e" '
    "and yarn 10c0/7b4a2c9d1e3f5a6b8c0d2e4f6a8b0c1d3e5f7a9b1c2d4e6f8a0b2c3d4e5f6a7b",
    "nix sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU= and sri sha1-L7EY9XgKd1wS9iXwoXqf2TNnV8A=",
    "Send to __EMAIL__ or @@USERNAME@@, card ending XXXX-XXXX-XXXX-1881, born ##/##/1980",
    "Bonjour {{prénom}} {{nom}}, votre IBAN FR76 **** **** **** 189 est [MASQUÉ]; tel "
    "{{contact.phone | default: 'none'}}",
    "Hi {first_name|there}, {% if user.email %}{{ user.email }}{% endif %} <%= @customer.name "
    "%> #{agent.name} {{{full_name}}}",
    "curl -H 'Authorization: Bearer $TOKEN' -u \"$USER:$PASS\" "
    "https://api.example.com/v1/users/{user_id}/orders/:order_id",
    "Set `max_retry_count` and `judge_budget`; `retry_handler_v2` reads "
    "`user_profile.display_name` from `config/app_settings.yaml`.",
]
PERSONAL = [
    ("mail `jane.roe@mailbox.org` please", "EMAIL"),
    ("the server at 203.0.113.77 is down", "IP"),
    ("version 2 runs on host 198.51.100.23", "IP"),
    ("ping 10.2.14.3", "IP"),
    ("build agent ip 10.7.31.9", "IP"),
    ("key `sk-proj-9aB3dE5gH7jK9mN1pQ3sT5vX7zA9bC1dE3fG5` leaked", "CREDENTIAL"),
    ("AKIAIOSFODNN7EXAMPLQ is in the log", "CREDENTIAL"),
    ("call me on 415-555-0134", "PHONE"),
    ("SKU is wrong, call 415-555-0134", "PHONE"),
    ("{name} has the IBAN DE89370400440532013000", "IBAN"),
    ("card 4111 1111 1111 1111 in model X", "CREDIT_CARD"),
    ("my SSN is 536-90-4399, not XXX-XX-0000", "SSN"),
]


NOBODYS += [
    # codes of things, and blanks in other languages
    "You need a Torx T25 bit for the hinge, not a Torx T20.",
    "The housing is IPX4, the newer one IP67 and the outdoor one IPX7.",
    "Schuko CEE 7/4 and Type F plugs fit; NEMA 5-15 doesn't.",
    "Paint code RAL 9016, Pantone 286 C.",
    "Error 0x80070005 on KB5034441, build 22631.3007.",
    "Schutzklasse IPX4, Schutzart IP44, Farbe RAL 7016.",
    "Нужна бита Torx T20 и саморез 4,2х16.",
    "需要Torx T8螺丝刀，防水等级IPX7。",
    "Hallo [Ihr Name] von [Firmenname], vielen Dank für Ihre Nachricht.",
    "Mit freundlichen Grüßen, [Ihr Name] von der Kundenbetreuung",
    "Bonjour [Votre nom], ici [Nom de l'agent] de [Entreprise].",
    "Beste [Uw naam], met vriendelijke groet, [Naam medewerker]",
    "Vážený pane [Příjmení], s pozdravem [Vaše jméno]",
    "Уважаемый [Имя Отчество], с уважением, [Ваше имя]",
    "Αγαπητέ [Όνομα], με εκτίμηση, [Το όνομά σας]",
    "尊敬的[客户姓名]，您好！我是[您的姓名]。",
    "Sayın [Müşteri Adı], saygılarımla [Adınız]",
    "[Ihr Name] von [Firma] hat angerufen.",
    "Viele Grüße\n[Ihr Name] von\n[Ihre Firma]",
]


@pytest.mark.parametrize("text", NOBODYS)
def test_technical_text_is_nobodys(text: str) -> None:
    assert Detection(Policy(), b"").find_many([DetectionInput(text)]) == [[]]


@pytest.mark.parametrize(("text", "kind"), PERSONAL)
def test_what_a_format_decides_is_found_beside_it(text: str, kind: str) -> None:
    assert kind in {match.kind for match in find_all(text)}
    assert kind != NAME


def test_postal_codes_behind_their_word_are_addresses() -> None:
    """In 25 languages; the code alone, as the words around it say nothing of a person."""
    announced = (
        "the ZIP is 75001|zip code is **10115**|my postcode is 3011|PLZ 10115|CAP 20121|postnummer: 114 55"
        "|zip: 02139-4307|Мой индекс 101000|поштовий індекс: 01001|kod pocztowy to 00-950|PSČ 110 00"
        "|irányítószám: 1051|postcode: SW1A 1AA|postal code K1A 0B1|postcode 1012 AB|TX 75001|邮编 100080"
        "|우편번호 04524|मेरा पिन कोड 110001 है|pincode 560001|Código postal 28013|code postal : 75011"
        "|postinumero on 00100|codice postale 20121|posta kodu 34000|郵便番号は150-0001です|kode pos 12190"
    ).split("|")
    detection = Detection(Policy(), b"")
    found = detection.find_many([DetectionInput(text) for text in announced])
    assert [text for text, matches in zip(announced, found, strict=True) if not matches] == []
    assert sum(match.kind == ADDRESS for matches in found for match in matches) >= len(announced) - 1
    others = "the cap is 5000|our zip has 12345 files|PIN code 1234|postcode 404|unzip 12345.zip|zip: 12.5 MB"
    assert [text for text in others.split("|") if find_all(text, frozenset({ADDRESS}))] == []


def test_a_letter_with_a_number_is_nobodys_unless_it_is_announced() -> None:
    """The network took one in ten for a user name, some for an address or an identity number."""
    forms = (
        "Question {0} of s{0}: how do I return it?",
        "Reply to q{0}: use the form.",
        "Reply s{0}",
        "x{0} text",
    )
    texts = [form.format(number) for form in forms for number in range(100, 160)]
    found = Detection(Policy(), b"").find_many([DetectionInput(text) for text in texts])
    assert [text for text, matches in zip(texts, found, strict=True) if matches] == []
    announced = ["my username is k150", "mein Benutzername ist k150", "log in as @k150"]
    assert all(Detection(Policy(), b"").find_many([DetectionInput(text) for text in announced]))


ANSWERS = [
    ("What rating does it have?", "IPX4, I think", ""),
    ("Welche Schutzklasse hat das Gerät?", "IPX4", ""),
    ("Which question?", "q150", ""),
    ("何が必要ですか？", "Torx T8", ""),
    ("What should I write?", "[Ihr Name] von [Firma]", ""),
    ("Who is the patient?", "Kästner, C34.1", "Kästner"),
    ("Who called?", "[Ms] van der Merwe", "van der Merwe"),
    ("Name?", "Kowalska", "Kowalska"),
    ("And the name?", "Brannigan", "Brannigan"),
]


@pytest.mark.parametrize(("question", "reply", "name"), ANSWERS)
def test_codes_and_blanks_in_answers_are_nobodys_and_names_beside_them_somebodys(
    question: str, reply: str, name: str
) -> None:
    turns = [TurnRecord("s", 1, "assistant", question, []), TurnRecord("s", 2, "user", reply, [])]
    [scrubbed] = Scrubber(Policy(), key=b"k" * 32).scrub([SessionInput(turns)])
    text = scrubbed.turns[1].text
    assert (name not in text and "[NAME]" in text) if name else text == reply


@pytest.mark.parametrize("unit", ["a", "A1", "Straße "])
def test_looking_for_codes_takes_linear_time(unit: str) -> None:
    assert_linear_time(lambda text: is_thing(text, Match(ADDRESS, 0, len(text), 0.5)), unit, 4_000)
