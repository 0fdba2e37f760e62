"""canary_dataset as a gate in a script: on datasets, on files, and what it leaves behind (numbers alone)."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse

from datasets_app.catalog import gates
from datasets_app.domain.pii.detector import EMAIL, KINDS, NAME
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import Dataset, JobRun, TextScan, Turn
from datasets_app.scrubbing.marks import mark_not_personal
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests.factories import make_dataset, make_turn, run_task, write_jsonl
from tests.terminal import decode_output, run_in_process

TEXTS = (
    "Hello, my order is late. Can you check it for me?",
    "Of course! May I have your phone number, please?",
    "yes of course, thank you",
    "Thank you. We will send it again tomorrow.",
)
LINES = [make_turn(f"s{number // 4}", number % 4 + 1, text=TEXTS[number % 4]) for number in range(40)]


def run(folder: Path, *arguments: Any) -> Any:
    return decode_output(run_in_process("canary_dataset", *arguments, cwd=folder))


def measure(folder: Path, *arguments: Any) -> tuple[int, dict[str, Any]]:
    done = run(folder, *arguments, "--format", "json", "--n", 2 * len(KINDS))
    assert done.stderr == ""
    return done.returncode, json.loads(done.stdout)


@pytest.mark.django_db(transaction=True)
class TestDatasets:
    @pytest.fixture
    def dataset(self, tmp_path: Path) -> Dataset:
        return make_dataset(tmp_path, LINES, origin="production")

    def test_a_scrub_without_a_class_fails_where_a_complete_one_passes(
        self, dataset: Dataset, tmp_path: Path
    ) -> None:
        scrub_dataset(dataset, Policy())
        before = list(Turn.objects.order_by("pk").values_list("text", flat=True))
        _, healthy = measure(tmp_path, "support", "--upper", "99%")
        assert set(healthy["classes"]) == set(KINDS)
        assert healthy["classes"][EMAIL]["survived"] == 0
        limit = str(healthy["upper"] + 0.0001)
        assert measure(tmp_path, "support", "--upper", limit) == (0, {**healthy, "limit": float(limit)})
        assert list(Turn.objects.order_by("pk").values_list("text", flat=True)) == before

        # Without user names either, which addresses begin with.
        left = (EMAIL, "URL", "HANDLE", NAME)
        scrub_dataset(dataset, Policy(kinds=tuple(kind for kind in KINDS if kind not in left)))
        code, sabotaged = measure(tmp_path, "support", "--upper", limit)
        assert (code, sabotaged["passed"]) == (1, False)
        assert sabotaged["classes"][EMAIL]["survived"] > 0

    def test_the_result_stands_in_the_verdict_until_the_text_or_its_exceptions_change(
        self, dataset: Dataset, tmp_path: Path
    ) -> None:
        scrub_dataset(dataset, Policy())
        assert "planted" not in gates.load_facts(dataset).description
        job = JobRun.objects.create(
            operation="canary_dataset",
            dataset=dataset,
            dataset_name="support",
            parameters={"count": len(KINDS)},
        )
        result = run_task(job)
        sentence = result["text"]
        assert sentence.startswith("At most ")
        assert result["planted"] == len(KINDS)
        described = gates.load_facts(dataset).description
        assert described == f"Verified: no pattern matches remain in 40 turns. {sentence}"
        mark_not_personal(dataset, term="Zorblax", actor=None)
        assert "planted" not in gates.load_facts(dataset).description
        run_task(job)
        assert sentence in gates.load_facts(dataset).description
        TextScan.objects.filter(dataset=dataset).update(canary={**_stored(dataset), "last_session": 0})
        assert "planted" not in gates.load_facts(dataset).description
        run_task(job)
        scrub_dataset(dataset, Policy(placeholders="numbered"))
        assert "planted" not in gates.load_facts(dataset).description

    def test_the_page_starts_a_measurement_and_shows_it(
        self, dataset: Dataset, tmp_path: Path, admin_client: Any
    ) -> None:
        scrub_dataset(dataset, Policy())
        page = reverse("admin:datasets_app_dataset_scrub", args=[dataset.pk])
        assert "Measure what a scrub leaves" in admin_client.get(page).content.decode()
        address = reverse("admin:datasets_app_dataset_canary", args=[dataset.pk])
        assert admin_client.get(address).status_code == 405
        assert admin_client.post(address).status_code == 302
        job = JobRun.objects.get(operation="canary_dataset")
        assert job.get_operation_label() == "Measure with planted values"
        assert job.parameters["count"] == 600
        job.parameters["count"] = len(KINDS)
        run_task(job)
        shown = admin_client.get(page).content.decode()
        assert _describe(dataset) in " ".join(shown.split())
        assert "Measure again" in shown
        stored = _stored(dataset)
        stored["classes"]["IP"] |= {"survived": 9, "forms": {f"form {n}": n for n in (1, 2, 5, 4)}}
        TextScan.objects.filter(dataset=dataset).update(canary=stored)
        shown = " ".join(admin_client.get(page).content.decode().split())
        assert "form 5: 5<br> form 4: 4<br> form 2: 2<br>and 1 more form</div>" in shown
        assert "Nothing is left of " in shown

    def test_options_of_files_are_refused(self, dataset: Dataset, tmp_path: Path) -> None:
        done = run(tmp_path, "support", "--allow", "Acme")
        assert (done.returncode, "--allow is for files" in done.stderr) == (2, True)


def _stored(dataset: Dataset) -> dict[str, Any]:
    return TextScan.objects.values_list("canary", flat=True).get(dataset=dataset)


def _describe(dataset: Dataset) -> str:
    return gates.load_facts(dataset).text.survival


def test_too_few_values_for_the_limit_are_said_to_be(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "chat.jsonl", LINES)
    done = run(tmp_path, "--input", "chat.jsonl", "--n", 2 * len(KINDS), "--upper", "1%")
    assert done.returncode == 1
    assert f"{2 * len(KINDS)} values can't show that: with --n 381 it passes if none is left." in done.stdout


def test_a_file_needs_no_database(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "chat.jsonl", LINES)
    before = (tmp_path / "chat.jsonl").read_bytes()
    code, whole = measure(tmp_path, "--input", "chat.jsonl", "--upper", "99%")
    assert (code, whole["input"], whole["passed"]) == (0, "chat.jsonl", True)
    code, part = measure(tmp_path, "--input", "chat.jsonl", "--upper", "5%", "--scrub-patterns", "ip")
    assert (code, part["classes"][EMAIL]["survived"]) == (1, 2)
    done = run(tmp_path, "--input", "chat.jsonl", "--n", 2 * len(KINDS), "--upper", 0.99)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].split()[:3] == ["type", "planted", "left"]
    assert lines[-1] == "Passed: the limit is 99 %."
    assert [path.name for path in tmp_path.iterdir()] == ["chat.jsonl"]
    assert (tmp_path / "chat.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "Name either a dataset or a file"),
        (["support", "--input", "chat.jsonl"], "Name either a dataset or a file"),
        (["--input", "chat.jsonl", "--upper", "3"], "--upper is a share between 0 and 1, such as 1% or 0.01"),
        (["--input", "chat.jsonl", "--upper", "few"], "--upper is a share"),
        (["--input", "chat.jsonl", "--n", 5], f"Plant {len(KINDS)} to 100,000 values"),
        (["--input", "gone.jsonl"], "gone.jsonl"),
        (["--input", "empty.jsonl"], "no turn with text"),
        (["--input", "chat.jsonl", "--names", "no_such_model"], "no_such_model"),
    ],
)
def test_wrong_calls_say_what_to_do(tmp_path: Path, arguments: list[Any], told: str) -> None:
    write_jsonl(tmp_path / "chat.jsonl", LINES[:2])
    write_jsonl(tmp_path / "empty.jsonl", [make_turn("s1", 1, text=" ")])
    done = run(tmp_path, *arguments)
    assert done.returncode == 2
    assert told in done.stderr
