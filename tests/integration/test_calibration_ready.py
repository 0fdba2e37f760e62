"""`calibration_ready` refuses what the real Alignmenter refuses, and what it takes and is misled by."""

import json
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotations_app.calibrating.assess import calibration_ready
from annotations_app.labels.label_counts import LabelScope
from annotations_app.labels.selection import LABEL_SELECTORS, LabelSelection
from annotations_app.models import Annotation, Campaign
from datasets_app.domain.annotation_lines import encode_label
from datasets_app.models import Dataset, Persona, Session
from tests.alignmenter_tool import run_code_with_alignmenter
from tests.campaigns import make_campaign
from tests.factories import make_dataset, make_turn, write_jsonl

pytestmark = [pytest.mark.django_db, pytest.mark.xdist_group("alignmenter")]

PERSONA = """\
id: {id}
display_name: Warm
lexicon: {{preferred: [gladly, welcome], avoid: [sadly]}}
exemplars: ["Gladly, here is your invoice.", "You are welcome to ask again."]
"""
WORDS = [f"{start}{end}" for start in ("par", "in", "re", "con", "tri", "mo") for end in (
    "cel", "voice", "turn", "tract", "al", "ney", "fund", "sult", "pack", "line", "gate", "mark"
)]  # fmt: skip


class Reply:
    """A reply with what two people say of it; changed by the defects."""

    def __init__(self, number: int) -> None:
        draw = random.Random(number)
        self.session, self.turn = f"s{number}", 2
        self.label = number % 2
        self.text = " ".join([("Sadly", "Gladly")[self.label], *draw.sample(WORDS, 12)])
        self.split = ("train", "train", "train", "validation", "test")[number // 2 % 5]
        self.others = [self.label]
        self.persona: str | None = None


Defect = Callable[[list[Reply], str], Any]


def store(tmp_path: Path, name: str, defect: Defect | None = None, count: int = 120) -> Dataset:
    """A dataset with labels for the persona of its name, after the defect has changed them."""
    replies = [Reply(number) for number in range(count)]
    Persona.objects.create(persona_id=name, yaml=PERSONA.format(id=name))
    after = defect(replies, name) if defect else None
    lines = []
    for reply in replies:
        owner = {"persona_id": reply.persona} if reply.persona else {}
        lines.append(make_turn(reply.session, reply.turn - 1, "user", **owner))
        lines.append(make_turn(reply.session, reply.turn, "assistant", text=reply.text, **owner))
    lines.sort(key=lambda line: (line["session_id"], line["turn_index"]))
    dataset = make_dataset(tmp_path, lines, name, origin="synthetic")
    labels = [
        {
            "text": reply.text,
            "label": label,
            "persona_id": name,
            "session_id": reply.session,
            "turn_index": reply.turn,
            "annotator": who,
        }
        for reply in replies
        for who, label in zip(("ana", "ben"), [reply.label, *reply.others], strict=False)
    ]
    write_jsonl(tmp_path / "said.jsonl", labels)
    call_command("import_annotations", str(tmp_path / "said.jsonl"), dataset=name)
    for split in {reply.split for reply in replies} - {""}:
        ids = [reply.session for reply in replies if reply.split == split]
        Session.objects.filter(dataset=dataset, session_id__in=ids).update(split=split)
    if callable(after):
        after(dataset)
    return dataset


def change(chosen: Callable[[Reply], bool], **fields: Any) -> Defect:
    def apply(replies: list[Reply], name: str) -> None:
        for reply in filter(chosen, replies):
            for field, value in fields.items():
                setattr(reply, field, value(reply) if callable(value) else value)

    return apply


def drop(chosen: Callable[[Reply], bool], keep: int = 0) -> Defect:
    def apply(replies: list[Reply], name: str) -> None:
        gone = [reply for reply in replies if chosen(reply)][keep:]
        replies[:] = [reply for reply in replies if reply not in gone]

    return apply


def merge(chosen: Callable[[Reply], bool], *sessions: str) -> Defect:
    """The chosen replies become those of a few long conversations."""

    def apply(replies: list[Reply], name: str) -> None:
        for number, reply in enumerate(filter(chosen, replies)):
            reply.session = sessions[number % len(sessions)]
            reply.turn = 2 * (number // len(sessions)) + 2

    return apply


def with_persona(text: str) -> Defect:
    return lambda replies, name: (
        Persona.objects.filter(persona_id=name).update(yaml=text.format(id=name)) and None
    )


def copy_training(replies: list[Reply], name: str) -> None:
    """Labels are drawn by lot, and yet the validation looks perfect."""
    draw = random.Random(1)
    learned = [reply for reply in replies if reply.split == "train"]
    for reply in learned:
        reply.text, reply.label = " ".join(draw.sample(WORDS, 12)), draw.randrange(2)
        reply.others = [reply.label]
    for reply, source in zip(
        [reply for reply in replies if reply.split == "validation"], learned, strict=False
    ):
        reply.text, reply.label, reply.others = f"{source.text} 7", source.label, [source.label]


def disagree(replies: list[Reply], name: str) -> None:
    draw = random.Random(2)
    for reply in replies:
        reply.others = [draw.randrange(2)]


def in_campaign(change_it: Callable[[Campaign], Any]) -> Defect:
    """The labels become those of a campaign, which has changed since."""

    def apply(dataset: Dataset) -> None:
        persona = Persona.objects.get(persona_id=dataset.name)
        campaign = make_campaign(dataset, "ana", persona=persona, name=dataset.name, guidelines="Be warm.")
        Annotation.objects.filter(dataset=dataset).update(
            campaign=campaign, persona_digest=persona.digest, guidelines_digest=campaign.guidelines_digest
        )
        change_it(campaign)

    return lambda replies, name: apply


def number_of(reply: Reply) -> int:
    return int(reply.session[1:])


def write_without_spaces(reply: Reply) -> str:
    return "".join(chr(0x4E00 + number_of(reply) * 20 + place) for place in range(12))


def write_emoji(reply: Reply) -> str:
    return "🙂" * (number_of(reply) + 1)


IN_TRAINING, IN_VALIDATION = (
    (lambda reply: reply.split == "train"),
    (lambda reply: reply.split == "validation"),
)
ON_BRAND, OFF_BRAND = (lambda reply: reply.label == 1), (lambda reply: reply.label == 0)
# By name: what is done, the finding, and whether Alignmenter refuses it (else it takes it without a word).
DEFECTS: dict[str, tuple[Defect, str, bool]] = {
    "few-training": (drop(IN_TRAINING, keep=24), "few_training_labels", True),
    "few-validation": (drop(IN_VALIDATION, keep=9), "few_validation_labels", True),
    "no-validation": (drop(IN_VALIDATION), "few_validation_labels", True),
    "never-split": (change(lambda _: True, split=""), "not_split", True),
    "two-splits": (change(IN_VALIDATION, split="test"), "not_split", True),
    "only-test": (change(lambda _: True, split="test"), "not_split", True),
    "later-sessions": (change(lambda reply: number_of(reply) % 9 == 0, split=""), "unplaced", False),
    "all-on-brand": (change(lambda _: True, label=1, others=[1]), "one_kind_training", True),
    "training-on-brand": (change(IN_TRAINING, label=1, others=[1]), "one_kind_training", False),
    "training-off-brand": (change(IN_TRAINING, label=0, others=[0]), "one_kind_training", False),
    "validation-on-brand": (change(IN_VALIDATION, label=1, others=[1]), "one_kind_validation", True),
    "rare-off-brand": (
        drop(lambda reply: IN_TRAINING(reply) and OFF_BRAND(reply), keep=4),
        "one_kind_training",
        False,
    ),
    "rare-in-validation": (
        drop(lambda reply: IN_VALIDATION(reply) and ON_BRAND(reply), keep=1),
        "one_kind_validation",
        False,
    ),
    "copies": (copy_training, "copies", False),
    "disagreement": (disagree, "alpha_low", False),
    "contradictions": (
        change(lambda reply: number_of(reply) % 8 in (0, 1), text="Of course, the parcel is on its way."),
        "contradictions",
        False,
    ),
    "repeats": (
        change(lambda reply: IN_TRAINING(reply) and ON_BRAND(reply), text="Gladly, your parcel comes today."),
        "repeats",
        False,
    ),
    "no-words": (change(lambda reply: number_of(reply) % 3 == 0, text=write_emoji), "without_words", False),
    "no-spaces": (change(lambda _: True, text=write_without_spaces), "without_words", False),
    "one-conversation": (merge(IN_TRAINING, "long"), "few_training_sessions", False),
    "two-conversations": (merge(IN_VALIDATION, "one", "two"), "few_validation_sessions", False),
    "other-persona": (
        change(OFF_BRAND, persona="cold_v1"),
        "mixed_personas",
        False,
    ),
    "stale-persona": (
        in_campaign(lambda campaign: Persona.objects.filter(pk=campaign.persona_id).update(digest="0" * 64)),
        "stale",
        False,
    ),
    "stale-guidelines": (
        in_campaign(lambda campaign: Campaign.objects.filter(pk=campaign.pk).update(guidelines="Be cold.")),
        "stale",
        False,
    ),
    "boolean-lexicon": (
        with_persona(PERSONA.replace("welcome]", "yes]")),
        "persona_invalid",
        True,
    ),
    "no-exemplars": (
        with_persona(PERSONA.split("exemplars")[0]),
        "persona_invalid",
        True,
    ),
    "no-persona": (
        lambda replies, name: Persona.objects.filter(persona_id=name).delete() and None,
        "persona_missing",
        True,
    ),
}

HAS_EXTRA = "import importlib.util; print(importlib.util.find_spec('sklearn') is not None)"
# Fits, validates and looks for bounds in each folder of the folder it is in.
CALIBRATE = """
import contextlib, io, json, sys
from pathlib import Path
from alignmenter.calibration.bounds import estimate_bounds
from alignmenter.calibration.validate import validate_calibration
from alignmenter.scripts.calibrate_persona import calibrate

found = {}
for folder in sorted(path for path in Path(sys.argv[1]).iterdir() if path.is_dir()):
    persona = folder / "persona.yaml"
    one = found[folder.name] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            calibrate(str(persona), str(folder / "train.jsonl"), None, 25, 0.1, 50, 0.0)
            one["report"] = validate_calibration(
                folder / "validation.jsonl", persona, folder / "report.json",
                embedding_provider="hashed", train_split=0.0,
            )
            bounds = folder / "bounds.json"
            estimate_bounds(folder / "train.jsonl", persona, bounds, embedding_provider="hashed")
        except Exception as error:
            one["error"] = f"{type(error).__name__}: {error}"
print(json.dumps(found))
"""


def hand_over_unchecked(dataset: Dataset, folder: Path) -> None:
    """What an export of each split would give to the tool, ready or not."""
    folder.mkdir(parents=True)
    persona = Persona.objects.filter(persona_id=dataset.name).first()
    if persona:
        (folder / "persona.yaml").write_text(persona.yaml)
    for part in ("train", "validation"):
        selection = LabelSelection(LabelScope(dataset.pk, dataset.name), False, Counter(), part)
        lines = map(encode_label, LABEL_SELECTORS["majority"](selection))
        (folder / f"{part}.jsonl").write_bytes(b"".join(lines))


@pytest.fixture
def calibrate(tmp_path: Path) -> Callable[[], dict[str, Any]]:
    """What the tool says of the files in each folder of "sets"."""
    if run_code_with_alignmenter(tmp_path, HAS_EXTRA).stdout != "True\n":
        pytest.skip("alignmenter[calibrate] isn't installed: make alignmenter")

    def run() -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            run_code_with_alignmenter(tmp_path, CALIBRATE, tmp_path / "sets").stdout
        )
        return found

    return run


def test_what_it_passes_the_tool_accepts_and_learns_from(
    tmp_path: Path, calibrate: Callable[[], dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    store(tmp_path, "good")
    call_command("calibration_ready", "good", persona="good", out=tmp_path / "sets/good")
    learned, held_out = (
        [json.loads(line) for line in (tmp_path / f"sets/good/{part}.jsonl").read_text().splitlines()]
        for part in ("train", "validation")
    )
    assert (len(learned), len(held_out)) == (72, 24)
    assert not {line["session_id"] for line in learned} & {line["session_id"] for line in held_out}
    [one] = calibrate().values()
    assert "error" not in one
    assert one["report"]["validation_metrics"]["roc_auc"] > 0.95
    assert one["report"]["data_split"]["validation_size"] == 24
    call_command("calibration_ready", "good", persona="good", report=str(tmp_path / "sets/good/report.json"))
    call_command(
        "calibration_ready", "good", persona="good", report=str(tmp_path / "sets/good/persona.traits.json")
    )
    shown = capsys.readouterr().out
    assert "validation_rows: 24" in shown
    assert "words_against: " in shown


def test_what_misleads_or_stops_the_tool_is_refused(
    tmp_path: Path, calibrate: Callable[[], dict[str, Any]]
) -> None:
    assert len(DEFECTS) >= 20
    wrong = {}
    for name, (defect, code, _) in DEFECTS.items():
        dataset = store(tmp_path, name, defect)
        found = calibration_ready(dataset, name)
        blocking = {finding.code for finding in found.findings if finding.blocks}
        if code not in blocking:
            wrong[name] = blocking
        hand_over_unchecked(dataset, tmp_path / "sets" / name)
    assert not wrong
    tool = calibrate()
    refused = {name for name, one in tool.items() if "error" in one}
    assert refused == {name for name, (_, _, refuses) in DEFECTS.items() if refuses}
    # Labels drawn by lot look as if they could be predicted.
    assert tool["copies"]["report"]["validation_metrics"]["roc_auc"] > 0.95
