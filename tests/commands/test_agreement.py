"""`agreement` as a pipeline runs it: files without a database, datasets and campaigns with one."""

import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotations_app.criteria.schemas import import_schema
from annotations_app.demo.load_demo import DEMO_DIRECTORY, load_demo
from annotations_app.models import Annotation, Campaign
from datasets_app.models import Dataset, Persona
from tests.campaigns import lease_for, make_campaign, submit
from tests.factories import encode_jsonl, write_jsonl

LABELS = DEMO_DIRECTORY / "demo_labels.jsonl"
SCHEMA = "schema: s\ncriteria: [{key: tone, question: Warm?, kind: yes_no}]\n"
NO_DATABASE = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing", "REDIS_URL": "redis://127.0.0.1:1"}


def label(**fields: Any) -> dict[str, Any]:
    return {"text": "Sure.", "label": 1, "persona_id": "p", "annotator": "ada"} | fields


@pytest.mark.django_db(transaction=True)
class TestRows:
    def test_a_dataset_and_its_file_print_the_same(self, manage: Any) -> None:
        load_demo()
        options = ("--by", "annotator,month", "--format", "json", "--resamples", "200")
        of_rows = manage("agreement", "--dataset", "demo_conversations", *options)
        of_file = manage("agreement", LABELS, *options)
        assert of_rows.returncode == of_file.returncode == 0, of_rows.stderr + of_file.stderr
        rows, file = json.loads(of_rows.stdout), json.loads(of_file.stdout)
        for value in (rows["gold"], file["gold"]):
            value.pop("basis")
        assert rows == file
        assert (rows["labels"], rows["items"], rows["annotators"], rows["single"]) == (90, 30, 3, 0)

    def test_a_campaign_is_measured_by_its_name(self, manage: Any) -> None:
        load_demo()
        stored = Dataset.objects.get()
        campaign = Campaign.objects.create(name="may", dataset=stored, persona=Persona.objects.get())
        for annotation in Annotation.objects.filter(annotator__in=["ada", "ben"]):
            annotation.campaign = campaign
            annotation.save()
        done = manage("agreement", "--campaign", "may")
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("60 labels of 30 replies in 10 sessions by 2 annotators.")

    def test_answers_under_a_schema_are_left_out_and_said(self, manage: Any) -> None:
        load_demo()
        campaign = make_campaign(Dataset.objects.get(), "ana", schema=import_schema(SCHEMA).schema)
        submit(lease_for(campaign, "ana").current, label=None, answers={"tone": 1})
        said = "1 label under a schema is not counted here: agreement on them is measured by campaign."
        assert f"Note: {said}" in manage("agreement", "--dataset", "demo_conversations").stdout
        Annotation.objects.all().delete()
        none = manage("agreement", "--dataset", "demo_conversations")
        assert (none.returncode, said in none.stderr) == (2, True)

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            (["--dataset", "nothing"], "There is no dataset 'nothing'"),
            (["--campaign", "nothing"], "There is no campaign 'nothing'"),
            (["--dataset", "demo_conversations", "--persona", "q"], "no labels for the persona q in demo_"),
            (["--dataset", "demo_conversations", "--by", "year"], "can't be divided by 'year'"),
        ],
    )
    def test_what_can_not_be_measured_says_why(
        self, manage: Any, arguments: list[str], sentence: str
    ) -> None:
        load_demo()
        done = manage("agreement", *arguments)
        assert done.returncode == 2
        assert sentence in done.stderr
        assert "Traceback" not in done.stderr


def test_files_need_no_database_and_are_taken_together(
    manage: Any, manage_subprocess: Any, tmp_path: Path
) -> None:
    lines = [json.loads(line) for line in LABELS.read_text().splitlines()]
    by_name = {
        name: encode_jsonl(line for line in lines if line["annotator"] == name)
        for name in ("ada", "ben", "chi")
    }
    (tmp_path / "ada.jsonl").write_bytes(by_name["ada"])
    (tmp_path / "ben.jsonl.gz").write_bytes(gzip.compress(by_name["ben"]))
    together = manage_subprocess(
        "agreement", "ada.jsonl", "ben.jsonl.gz", "-", input=by_name["chi"], env=NO_DATABASE
    )
    whole = manage("agreement", LABELS)
    assert together.returncode == whole.returncode == 0, together.stderr
    assert together.stdout == whole.stdout


def test_the_text_tells_what_the_numbers_mean(manage: Any) -> None:
    text = manage("agreement", LABELS, "--by", "month,tag").stdout
    assert "Krippendorff's alpha  0.775   0.64 to 0.91" in text
    assert "Two annotators of the same reply say the same in 88.9 % of cases." in text
    assert "ada – ben  30  0.93 (0.80 to 1.00)" in text
    assert "Consensus (Dawid-Skene," in text
    for word in ("moderate", "substantial", "almost perfect", "slight"):
        assert word not in text


def test_json_has_the_keys_that_were_agreed_on(manage: Any) -> None:
    done = manage("agreement", LABELS, "--format", "json", "--by", "annotator,persona,tag")
    value = json.loads(done.stdout)
    wanted = {"labels", "items", "annotators", "single", "prevalence", "raw_agreement"}
    wanted |= {"krippendorff_alpha", "gwet_ac1", "fleiss_kappa", "pairs", "by"}
    assert wanted <= value.keys()
    assert value["by"].keys() == {"annotator", "persona", "tag"}
    assert value["krippendorff_alpha"].keys() == {"value", "low", "high", "note"}
    again = manage("agreement", LABELS, "--format", "json", "--by", "annotator,persona,tag")
    assert again.stdout == done.stdout


def test_labels_are_of_the_place_they_name_or_else_of_their_text(manage: Any, tmp_path: Path) -> None:
    lines = [
        label(session_id="s1", turn_index=2),
        label(session_id="s2", turn_index=2, annotator="ben", label=0),
        label(annotator="ada", text="Of course."),
        label(labeler="ben", annotator=None, text="Of course."),
        label(annotator="ben", text="Of course.", persona_id="q", tags=["x"], split="train"),
    ]
    path = write_jsonl(tmp_path / "labels.jsonl", lines)
    done = manage("agreement", path, "--format", "json", "--by", "persona,tag,split,month")
    value = json.loads(done.stdout)
    assert (value["items"], value["single"], value["raw_agreement"]["value"]) == (4, 3, 1)
    assert value["krippendorff_alpha"]["note"] == "undefined: all labels agree"
    assert {name: part["labels"] for name, part in value["by"]["tag"].items()} == {"none": 4, "x": 1}
    assert value["by"]["split"]["train"]["items"] == 1
    assert list(value["by"]["month"]) == ["none"]
    of_one = manage("agreement", path, "--persona", "q", "--format", "json")
    assert json.loads(of_one.stdout)["items"] == 1


def test_a_line_that_is_no_label_is_told_with_file_line_and_field(manage: Any, tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "labels.jsonl", [label(), label(label=3), b"{", label(persona_id="")])
    done = manage("agreement", path)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{path}:2: E102 label must be 0 (off-brand) or 1 (on-brand)" in done.stderr
    assert f"{path}:3: E101 not valid JSON" in done.stderr
    assert f"{path}:4: E102 persona_id must be" in done.stderr
    assert "3 invalid lines; nothing was measured." in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([], "Name files to measure, or --dataset NAME"),
        ([LABELS, "--dataset", "b"], "one of the three"),
        (["nothing.jsonl"], "nothing.jsonl: no such file"),
        (["."], ".: is a directory"),
        (["-", "-"], "only once"),
        ([LABELS, "--persona", "q"], "There are no labels for the persona q in"),
        ([LABELS, "--seed", "-1"], "--seed must be 0 or more"),
        ([LABELS, "--resamples", "1000000"], "from 0 to 100,000"),
        ([LABELS, "--by", "moon"], "can't be divided by 'moon'"),
        (["--campaign", "c", "--persona", "p"], "leave --persona out"),
    ],
)
def test_what_can_not_run_says_why_with_exit_code_2(arguments: list[Any], sentence: str) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("agreement", *map(str, arguments), stderr=io.StringIO())
    assert refused.value.returncode == 2
    assert sentence in str(refused.value)


def test_nothing_on_standard_input_is_told_as_such(manage: Any) -> None:
    done = manage("agreement", "-")
    assert (done.returncode, done.stdout) == (2, "")
    assert "There are no labels in <stdin>." in done.stderr
