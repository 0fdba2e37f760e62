"""Every door through which text passes finds the same in it, before a scrub and after.

``ALIGNMENTER_VERDICT_TURNS=5000`` takes as many generated turns and chat lines, and 2,000 real turns.
"""

import gzip
import json
import os
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from datasets_app.catalog import gates
from datasets_app.catalog.scrubbers import make_scrubber
from datasets_app.checking import check_dataset
from datasets_app.command_line import validate
from datasets_app.domain.pii.detector import DATE_OF_BIRTH, NAME
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.quality.personal_data_codes import CODE_BY_KIND
from datasets_app.exporting.export_dataset import export_to_path
from datasets_app.importing.preview import preview_upload
from datasets_app.models import Dataset, Release
from datasets_app.releasing.release_dataset import release_dataset
from datasets_app.releasing.sharing.export_package import export_package
from datasets_app.scrubbing import verify
from tests.factories import make_dataset
from tests.mixed_turns import DEMO, make_mixed_lines

pytestmark = pytest.mark.django_db(transaction=True)

TURNS = int(os.environ.get("ALIGNMENTER_VERDICT_TURNS") or 200)
DIALOGUES = Path(__file__).resolve().parents[3] / "shared" / "data" / "sgd_dev.jsonl.gz"
KIND_BY_CODE = {code: kind for kind, code in CODE_BY_KIND.items()}
OVERRIDE = "a test"
MAX_PREVIEWED_LINES = 1000

# Values of a class in a turn; what a door only counts is in no turn.
Found = Counter[tuple[str | None, int | None, str]]


def read_real_texts() -> list[str]:
    """Of the demonstration, where there is nothing else."""
    if not DIALOGUES.exists():
        return [json.loads(line)["text"] for line in DEMO.read_text(encoding="utf-8").splitlines()]
    with gzip.open(DIALOGUES, "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in islice(lines, 100 if TURNS < 1000 else 2000)]


def count_findings(findings: Iterable[dict[str, Any]], places: dict[int, tuple[str, int]]) -> Found:
    """Those about personal data. ``places`` says which turn stands in which line of a file."""
    return Counter(
        (*place, KIND_BY_CODE[item["code"]])
        for item in findings
        if item["code"] in KIND_BY_CODE
        for place in [places.get(item.get("line") or 0, (item["session_id"], item["turn_index"]))]
    )


class Doors:
    """What each door finds in a dataset, by turn and class, or by class alone."""

    def __init__(self, dataset: Dataset, manage: Any, folder: Path, capsys: Any) -> None:
        self.dataset, self.manage, self.folder, self.capsys = dataset, manage, folder, capsys
        folder.mkdir()
        self.file = folder / "exported.jsonl"
        export_to_path(dataset, self.file, override=OVERRIDE)
        self.package = folder / "package"
        work = folder / "work"
        work.mkdir()
        release_dataset(dataset, folder=work, override=OVERRIDE, actor=None)
        export_package(dataset, self.package, override=OVERRIDE)

    def check_dataset(self) -> Found:
        done = self.manage("validate_dataset", "--dataset", self.dataset.name, "--format=json", "--limit=0")
        return count_findings(json.loads(done.stdout)["files"][0]["findings"], {})

    def check_file(self) -> Found:
        done = self.manage("validate_dataset", self.file, "--format=json", "--limit=0")
        return self._read(done.stdout, [self.file])

    def hook(self) -> Found:
        return self._validate("--pii-only", files=[self.file])

    def validate_package(self) -> Found:
        return self._validate(files=sorted((self.package / "data").glob("*.jsonl")))

    def _validate(self, *options: str, files: list[Path]) -> Found:
        validate.main([*options, *map(str, files), "--format=json", "--limit=0"])
        return self._read(self.capsys.readouterr().out, files)

    def _read(self, output: str, files: list[Path]) -> Found:
        found: Found = Counter()
        for path, item in zip(files, json.loads(output)["files"], strict=True):
            turns = map(json.loads, path.read_text(encoding="utf-8").split("\n")[:-1])
            places = {n: (turn["session_id"], turn["turn_index"]) for n, turn in enumerate(turns, 1)}
            found += count_findings(item["findings"], places)
        return found

    def gate(self) -> Counter[str]:
        return Counter(gates.load_facts(self.dataset).text.found)

    def release(self) -> Counter[str]:
        totals = Release.objects.filter(dataset=self.dataset).latest("pk").checks["totals"]
        return Counter({KIND_BY_CODE[code]: n for code, n in totals.items() if code in KIND_BY_CODE})

    def verification(self) -> Counter[str]:
        scrubber = make_scrubber(Policy(), self.dataset)
        return Counter(verify.verify_scrub(self.dataset, scrubber, lambda *_: None)["remaining"])

    def preview(self) -> int:
        """Of the start of a file alone."""
        with self.file.open("rb") as file:
            return preview_upload(file, self.file.name).personal_data


def by_class(found: Found) -> Counter[str]:
    totals: Counter[str] = Counter()
    for (_, _, kind), count in found.items():
        totals[kind] += count
    return totals


def without_names(found: Found) -> Counter[str]:
    """The classes that are looked for without names, too: an age is one beside a name alone."""
    named = {place[:2] for place in found if place[2] == NAME}
    return by_class(
        Counter(
            {
                place: count
                for place, count in found.items()
                if place[2] != NAME and not (place[2] == DATE_OF_BIRTH and place[:2] in named)
            }
        )
    )


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dataset:
    monkeypatch.setattr(check_dataset, "MAX_FINDINGS_PER_CODE", 1_000_000)
    lines = make_mixed_lines(TURNS // 2, TURNS // 2, read_real_texts())
    return make_dataset(tmp_path, lines, "mixed", origin="external")


def test_every_door_finds_the_same(dataset: Dataset, manage: Any, tmp_path: Path, capsys: Any) -> None:
    doors = Doors(dataset, manage, tmp_path / "raw", capsys)
    gate = doors.gate()
    assert sum(gate.values()) > 20
    assert doors.release() == doors.verification() == gate
    if dataset.turn_count < MAX_PREVIEWED_LINES:
        assert doors.preview() == gate.total()
    file = doors.check_file()
    assert doors.hook() == doors.validate_package() == doors.check_dataset() == file
    assert without_names(file) - gate == gate - by_class(file) == Counter()
    with capsys.disabled():
        print(f"{dataset.turn_count:,} turns:", dict(by_class(file)))


def test_what_a_scrub_has_verified_passes_every_door(
    dataset: Dataset, manage: Any, tmp_path: Path, capsys: Any
) -> None:
    assert manage("keep_terms", write_terms(tmp_path, "Katarina"), "--dataset", "mixed").returncode == 0
    done = manage("sanitize_dataset", "--dataset", "mixed")
    assert done.returncode == 0, done.stdout + done.stderr
    doors = Doors(dataset, manage, tmp_path / "scrubbed", capsys)
    nothing: Counter[str] = Counter()
    assert doors.gate() == doors.release() == doors.verification() == nothing
    assert doors.preview() == 0
    assert doors.check_dataset() == Counter()
    assert gates.load_facts(dataset).state == "released"
    file = doors.check_file()
    # Names that a decision about the dataset keeps, of which files don't know.
    assert without_names(file) == nothing
    assert doors.hook() == file
    assert doors.validate_package() == file
    with capsys.disabled():
        print(f"{dataset.turn_count:,} scrubbed turns:", dict(by_class(file)))


def write_terms(folder: Path, *terms: str) -> Path:
    path = folder / "terms.txt"
    path.write_text("\n".join(terms), encoding="utf-8")
    return path
