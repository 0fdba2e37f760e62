"""On-brand labels have the files and figures that they had before a campaign could ask anything else.

``onbrand_files/before`` is what the version before criteria wrote of the conversations and labels beside it.
Nothing writes it anew: people's files and scripts depend on these formats.
"""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotations_app.agreement.measure import measure_agreement, measure_files
from annotations_app.domain.agreement.agreement_text import format_report
from annotations_app.labels.export_annotations import export_annotations
from annotations_app.labels.import_annotations import import_annotations
from datasets_app.catalog import text_gates
from datasets_app.models import Dataset, Session
from datasets_app.releasing.sharing.export_package import export_package
from tests.factories import import_file

pytestmark = pytest.mark.django_db

FOLDER = Path(__file__).with_name("onbrand_files")
BY = ("annotator", "tag", "split", "month")
# Processors differ in the last digits of what is estimated.
ESTIMATED = re.compile(rb"\d+\.\d{10,}")


@pytest.fixture
def talks(monkeypatch: pytest.MonkeyPatch) -> Dataset:
    # Pseudonyms of annotators depend on it.
    monkeypatch.setenv("ALIGNMENTER_HASH_KEY", "on-brand files are to stay as they are: 0123456789")
    import_file(FOLDER / "conversations.jsonl", "talks", origin="synthetic")
    import_annotations(FOLDER / "labels.jsonl", dataset_name="talks")
    import_annotations(FOLDER / "adjudicated.jsonl", dataset_name="talks", adjudicated=True)
    dataset = Dataset.objects.get(name="talks")
    dataset.sessions.update(split=Session.Split.TRAIN)
    dataset.sessions.filter(session_id="talk-9").update(split=Session.Split.TEST)
    dataset.sessions.filter(session_id="talk-10").update(excluded=True)
    text_gates.scan_and_describe(dataset)
    return dataset


def export(talks: Dataset, persona: str, labels: str) -> bytes:
    out = io.BytesIO()
    export_annotations(talks, persona=persona, labels=labels, out=out)
    return out.getvalue()


def measure(talks: Dataset, **scope: Any) -> Any:
    return measure_agreement(dataset=talks, by=BY, resamples=200, **scope)


def as_json(report: Any) -> bytes:
    return json.dumps(report.as_json(), ensure_ascii=False, indent=1).encode() + b"\n"


def round_estimates(content: bytes) -> bytes:
    return ESTIMATED.sub(lambda number: f"{float(number[0]):.9f}".encode(), content)


def download_table(talks: Dataset, number: str) -> bytes:
    lead = User.objects.create_user("a-lead", is_staff=True)
    lead.groups.set(Group.objects.filter(name="lead"))
    client = Client()
    client.force_login(lead)
    response = client.post(
        "/admin/annotations_app/annotation/export/", {"format": number, "resource": "0"}, secure=True
    )
    return bytes(response.content)


def package_labels(talks: Dataset, path: Path) -> bytes:
    export_package(talks, path, override="A test.")
    return b"".join(
        file.name.encode() + b"\n" + file.read_bytes() for file in sorted((path / "labels").iterdir())
    )


MAKERS: dict[str, Callable[[Dataset, Path], bytes]] = {
    "calm_all.jsonl": lambda talks, _: export(talks, "calm_v1", "all"),
    "calm_majority.jsonl": lambda talks, _: export(talks, "calm_v1", "majority"),
    "calm_dawid_skene.jsonl": lambda talks, _: export(talks, "calm_v1", "dawid-skene"),
    "calm_adjudicated.jsonl": lambda talks, _: export(talks, "calm_v1", "adjudicated"),
    "loud_all.jsonl": lambda talks, _: export(talks, "loud_v1", "all"),
    "calm_agreement.json": lambda talks, _: as_json(measure(talks, persona_id="calm_v1")),
    "calm_agreement.txt": lambda talks, _: format_report(measure(talks, persona_id="calm_v1")).encode(),
    "agreement.json": lambda talks, _: as_json(measure(talks)),
    "file_agreement.json": lambda _, __: as_json(
        measure_files([FOLDER / "labels.jsonl"], names=["labels.jsonl"], by=("annotator",), resamples=200)
    ),
    "table.jsonl": lambda talks, _: download_table(talks, "0"),
    "table.csv": lambda talks, _: download_table(talks, "1"),
    "table.yaml": lambda talks, _: download_table(talks, "3"),
    "package.txt": package_labels,
}


@pytest.mark.parametrize("name", MAKERS)
def test_a_file_is_byte_for_byte_as_it_was(name: str, talks: Dataset, tmp_path: Path) -> None:
    now, before = MAKERS[name](talks, tmp_path / "package"), (FOLDER / "before" / name).read_bytes()
    assert round_estimates(now) == round_estimates(before)


def test_what_was_exported_comes_back(talks: Dataset) -> None:
    """The files of that version are the labels that they were made of; nothing looks for answers in them."""
    path = FOLDER / "before" / "calm_all.jsonl"
    with CaptureQueriesContext(connection) as queries:
        saved = import_annotations(path, dataset_name="talks").saved
    assert (saved.added, saved.known) == (0, path.read_bytes().count(b"\n"))
    assert not [query for query in queries if " staged_judgment " in str(query["sql"])]
