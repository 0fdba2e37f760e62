"""Which paths tell something of a user or a house, and which are the same everywhere."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.pii.detector import PATH
from datasets_app.domain.pii.rules.finder import RuleDetector
from tests.domain.growth import assert_linear_time

AROUND = st.text(
    st.sampled_from("ab XYZ,;\n🙂👩‍🚀éé\u0301אבשלום العربية漢字かなＡＢ、\u200b\u00a0"), max_size=30
)


def values(text: str) -> list[str]:
    return [text[match.start : match.end] for match in RuleDetector((PATH,)).find(text)]


@pytest.mark.parametrize(
    "value",
    [
        "/home/ana/.ssh/id_rsa",
        "/Users/ana.silva/Documents/report.xlsx",
        r"C:\Users\ana\Desktop\orchid.docx",
        r"\\fileserver19\finance\falcon.xls",
    ],
)
@settings(max_examples=30)
@given(before=AROUND, after=AROUND)
def test_a_path_is_found_exactly_wherever_it_stands(value: str, before: str, after: str):
    assert values(f"{before} : {value} ; {after}") == [value]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("cat /data/acme/customers/orchid.csv shows nothing", "/data/acme/customers/orchid.csv"),
        ("cd /home/ana. Then", "/home/ana"),
        ('File "/srv/shared files/x y.txt", line 3', "/srv/shared files/x y.txt"),
        (
            "/Users/ana/Library/Application Support/Foo/x.plist is big",
            "/Users/ana/Library/Application Support/Foo/x.plist",
        ),
        ("/opt/acme/orders/conf/app.yml line 42", "/opt/acme/orders/conf/app.yml"),
        ("cat ~/projects/acme/deploy.sh", "~/projects/acme/deploy.sh"),
        ("in ~ana/notes.txt", "~ana/notes.txt"),
        ("copied to /mnt/usb/ana/photos", "/mnt/usb/ana/photos"),
        ("open file:///home/ana/x.html, please", "file:///home/ana/x.html"),
        ("mount nfs://storage1/vol/home", "nfs://storage1/vol/home"),
        (
            r"C:\Users\Ana Silva\Documents\Annual Report 2023.xlsx is gone",
            r"C:\Users\Ana Silva\Documents\Annual Report 2023.xlsx",
        ),
        (r'"D:\\builds\\acme\\out.log"', r"D:\\builds\\acme\\out.log"),
        ("C:/Users/ana/x.py fails", "C:/Users/ana/x.py"),
        ("scp x ana@web:/srv/app/conf", "/srv/app/conf"),
    ],
)
def test_paths_of_users_machines_and_houses(text: str, value: str):
    assert values(text) == [value]


@pytest.mark.parametrize(
    "text",
    [
        "edit /etc/hosts, /etc/nginx/nginx.conf, /var/log/syslog and /dev/null",
        "/usr/bin/python3, /bin/sh and /opt/homebrew/bin/brew are everywhere",
        r"C:\Windows\System32\drivers and C:\Program Files\Git",
        "and/or, he/she, 24/7, 12/05/2020, km/h, n/a",
        "https://example.com/home/ana and GET /v1/users and POST /data/items/7/x.json",
        r"the regex \\d+\\w* and \\n\\t, s/foo/bar/g",
        "/opt/grafana/conf/defaults.ini and /opt/react-router/lib",
        "src/main.py, ./run.sh, data/train.csv",
        "lsof +f -- /mnt/usb or fuser -vm /media/cdrom",
        "~10 minutes, ~5 %, ~/.bashrc",
        "/home/[NAME]/notes and [PATH]",
        "std::vector<int> a; // comment",
        "",
    ],
)
def test_what_names_nobody_is_left_alone(text: str):
    assert values(text) == []


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "/",
            "/a",
            "/home/",
            "/home/a ",
            "/home/a/",
            "/home/A B",
            "~",
            "~/",
            "~a/",
            "/data/a/",
            "\\",
            "\\\\",
        ),
        *(
            "\\\\aaa\\",
            "C:\\",
            "C:\\A B",
            "C:\\a a a a ",
            "C:\\A A A A ",
            "file://",
            '"/home/a',
            "'/srv/a",
            "/opt/A A/",
        ),
    ],
)
def test_hostile_text_takes_time_by_its_length_only(unit: str):
    assert_linear_time(RuleDetector((PATH,)).find, unit)
