"""What a scrub has verified passes every other door, and what one door finds, all find: in ten languages."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from datasets_app.catalog import gates
from datasets_app.catalog.text_scans import discard_scan, scan_new_text
from datasets_app.checking.check_dataset import check_dataset
from datasets_app.command_line import validate
from datasets_app.domain.quality.text_tally import count_found
from datasets_app.exporting.export_dataset import export_to_path
from datasets_app.models import Dataset, TextScan
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.releasing.sharing.export_package import export_package
from datasets_app.scrubbing.scrub_dataset import parse_policy, scrub_dataset
from tests.domain.test_one_verdict import LANGUAGES, read_texts
from tests.factories import import_file, make_turn, write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)

TEXTS_PER_LANGUAGE = 6
TURNS_PER_SESSION = 4


def make_lines() -> list[dict[str, Any]]:
    texts = [text for language in LANGUAGES for text in read_texts(language)[:TEXTS_PER_LANGUAGE]]
    return [
        make_turn(
            f"s{number // TURNS_PER_SESSION}",
            number % TURNS_PER_SESSION + 1,
            text=text,
            tags=[f"source:{number}"],
            metadata={"subject": texts[number - 1], "attachments": [{"name": f"scan_{number}.pdf"}]},
        )
        for number, text in enumerate(texts)
    ]


def list_verdicts(dataset: Dataset, folder: Path, capsys: Any) -> dict[str, dict[str, int]]:
    """The values that each door finds, by class."""
    report = check_dataset(dataset, actor=None, name_models=("builtin",))
    found = {"checks": count_found(report.totals)}
    discard_scan(dataset)
    scan_new_text(dataset)
    found["search"] = dict(TextScan.objects.get(dataset=dataset).found)
    export_to_path(dataset, folder / "export.jsonl", override="A test.")
    folder.joinpath("work").mkdir()
    release_dataset(dataset, folder=folder / "work", override="A test.", actor=None)
    release = dataset.releases.get()
    found["release"] = count_found((release.checks or {})["totals"])
    for name, version in (("package", ""), ("release_package", release.version)):
        export_package(dataset, folder / name, version=version, override="A test.")
    for place in (
        "export.jsonl",
        *(f"{name}/data/{dataset.name}.jsonl" for name in ("package", "release_package")),
    ):
        for options in ([], ["--pii-only"]):
            validate.main([str(folder / place), "--format", "json", *options])
            totals = json.loads(capsys.readouterr().out)["totals"]
            found[" ".join((place, *options))] = count_found(totals)
    return found


def list_differences(found: dict[str, dict[str, int]]) -> Iterator[tuple[str, str, int, int]]:
    """(door, class, found, found by the checks). Searches and releases don't look for names."""
    for door, counts in found.items():
        expected = dict(found["checks"])
        if door in ("search", "release"):
            expected.pop("NAME", None)
        for kind in {*counts, *expected}:
            if counts.get(kind, 0) != expected.get(kind, 0):
                yield door, kind, counts.get(kind, 0), expected.get(kind, 0)


def read_everywhere(lines: Sequence[dict[str, Any]], folder: Path, capsys: Any) -> Dataset:
    """Import and compare the doors: before and after a scrub. Returns the scrubbed dataset."""
    import_file(write_jsonl(folder / "support.jsonl", lines), origin="external")
    dataset = Dataset.objects.get()
    for name in ("raw", "scrubbed"):
        place = folder / name
        place.mkdir()
        if name == "scrubbed":
            dataset.releases.all().delete()
            scrub_dataset(dataset, parse_policy(None))
        verdicts = list_verdicts(dataset, place, capsys)
        assert list(list_differences(verdicts)) == [], name
        assert bool(verdicts["checks"]) == (name == "raw"), verdicts["checks"]
    return dataset


def test_no_door_differs(tmp_path: Path, capsys: Any) -> None:
    dataset = read_everywhere(make_lines(), tmp_path, capsys)
    facts = gates.load_facts(dataset)
    assert (facts.is_raw, Counter(facts.to_review)) == (False, Counter())
