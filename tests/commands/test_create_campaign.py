"""`create_campaign` as a person runs it; and settled labels on their way to gold items."""

from pathlib import Path
from typing import Any

import pytest

from annotations_app.models import Annotation, Campaign
from datasets_app.models import JobRun, Turn
from tests.campaigns import make_annotators, make_persona, make_replies
from tests.factories import write_jsonl

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_campaign_with_gold_items_from_the_command_line(tmp_path: Path, manage: Any) -> None:
    make_replies(tmp_path, 10, turns=4)
    make_persona()
    make_annotators("ana", "ben")
    Turn.objects.filter(turn_index=4).update(tags=["hard"])
    lines = [
        {"session_id": f"s{number}", "turn_index": 4, "text": "", "label": 1, "persona_id": "warm_v1"}
        for number in range(1, 6)
    ]
    brought = manage(
        "import_annotations",
        write_jsonl(tmp_path / "gold.jsonl", lines),
        "--dataset",
        "support",
        "--adjudicated",
    )
    assert (brought.returncode, brought.stdout) == (0, "support: 5 labels added, 0 existed already.\n")
    assert set(Annotation.objects.values_list("kind", flat=True)) == {"adjudicated"}
    (tmp_path / "tone.md").write_text("Be *fair*.")
    options = [
        "--overlap",
        2,
        "--gold-share",
        0.3,
        "--repeat-share",
        0.1,
        "--order",
        "session",
        "--tag",
        "hard",
    ]
    made = manage(
        "create_campaign",
        "tone-may",
        *["--dataset", "support", "--persona", "warm_v1", "--annotators", "ana, ben"],
        *[*options, "--guidelines", "tone.md", "--lease-minutes", 5, "--seed", 7, "--max-replies", 9],
    )
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout == "tone-may is open: 9 replies (3 of them gold), 2 annotators each.\n"
    stored = Campaign.objects.get()
    assert (stored.guidelines, stored.order, stored.tag) == ("Be *fair*.", "session", "hard")
    assert (stored.lease_minutes, stored.seed, stored.repeat_share) == (5, 7, 0.1)
    job = JobRun.objects.get(operation="create_campaign")
    assert (job.state, job.result) == ("done", {"campaign": stored.pk, "replies": 9, "gold": 3})


def test_what_can_not_be_made_is_said_in_a_sentence(tmp_path: Path, manage: Any) -> None:
    make_replies(tmp_path, 2)
    make_persona()
    make_annotators("ana")
    usual = {"--dataset": "support", "--persona": "warm_v1", "--annotators": "ana", "--overlap": "1"}
    for changed, sentence in (
        ({"--dataset": "supper"}, "There is no dataset 'supper'. Did you mean support?"),
        ({"--persona": "cold_v1"}, "There is no persona 'cold_v1'. There are: warm_v1."),
        ({"--annotators": "ana,nobody"}, "There is no user nobody"),
        ({"--overlap": "2"}, "Each reply needs 2 annotators, but only 1 is assigned."),
        ({"--split": "test"}, "The test split of support is locked"),
    ):
        options = [part for pair in (usual | changed).items() for part in pair]
        done = manage("create_campaign", "tone", *options)
        assert (done.returncode, done.stdout) == (2, "")
        assert sentence in done.stderr
    assert not Campaign.objects.exists()
