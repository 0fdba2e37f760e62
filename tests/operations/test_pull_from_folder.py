"""Pulls from a folder and from a bucket, below the places that the installation names."""

import gzip
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from alignmenter_site.env import EnvironmentVariableError
from alignmenter_site.file_storage import source_roots
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset, Session, Source
from datasets_app.sources import folder as folder_source
from datasets_app.sources.folder import check_folder
from tests.factories import encode_jsonl, make_session
from tests.operations.test_pull_source import pull, texts
from tests.operations.test_s3_storage import bucket  # noqa: F401  (a fixture)
from tests.spans import encode_request, make_span

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    settings.SOURCE_ROOTS = [str(tmp_path / "in")]
    (tmp_path / "in" / "logs").mkdir(parents=True)
    return tmp_path / "in" / "logs"


def write(path: Path, content: bytes, minutes_ago: int = 30) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    changed = (timezone.now() - timedelta(minutes=minutes_ago)).timestamp()
    os.utime(path, (changed, changed))


def make_source(location: Any, **fields: Any) -> Source:
    return Source.objects.create(
        name="dumps", kind="folder", dataset_name="prod", location=str(location), **fields
    )


def test_files_of_any_format_come_once_and_again_when_they_grow(folder: Path, tmp_path: Path) -> None:
    write(folder / "a.jsonl", encode_request(make_span(1, 1)) + b"\n")
    write(folder / "2026" / "b.jsonl.gz", gzip.compress(encode_jsonl(make_session("s1"))))
    write(folder / "broken.zip", b"PK\x03\x04 and no more")
    write(folder / "other.json", b'{"session_id": "no conversation"}')
    write(folder / "new.jsonl", encode_jsonl(make_session("s9")), minutes_ago=0)
    write(folder / "notes.md", b"no data")
    write(tmp_path / "secret.jsonl", encode_jsonl(make_session("secret")))
    (folder / "link.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (folder / "linked").symlink_to(tmp_path)
    source = make_source(folder)
    result = pull(source)
    assert (result["sessions"], result["unreadable_files"], result["unreadable"]) == (2, 1, 1)
    assert set(texts()) == {f"{1:032x}", "s1"}
    assert pull(source) == {"sessions": 0, "more": False}
    write(folder / "a.jsonl", encode_request(make_span(1, 1)) + b"\n" + encode_request(make_span(2, 1)), 20)
    grown = pull(source)
    assert (grown["sessions"], grown["delivered_before"]) == (1, 1)
    assert Session.objects.filter(dataset=Dataset.objects.get()).count() == 3


def test_an_existing_session_is_kept_and_what_continues_it_is_one_of_its_own(folder: Path) -> None:
    write(folder / "a.jsonl", encode_jsonl(make_session("s1")))
    write(
        folder / "b.jsonl",
        encode_jsonl([{**turn, "metadata": {"trace_ids": ["t2"]}} for turn in make_session("s1", 4)]),
    )
    source = make_source(folder)
    assert pull(source)["sessions"] == 2
    sizes = {name: len(found) for name, found in texts().items()}
    assert sizes.pop("s1") == 2
    assert list(sizes.values()) == [4]
    Source.objects.all().delete()
    again = pull(make_source(folder))
    assert (again["already_in_dataset"], again["sessions"]) == (1, 0)


def test_much_comes_in_several_pulls(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_source, "MAX_BYTES", 10)
    for number in (1, 2):
        write(folder / f"{number}.jsonl", encode_jsonl(make_session(f"s{number}")), 60 - number)
    source = make_source(folder)
    assert [pull(source)["more"], pull(source)["more"]] == [True, False]
    assert set(texts()) == {"s1", "s2"}


def test_near_duplicates_are_left_out_also_of_earlier_pulls(folder: Path) -> None:
    words = "my invoice of march shows the wrong amount and I can not find where to change the address on it"

    def conversation(name: str, text: str, **metadata: Any) -> list[dict[str, Any]]:
        first, second = make_session(name, 2, metadata=metadata)
        return [{**first, "text": f"Hello, {text}"}, {**second, "text": f"Sorry that {text}"}]

    write(folder / "a.jsonl", encode_jsonl(conversation("s1", words)))
    source = make_source(folder, skip_near_duplicates=True)
    pull(source)
    other = "the app closes whenever I open the second report of a week with more than seven days of data"
    lines = [
        *conversation("s2", f"{words} today"),
        *conversation("s3", other),
        *conversation("s4", f"{other} again", scores={"user_feedback": 0}),
    ]
    write(folder / "b.jsonl", encode_jsonl(lines))
    result = pull(source)
    assert (result["near_duplicates"], result["sessions"]) == (2, 1)
    assert set(texts()) == {"s1", "s4"}


def test_a_table_that_would_be_one_conversation_stops_the_pull_and_is_named(folder: Path) -> None:
    write(folder / "a.jsonl", encode_jsonl(make_session("s1")))
    table = b"Bundle,Sender,Body\na,user,Hi\na,bot,Hello\nb,user,Bye\n"
    write(folder / "2026" / "desk-export.csv", table)
    source = make_source(folder)
    with pytest.raises(
        UserError, match=r"^desk-export\.csv: no column says which rows .*session_id in the file"
    ):
        pull(source)
    assert not Session.objects.exists()
    write(folder / "2026" / "desk-export.csv", table.replace(b"Bundle", b"session_id"), 20)
    assert pull(source)["sessions"] == 3


def test_only_places_below_a_root_are_read(folder: Path, settings: Any, tmp_path: Path) -> None:
    assert check_folder(f" {folder}/ ") == str(folder)
    settings.SOURCE_ROOTS += ["s3://dumps/chats"]
    assert check_folder("s3://dumps/chats/2026/") == "s3://dumps/chats/2026"
    (folder / "out").symlink_to(tmp_path)
    for location in (tmp_path, f"{folder}/../..", folder / "out", "logs", "s3://dumps", "s3://dumps/chats2",
                     "s3://dumps/chats/../x", "s3://other/chats", f"{tmp_path}/in2"):  # fmt: skip
        with pytest.raises(UserError, match="may not read there"):
            check_folder(str(location))
    source = make_source(folder)
    settings.SOURCE_ROOTS = []
    with pytest.raises(UserError, match="may not read there"):
        pull(source)


def test_roots_are_checked_at_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOTS", "/srv/logs, s3://dumps/chats")
    assert source_roots("ROOTS") == ["/srv/logs", "s3://dumps/chats"]
    for value in ("logs", "s3://user@dumps", "s3://dumps?unknown=1"):
        monkeypatch.setenv("ROOTS", value)
        with pytest.raises(EnvironmentVariableError):
            source_roots("ROOTS")


def test_a_bucket_is_read_like_a_folder(bucket: Path, settings: Any) -> None:  # noqa: F811
    url = settings.STORAGES["default"]["OPTIONS"]["endpoint_url"]
    settings.SOURCE_ROOTS = [f"s3://datasets/chats?endpoint_url={url}&region_name=us-east-1"]
    write(bucket / "chats" / "a.jsonl", encode_jsonl(make_session("s1")))
    write(bucket / "chats-of-others" / "b.jsonl", encode_jsonl(make_session("s2")))
    source = make_source("s3://datasets/chats")
    assert pull(source)["sessions"] == 1
    assert pull(source)["sessions"] == 0
    assert set(texts()) == {"s1"}
    Source.objects.update(location="s3://datasets/chats/none")
    source.refresh_from_db()
    assert json.dumps(pull(source)) == '{"sessions": 0, "more": false}'
