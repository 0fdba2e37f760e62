"""Which values are credentials, which only look like them, and where exactly they stand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.pii.detector import CREDENTIAL
from datasets_app.domain.pii.rules.finder import RuleDetector
from tests.domain.growth import assert_linear_time

AROUND = st.text(
    st.sampled_from("ab XYZ,;\n🙂👩‍🚀éé\u0301אבשלום العربية漢字かなＡＢ、\u200b\u00a0"), max_size=30
)


def values(text: str) -> list[str]:
    return [text[match.start : match.end] for match in RuleDetector((CREDENTIAL,)).find(text)]


PLANTED = [
    "ghp_" + "jz9TbgoewPZvQwYtjRGaF7ZpOwmZLpW2PId9",
    "AKIA" + "MW7RREJDO6IBWQDJ",
    "xoxb-" + "732955880308-725530826937-3yQ7bOkwUOI6fCAnGNbehFBK",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIzMTYwNTM0MyJ9.ERnl1FOZXedrTxIRs8zYj4Zam9yO9RfHL8bfFNRj61J",
    "4b1d" + "aZ3kQ9xW2mN8vB5tR7yU1pLc4JhG6fDs0ToEiK",
    "sk-ant-api03-" + "ftGY4iB1_jZ_KZ2vEguMNG9ZOs_687QeOzJDr_QINYx2sZ3CVCIYq048kc23rdol1tu5P9AA",
]


@pytest.mark.parametrize("value", PLANTED)
@settings(max_examples=30)
@given(before=AROUND, after=AROUND)
def test_a_token_is_found_exactly_wherever_it_stands(value: str, before: str, after: str):
    text = f"{before} : {value} ; {after}"
    assert values(text) == [value]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("my password is hunter48", "hunter48"),
        ("the passphrase is “EirZFg5TwTE7”, thanks", "EirZFg5TwTE7"),
        ("Password: sunflower", "sunflower"),
        ("password: 123456", "123456"),
        ("login admin / password orchid-maple-95", "orchid-maple-95"),
        ("I changed my password to Sunflower12 yesterday", "Sunflower12"),
        ("pwd=cobalt-delta-10;Server=db", "cobalt-delta-10"),
        ('{"db_password": "it is 5 o\'clock"}', "it is 5 o'clock"),
        ("export DB_PASSWORD=Harbor4322!", "Harbor4322!"),
        ("<password>Tr0ub4dor&3</password>", "Tr0ub4dor&3"),
        ("'pass' => 'zxcvbn_1990',", "zxcvbn_1990"),
        ("mysql -u root -pcobalt-orchid-29 -h db", "cobalt-orchid-29"),
        ("curl -u ana:s3cret https://example.com", "s3cret"),
        ("redis://:orchid-summit-37@cache:6379/0", "orchid-summit-37"),
        ("https://ana:Maple68#@git.example.com/x.git", "Maple68#"),
        ("Authorization: Basic YW5hOmh1bnRlcjI=", "YW5hOmh1bnRlcjI="),
        ("X-Api-Key: 8f3b1c9d2e7a", "8f3b1c9d2e7a"),
        ("client_secret: 00a15429d3bf662403a9a934b4958c9a", "00a15429d3bf662403a9a934b4958c9a"),
        ("algolia_admin = 'a1b2c3d4e5f60718293a4b5c6d7e8f90'", "a1b2c3d4e5f60718293a4b5c6d7e8f90"),
        ("HEROKU: 362332d5-598d-7094-e30e-901042739314", "362332d5-598d-7094-e30e-901042739314"),
        ("I pasted aZ3kQ9xW2mN8vB5tR7yU1pLc4 there", "aZ3kQ9xW2mN8vB5tR7yU1pLc4"),
        ("ｐａｓｓｗｏｒｄ：ｈｕｎｔｅｒ２", "ｈｕｎｔｅｒ２"),
        (
            "8570187269:AAGYS982Il_lTsG6VWEA3FV4BgZPdf_-b0O is the bot",
            "8570187269:AAGYS982Il_lTsG6VWEA3FV4BgZPdf_-b0O",
        ),
    ],
)
def test_credentials_are_told_by_form_word_or_place(text: str, value: str):
    assert values(text) == [value]


@pytest.mark.parametrize(
    "text",
    [
        "please reset my password, my password is wrong",
        "my password is not working and the token expired",
        "I forgot my password and my name is Bob123",
        "Password: must contain 8 characters",
        "password: required",
        "token limit: 4096 tokens",
        "commit 386fd4d0a1b2c3d4e5f60718293a4b5c6d7e8f90 broke it",
        "sha256:b275b664e225e3e1ff1e45e77fe82e343f2d09990e01b29366b064d0e9d5cfff",
        "request id 362332d5-598d-7094-e30e-901042739314",
        "api_key=<your-api-key>, token: ${TOKEN}, password=****, secret={{ secret }}",
        'password = os.environ["DB_PASSWORD"]; token = get_token()',
        "password: [CREDENTIAL] and pwd=[CREDENTIAL_2];x=1",
        "the key is to be patient; key: value; press F12 key",
        "username and password incorrect; password manager like KeePass2",
        "pass the salt at 10:30",
        "docker run -p 8080:80 nginx; ssh -p 2222 x; mkdir -p build",
        "https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
        "getHttp2ConnectionPoolManagerFactory and report-2024-final-v2-reviewed",
        "",
    ],
)
def test_words_about_passwords_and_hashes_are_left_alone(text: str):
    assert values(text) == []


KEY = "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEowIBAAKCAQEA7bq1Zp3v0c9k8Xw2\n" * 3
END = "-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize("key", [KEY + END, KEY.strip(), (KEY + END).replace("\n", "\\n"), KEY[33:] + END])
def test_a_private_key_is_taken_whole_even_if_it_was_cut_off(key: str):
    assert values(f"here:\n{key}\nwhat now?") == [key]


@settings(max_examples=200)
@given(st.text(st.sampled_from("password=:is tokn'\"/@-_#AB12[]é\u0301\u200b🙂ａ１\n"), max_size=80))
def test_matches_are_within_the_text_in_order_and_apart(text: str):
    end = 0
    for match in RuleDetector((CREDENTIAL,)).find(text):
        assert end <= match.start < match.end <= len(text)
        end = match.end


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "password ",
            "password: ",
            "token=",
            "key ",
            "a_",
            "api_key_",
            "pwd=a;",
            "A1b2C3d4-",
            "eyJ",
            "eyJa.",
        ),
        *(
            "eyJaaaaaaaa-",
            "ghp_",
            "sk-",
            "-----BEGIN PRIVATE KEY-----",
            "-----",
            "AAAA\n",
            "-----END PRIVATE KEY-----",
        ),
        *(
            "PuTTY-User-Key-File-2:",
            "://",
            "a://b:c",
            "a://b@",
            "curl -u a:",
            "mysql -pa ",
            "cookie=",
            "algolia_key=",
        ),
        *(
            "0123456789abcdef" * 2 + " ",
            "1//0",
            "12345:A",
            "\\",
            '"password": "',
            "password for a b c d ",
            "is is ",
        ),
    ],
)
def test_hostile_text_takes_time_by_its_length_only(unit: str):
    assert_linear_time(RuleDetector((CREDENTIAL,)).find, unit)
