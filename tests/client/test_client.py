"""The client against a real server and a real worker: files in and out, also when the network breaks."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User

from alignmenter_datasets import Client, ClientError, JobFailed, RequestRefused, read_frame, transfers
from alignmenter_datasets.command import main
from datasets_app.access.scopes import SCOPES
from datasets_app.access.tokens import create_token
from datasets_app.models import Dataset, JobRun
from tests.api.calls import make_user
from tests.client.cutting_proxy import CuttingProxy

pytestmark = pytest.mark.xdist_group("client")

TURNS = 3_000
WORDS = "How do I return the parcel with the blue lamp that came on the wrong day of the week".split()


@pytest.fixture
def curator(transactional_db: None, media_root: Path) -> User:
    return make_user("curator")


@pytest.fixture
def proxy(live_server: Any) -> Iterator[CuttingProxy]:
    proxy = CuttingProxy(live_server.url)
    yield proxy
    proxy.close()


def make_client(url: str, person: User, scopes: Any = None) -> Client:
    _, secret = create_token(person, name="client", scopes=scopes or list(SCOPES))
    return Client(url, secret)


def write_turns(path: Path, count: int = TURNS) -> str:
    """As an export writes them; returns the SHA-256."""
    with path.open("w") as file:
        for number in range(count):
            session, index = divmod(number, 4)
            text = " ".join(WORDS[(number + step) % len(WORDS)] for step in range(12))
            turn = {
                "session_id": f"session-{session:06d}",
                "turn_index": index + 1,
                "role": "assistant" if index % 2 else "user",
                "text": text,
                "tags": [],
                "persona_id": "default_v1",
            }
            file.write(json.dumps(turn, separators=(",", ":")) + "\n")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_a_file_comes_back_as_it_went_though_the_network_breaks(
    curator: User, proxy: CuttingProxy, processes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfers, "PART_BYTES", 1 << 16)
    monkeypatch.setattr("alignmenter_datasets.connection.random.uniform", lambda low, high: 0.0)
    processes.start("worker")
    sent, got, again = tmp_path / "sent.jsonl", tmp_path / "got.jsonl", tmp_path / "again.jsonl"
    digest = write_turns(sent)
    with make_client(proxy.url, curator) as client:
        proxy.cuts = [("up", 100_000), ("up", 30_000), ("down", 300)]
        job = client.push(sent, "support", origin="synthetic")
        assert proxy.made == 3
        assert job["state"] == "done"
        assert JobRun.objects.filter(operation="import_dataset").count() == 1
        assert not list(tmp_path.glob("*.upload"))
        first = client.pull("support", got)
        proxy.cuts = [("down", 120_000), ("down", 50_000)]
        second = client.pull("support", again)
        assert proxy.made == 5
        assert client.dataset("support")["turns"] == TURNS
        assert sum(1 for _ in client.turns("support")) == TURNS
        assert [turn["turn_index"] for turn in client.session_turns("support", _first(client))] == [
            1,
            2,
            3,
            4,
        ]
        frame = read_frame(client.turns("support", split=None))
    assert first.sha256 == second.sha256 == digest
    assert got.read_bytes() == again.read_bytes() == sent.read_bytes()
    assert len(frame) == TURNS
    assert list(frame.columns[:4]) == ["session_id", "turn_index", "role", "text"]
    assert not list(tmp_path.glob("*.part"))


def _first(client: Client) -> int:
    number: int = next(client.sessions("support"))["id"]
    return number


def test_another_process_resumes_an_upload(
    curator: User, proxy: CuttingProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfers, "PART_BYTES", 1 << 16)
    monkeypatch.setattr("alignmenter_datasets.connection.ATTEMPTS", 1)
    path = tmp_path / "sent.jsonl"
    write_turns(path)
    parts = []
    original = transfers._send_part

    def send_part(connection: Any, number: int, offset: int, part: bytes) -> int:
        if len(parts) == 3:
            raise KeyboardInterrupt
        parts.append(offset)
        return original(connection, number, offset, part)

    monkeypatch.setattr(transfers, "_send_part", send_part)
    with make_client(proxy.url, curator) as client, pytest.raises(KeyboardInterrupt):
        client.push(path, "support", wait=False)
    parts.clear()
    monkeypatch.setattr(transfers, "_send_part", original)
    seen: list[int] = []
    monkeypatch.setattr(transfers, "_send_part", lambda *given: seen.append(given[2]) or original(*given))
    with make_client(proxy.url, curator) as client:
        job = client.push(path, "support", wait=False)
    assert seen[0] == 3 << 16
    assert job["state"] == "queued"
    assert JobRun.objects.filter(operation="import_dataset").count() == 1


def test_errors_are_sentences_and_name_no_token(curator: User, live_server: Any, tmp_path: Path) -> None:
    Dataset.objects.create(name="support", origin="synthetic")
    with make_client(live_server.url, curator, ["datasets:read"]) as client:
        assert [found["name"] for found in client.datasets()] == ["support"]
        with pytest.raises(RequestRefused, match="lacks the scope imports:write") as refused:
            client.push(_touch(tmp_path / "x.jsonl"), "support")
        assert (refused.value.status, refused.value.code) == (403, "missing_scope")
        with pytest.raises(RequestRefused, match="nothing at this address"):
            client.dataset("other")
    with make_client(live_server.url, curator) as client:
        nothing = {"certificates": [], "estimates": [], "left_out": 0}
        assert client.quality("support") == {"dataset": "support", **nothing}
    with Client(live_server.url, "aldu_wrong") as client, pytest.raises(RequestRefused) as refused:
        next(client.datasets())
    assert refused.value.status == 401
    assert "aldu_wrong" not in str(refused.value)
    with pytest.raises(ClientError, match="unencrypted"):
        Client("http://datasets.example.com", "aldu_x")


def _touch(path: Path) -> Path:
    path.write_text("{}\n")
    return path


def test_a_failed_import_says_why(curator: User, live_server: Any, processes: Any, tmp_path: Path) -> None:
    processes.start("worker")
    path = tmp_path / "bad.jsonl"
    path.write_text('{"session_id": "s", "turn_index": 1, "role": "user"}\n')
    with make_client(live_server.url, curator) as client, pytest.raises(JobFailed, match="import_dataset"):
        client.push(path, "support")
    assert not Dataset.objects.filter(name="support").exists()


def test_the_command_pushes_checks_and_pulls(
    curator: User,
    live_server: Any,
    processes: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    processes.start("worker")
    _, secret = create_token(curator, name="command", scopes=list(SCOPES))
    token = tmp_path / "token"
    token.write_text(secret + "\n")
    monkeypatch.setenv("ALIGNMENTER_SERVER", live_server.url)
    source, out = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    write_turns(source, 40)
    at = ["--token-file", str(token)]
    assert main(["push", str(source), "--dataset", "support", "--origin", "synthetic", *at]) == 0
    assert "support has 10 sessions and 40 turns" in capsys.readouterr().out
    assert main(["pull", "support", "--out", str(out), *at]) == 0
    assert hashlib.sha256(out.read_bytes()).hexdigest() in capsys.readouterr().out
    main(["check", "support", *at])
    assert "errors and" in capsys.readouterr().out
    table = tmp_path / "desk.csv"
    table.write_text("case,who,said,internal\n7,Roe,Hello,no\n7,Lisa,Hi,no\n7,Lisa,He is cross,yes\n")
    columns = ["--map", "text=said", "--map", "role=who", "--map", "sender:Lisa=assistant"]
    assert main(["push", str(table), "--dataset", "desk", *columns, *at]) == 0
    pushed = capsys.readouterr()
    assert "left out: 1 private note (line 4)" in pushed.err
    assert "warning: Nothing stated the origin, so external is assumed" in pushed.err
    assert "desk has 1 session and 2 turns" in pushed.out
    damaged = tmp_path / "damaged.jsonl"
    damaged.write_text(f'{source.read_text()}{{"session_id": "s", "turn_index": 1, "role": "user"}}\n')
    more = ["push", str(damaged), "--dataset", "support", "--append", "--quarantine"]
    assert main([*more, *at]) == 0
    said = capsys.readouterr().err
    assert "1 session quarantined (1 problem, listed by job" in said
    assert "10 sessions existed already" in said
    assert main([*more, *at]) == 0
    assert "imported before, nothing changed" in capsys.readouterr().err
    session = Dataset.objects.get(name="support").sessions.first()
    Dataset.objects.get(name="support").sessions.filter(pk=session.pk).update(excluded=True)
    assert main(["pull", "support", "--out", str(out), "--format", "openai", *at]) == 0
    said = capsys.readouterr().err
    assert "1 session excluded" in said
    assert "metadata and unknown keys of turns are left out" in said
    assert main(["pull", "nothing", "--out", str(out), *at]) == 1
    assert secret not in "".join(capsys.readouterr())
    assert main(["pull", "support", "--out", str(out)]) == 2


def test_files_are_scrubbed_and_converted_without_a_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, clean = tmp_path / "a.jsonl", tmp_path / "clean.jsonl"
    text = "I'm Maria Garcia, write to maria.garcia@example.org"
    source.write_text(json.dumps({"session_id": "s", "turn_index": 1, "role": "user", "text": text}) + "\n")
    assert main(["sanitize", str(source), "--out", str(clean)]) == 0
    assert json.loads(clean.read_text())["text"] == "I'm [NAME], write to [EMAIL]"
    assert main(["sanitize", str(source), "--out", str(source)]) == 2
    chat, turns = tmp_path / "chat.jsonl", tmp_path / "turns.jsonl"
    assert main(["convert", str(clean), "--out", str(chat), "--to", "openai"]) == 0
    assert json.loads(chat.read_text())["messages"][0]["role"] == "user"
    capsys.readouterr()
    assert main(["convert", str(clean), "--out", "-", "--to", "openai"]) == 0
    assert capsys.readouterr().out == chat.read_text()
    assert main(["convert", str(tmp_path / "none.json"), "--out", str(turns)]) == 2
    assert main(["validate", str(clean), "--no-names"]) in {0, 1}
    table = tmp_path / "desk.csv"
    table.write_text("ticket,author,body\n1,Dora,I'm Maria Garcia\n1,Sam,Hello Maria\n")
    chosen = ["--map", "sender:Sam=assistant", "--map", "sender:Dora=user"]
    assert main(["sanitize", str(table), "--out", str(turns), *chosen]) == 0
    assert "CSV table, 2 records" in capsys.readouterr().err
    said = [json.loads(line)["text"] for line in turns.read_text().splitlines()]
    assert said == ["I'm [NAME]", "Hello [NAME]"]
    capsys.readouterr()


def test_a_conversion_says_what_it_left_out_and_fails_as_on_the_server(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, turns = tmp_path / "desk.csv", tmp_path / "turns.jsonl"
    rows = "customer,Hello,False\nagent,Hi,False\nagent,He is cross,True\ncustomer,Thanks,False\n"
    table.write_text("role,text,internal\n" + rows)
    convert = ["convert", str(table), "--out", str(turns)]
    assert main(convert) == 2
    assert "session_id=one-conversation" in capsys.readouterr().err
    assert not turns.exists()
    assert main([*convert, "--map", "session_id=one-conversation"]) == 0
    assert "1 private note (line 4)" in capsys.readouterr().err
    assert len(turns.read_text().splitlines()) == 3
    table.write_text(json.dumps({"messages": [{"role": "system", "content": "Be kind."}]}))
    assert main(convert) == 1
    assert "0 conversations" in capsys.readouterr().err


def test_the_client_needs_no_django() -> None:
    code = "import sys, alignmenter_datasets.command; sys.exit('django' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
