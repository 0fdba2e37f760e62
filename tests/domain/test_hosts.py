"""Which names are machines inside a house, and which are sites, files and words."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.pii.detector import HOST
from datasets_app.domain.pii.rules.finder import RuleDetector
from tests.domain.growth import assert_linear_time

AROUND = st.text(
    st.sampled_from("ab XYZ,;\n🙂👩‍🚀éé\u0301אבשלום العربية漢字かなＡＢ、\u200b\u00a0"), max_size=30
)


def values(text: str) -> list[str]:
    return [text[match.start : match.end] for match in RuleDetector((HOST,)).find(text)]


@pytest.mark.parametrize(
    "value", ["jenkins.acme.internal", "vpn-ber2.acme.com", "ip-10-64-232-225.ec2.internal"]
)
@settings(max_examples=30)
@given(before=AROUND, after=AROUND)
def test_a_host_is_found_exactly_wherever_it_stands(value: str, before: str, after: str):
    assert values(f"{before} : {value} ; {after}") == [value]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ssh deploy@db-prod-23.acme.internal", "db-prod-23.acme.internal"),
        ("curl -I https://vpn-lon4.acme.net/status", "vpn-lon4.acme.net"),
        ("Could not resolve host: orchid.corp.acme.com", "orchid.corp.acme.com"),
        ("the job runs on printer-orchid.home.arpa", "printer-orchid.home.arpa"),
        ("falcon-api.prod.svc.cluster.local:8080 refused", "falcon-api.prod.svc.cluster.local"),
        ("pixel1.staging.acme.io is down", "pixel1.staging.acme.io"),
        ("orders.c9akciq32.eu-west-1.rds.amazonaws.com", "orders.c9akciq32.eu-west-1.rds.amazonaws.com"),
        ("redis://:x@cache7:6379/0", "cache7"),
        ("see http://intranet/wiki", "intranet"),
        ("http://jenkins:8080 is slow", "jenkins"),
        ("ssh web-03 hangs", "web-03"),
        ("ssh deploy@bastion", "bastion"),
        ("ping db1", "db1"),
        ("DB_HOST=sqlprod02", "sqlprod02"),
        ("the server WEB-PROD-01 is down", "WEB-PROD-01"),
    ],
)
def test_hosts_are_told_by_ending_label_or_word(text: str, value: str):
    assert values(text) == [value]


@pytest.mark.parametrize(
    "text",
    [
        "www.example.com, example.org, docs.python.org, https://github.com/a/b and mail.google.com",
        "settings.py, package.json, Node.js, ASP.NET, e.g. this, U.S.A., version 1.2.3",
        ".env.local and settings.local; self.internal(); com.acme.internal.Foo",
        "ssh times out, ping me at 5, the server is down, host of the show",
        "http://localhost:8000 and http://127.0.0.1:80 and https://example.com",
        "server 2019, node 18, on Windows10, on iPhone12, machine gpt-4, ping 20ms",
        "ping google.com and curl https://pypi.org/simple",
        "ssh [HOST] and https://[HOST]/x",
        "",
    ],
)
def test_sites_files_and_words_are_left_alone(text: str):
    assert values(text) == []


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "a.b",
            "a.",
            "a.internal.",
            "host ",
            "ssh ",
            "ssh -p 22 ",
            "ssh a@",
            "server ",
            "web-01 ",
            "a-1-",
            "://",
        ),
        *(
            "http://a",
            "a://b@",
            "ip-1-2-3-4.",
            "vpn-",
            "prod-a-",
            "connect to ",
            "host=",
            "point a a a at ",
            "-",
            "_",
        ),
    ],
)
def test_hostile_text_takes_time_by_its_length_only(unit: str):
    assert_linear_time(RuleDetector((HOST,)).find, unit)
