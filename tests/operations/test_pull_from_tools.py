"""Pulls from Langfuse, LangSmith and Phoenix: paging, rules, once each, and no token in an error."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from django.db import connection

from datasets_app.core.errors import UserError
from datasets_app.core.progress import OperationCanceled
from datasets_app.models import AuditEvent, Dataset, Source, Turn
from datasets_app.sources import http_client
from datasets_app.sources.http_client import ApiClient, check_url
from datasets_app.sources.secrets import encrypt_credential
from tests.operations.test_pull_source import pull, texts
from tests.trace_tools import KEYS, START, Conversation, ToolServer

pytestmark = pytest.mark.django_db

KINDS = list(KEYS)


@pytest.fixture(scope="module")
def running() -> Iterator[ToolServer]:
    server = ToolServer()
    yield server
    server.stop()


@pytest.fixture
def tools(running: ToolServer, settings: Any, monkeypatch: pytest.MonkeyPatch) -> ToolServer:
    settings.SOURCE_NETWORKS = [ip_network("127.0.0.0/8")]
    monkeypatch.setattr(http_client, "PAUSE_SECONDS", 0.0)
    running.traces, running.faults, running.paths = [], [], []
    return running


def make_source(tools: ToolServer, kind: str, **fields: Any) -> Source:
    options = {"pulled_until": START - timedelta(hours=3), "project": "shop", **fields}
    credential = encrypt_credential(KEYS[kind])
    return Source.objects.create(
        name=f"the-{kind}",
        kind=kind,
        dataset_name="prod",
        location=tools.url,
        credential=credential,
        **options,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_all_tools_bring_the_same_conversations_once(tools: ToolServer, kind: str) -> None:
    tools.traces = [
        Conversation("a", minutes=0, session="s"),
        Conversation("b", minutes=3),
        Conversation("c", minutes=1, session="s", score=0),
        Conversation("d", minutes=2, tags=("vip",), model="other"),
        Conversation("e", minutes=60 * 30),
    ]
    source = make_source(tools, kind)
    assert pull(source)["sessions"] == 3
    expected = {
        "s": [
            "How do I export a?",
            "Choose Export, then CSV.",
            "How do I export c?",
            "Choose Export, then CSV.",
        ],
        "b-trace": ["How do I export b?", "Choose Export, then CSV."],
        "d-trace": ["How do I export d?", "Choose Export, then CSV."],
    }
    assert texts() == expected
    source.refresh_from_db()
    assert source.pulled_until == START + timedelta(hours=21)
    assert pull(source)["sessions"] == 1  # the next day
    before = texts()
    source.refresh_from_db()
    again = pull(source, since=START - timedelta(hours=1))
    assert again["sessions"] == 0
    assert texts() == before
    dataset = Dataset.objects.get()
    assert (dataset.origin, dataset.restricted) == ("production", True)
    metadata = Turn.objects.get(session__session_id="d-trace", role="assistant").metadata
    assert metadata["model"] == "other"


@pytest.mark.parametrize("kind", KINDS)
def test_the_rule_is_the_same_for_all_tools(tools: ToolServer, kind: str) -> None:
    tools.traces = [
        Conversation("a", tags=("vip",)),
        Conversation("b", tags=("vip", "x"), score=0, answer="It depends on your plan, I fear."),
        Conversation(
            "c", tags=("vip",), answer="Choose Export, then PDF or whatever it may be called there."
        ),
        Conversation("d", tags=("x",)),
        Conversation("e", tags=("vip",), model="small"),
    ]
    result = pull(make_source(tools, kind, only_tags="vip, gold", only_models="gpt-*", max_conversations=2))
    assert (result["sessions"], result["over_maximum"]) == (2, 1)
    assert set(texts()) == {"b-trace", "a-trace"}
    assert result["other_models_or_tags"] + 5 - result["conversations"] == 2


def test_a_token_an_answer_and_an_address_are_in_no_error_and_no_row(
    tools: ToolServer, caplog: pytest.LogCaptureFixture
) -> None:
    tools.traces = [Conversation("wexcanaryquill", session="wexsessionquill")]
    cases = [
        (["401"], "refused the token (401)"),
        (["404"], "answered 404"),
        (["redirect"], "redirects to another address"),
        (["strange"], "answered in an unexpected way"),
        (["cut"] * 5, "ended its answer too early 5 times"),
        (["not_json"] * 5, "sent no valid JSON 5 times"),
        (["503"] * 5, "answered 503 5 times"),
    ]
    source = make_source(tools, "langfuse")
    for faults, message in cases:
        tools.faults = list(faults)
        with pytest.raises(UserError) as refusal:
            pull(source)
        assert message in refusal.value.message
        assert "quill" not in refusal.value.message
        assert not tools.faults
    tools.faults = ["429", "cut", "500", "not_json"]
    assert pull(source)["sessions"] == 1
    assert not [path for path in tools.paths if "meta-data" in path]
    assert "quill" not in caplog.text
    with connection.cursor() as cursor:
        for table in ("datasets_app_jobrun", "datasets_app_auditevent", "datasets_app_source"):
            cursor.execute(f"SELECT coalesce(string_agg(t::text, ''), '') FROM {table} t")
            assert "quill" not in cursor.fetchone()[0], table
    assert AuditEvent.objects.filter(action="pull_source").count() == 1


def test_private_addresses_and_plain_http_are_refused(tools: ToolServer, settings: Any) -> None:
    settings.SOURCE_NETWORKS = []
    for url in (tools.url, "https://localhost", "https://[::ffff:10.0.0.1]", "https://[64:ff9b::a00:1]",
                "https://169.254.169.254", "https://0.0.0.0", "https://100.64.0.1",
                "https://2130706433"):  # fmt: skip
        with pytest.raises(UserError, match="private network"):
            ApiClient(url, {}, lambda *_: None).get("/")
    with pytest.raises(UserError, match="https address"):
        ApiClient("http://93.184.216.34", {}, lambda *_: None).get("/")
    assert not tools.paths
    for url in (
        "ftp://host",
        "https://",
        "https://user:secret@host",
        "https://host?x=1",
        "https://host:99999",
        "x",
    ):
        with pytest.raises(UserError) as refusal:
            check_url(url)
        assert "secret" not in refusal.value.message


def test_a_canceled_pull_stops_while_it_waits(tools: ToolServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_client, "PAUSE_SECONDS", 60.0)
    tools.faults = ["500"]

    def cancel(done: int, total: int | None = None) -> None:
        if not tools.faults:
            raise OperationCanceled

    monkeypatch.setattr(http_client, "parse_retry_after", lambda value, now: None)
    with pytest.raises(OperationCanceled):
        ApiClient(tools.url, {}, cancel).get("/")


@pytest.fixture
def self_signed(tmp_path: Path, running: ToolServer) -> Iterator[str]:
    """The address of a server for https whose certificate nobody has signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now, now + timedelta(days=1))
    names = x509.SubjectAlternativeName([x509.DNSName("localhost")])
    certificate = builder.add_extension(names, critical=False).sign(key, hashes.SHA256())
    path = tmp_path / "server.pem"
    path.write_bytes(
        key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        + certificate.public_bytes(Encoding.PEM)
    )
    server = ToolServer(certificate=path)
    yield server.url.replace("127.0.0.1", "localhost")
    server.stop()


def test_certificates_are_checked_for_the_host_and_not_the_address(
    self_signed: str, tools: ToolServer, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.SOURCE_NETWORKS = [ip_network("127.0.0.0/8"), ip_network("::1")]
    monkeypatch.setattr(http_client, "_resolve", lambda host, port, scheme: ("127.0.0.1", port))
    with pytest.raises(UserError, match="certificate of localhost is not valid"):
        ApiClient(self_signed, {}, lambda *_: None).get("/")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "server.pem"))
    with pytest.raises(UserError, match="answered 404"):
        ApiClient(self_signed, {}, lambda *_: None).get("/")
    other = self_signed.replace("localhost", "elsewhere.example")
    with pytest.raises(UserError, match="certificate of elsewhere.example is not valid"):
        ApiClient(other, {}, lambda *_: None).get("/")
