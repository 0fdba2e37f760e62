"""The real tool takes generated files as they are, and tells on-brand from off-brand replies apart."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from datasets_app.catalog.personas import DEFAULT_FILE, load_default_persona
from datasets_app.generating.bootstrap_dataset import bootstrap_file
from datasets_app.generating.generation import prepare_generation
from datasets_app.generating.parameters import GenerationParameters
from tests.integration.test_alignmenter import Tool, alignmenter, run_scores

__all__ = ["alignmenter"]
pytestmark = pytest.mark.xdist_group("alignmenter")

WORD = re.compile(r"[\w']+")


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    parameters = GenerationParameters(sessions=60, brand_trap_ratio=0.6)
    generation = prepare_generation(load_default_persona(), parameters, actor=None)
    data, labels = tmp_path / "eval.jsonl", tmp_path / "labels.jsonl"
    bootstrap_file(generation, data, labels=labels)
    return data, labels


def test_every_generated_answer_is_scored(
    alignmenter: Tool, files: tuple[Path, Path], tmp_path: Path
) -> None:
    data, _ = files
    alignmenter(
        "run",
        "--model",
        "recorded:none",
        "--dataset",
        data,
        "--persona",
        DEFAULT_FILE,
        "--embedding",
        "hashed",
        "--out",
        tmp_path / "out",
    )
    scores = run_scores(tmp_path / "out")
    assert (scores["authenticity"]["turns"], scores["safety"]["turns"]) == (180, 180)
    assert scores["authenticity"]["preferred_hits"] > 60
    assert scores["authenticity"]["avoid_hits"] > 30
    alignmenter("dataset", "lint", data, "--strict", "--persona-dir", DEFAULT_FILE.parent)


def test_a_calibration_tells_labels_apart_that_it_has_not_seen(
    alignmenter: Tool, files: tuple[Path, Path], tmp_path: Path
) -> None:
    labels = [json.loads(line) for line in files[1].read_text().splitlines()]
    held_out = set(sorted({label["session_id"] for label in labels})[::3])
    seen = tmp_path / "seen.jsonl"
    seen.write_text("".join(json.dumps(one) + "\n" for one in labels if one["session_id"] not in held_out))
    weights = tmp_path / "weights.json"
    alignmenter("calibrate-persona", "--persona-path", DEFAULT_FILE, "--dataset", seen, "--out", weights)
    model = json.loads(weights.read_text())["trait_model"]
    judged = [(on_brand(model, one["text"]), one["label"]) for one in labels if one["session_id"] in held_out]
    assert area_under_curve(judged) > 0.9


def on_brand(model: dict[str, Any], text: str) -> float:
    words = {word.lower() for word in WORD.findall(text)}
    return float(model["bias"]) + math.fsum(model["token_weights"].get(word, 0.0) for word in words)


def area_under_curve(judged: list[tuple[float, int]]) -> float:
    """How often an on-brand reply is judged higher than an off-brand one; a tie is half."""
    on = [score for score, label in judged if label]
    off = [score for score, label in judged if not label]
    return sum((high > low) + (high == low) / 2 for high in on for low in off) / (len(on) * len(off))
