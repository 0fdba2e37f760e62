"""Name models in ONNX: a small one that the test makes, alone and together with the packaged one."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from datasets_app.domain.pii.names.model_error import NameModelError
from datasets_app.domain.pii.names.names import NameFinder, load_name_finder
from tests.onnx_model import LABELS, write_onnx_model

pytestmark = pytest.mark.xdist_group("onnx")

MISSING = [name for name in ("onnxruntime", "tokenizers") if importlib.util.find_spec(name) is None]
needs_onnx = pytest.mark.skipif(
    bool(MISSING),
    reason=f"NAME MODELS IN ONNX NOT TESTED: {MISSING} not installed (pip install -r locks/dev.txt)",
)
NAMES = {
    "zorblax": "B-PER",
    "quuxley": "I-PER",
    "o": "B-PER",
    "brien": "I-PER",
    "paris": "B-LOC",
    "éowyn": "B-PER",
    "teapot": "B-PER",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_onnx_model(tmp_path_factory.mktemp("model"), NAMES)


def find_values(finder: NameFinder, text: str) -> list[str]:
    return [text[match.start : match.end] for match in finder.find(text)]


@needs_onnx
@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("ask Zorblax Quuxley about Paris", ["Zorblax Quuxley"]),
        ("zorblax, ZORBLAX zorblax", ["zorblax", "ZORBLAX", "zorblax"]),
        ("it is O'Brien.", ["O'Brien"]),
        ("🙂👩‍👩‍👧 e\u0301owyn \ud800 says hi", ["e\u0301owyn"]),
        ("  \n\tZorblax\u00a0Quuxley\n", ["Zorblax\u00a0Quuxley"]),
        ("quuxley alone", ["quuxley"]),
        ("", []),
        (" ", []),
    ],
)
def test_names_are_found_at_their_places(model: Path, text: str, names: list[str]) -> None:
    finder = load_name_finder((f"onnx:{model}",))
    assert find_values(finder, text) == names
    assert all(0.5 < match.score <= 1 for match in finder.find(text))


@needs_onnx
def test_long_texts_are_read_whole_in_windows(tmp_path: Path) -> None:
    folder = write_onnx_model(tmp_path, NAMES, window=16, inputs=("input_ids",))
    words = ["well"] * 200
    for place in (0, 11, 12, 13, 14, 15, 16, 100, 198):
        words[place : place + 2] = ["Zorblax", "Quuxley"]
    text = " ".join(words)
    assert set(find_values(NameFinder((f"onnx:{folder}",)), text)) >= {"Zorblax Quuxley"}
    left = text
    for match in reversed(NameFinder((f"onnx:{folder}",)).find(text)):
        left = left[: match.start] + left[match.end :]
    assert "Zorblax" not in left
    assert "Quuxley" not in left


@needs_onnx
def test_texts_are_independent_of_those_beside_them(model: Path) -> None:
    finder = NameFinder((f"onnx:{model}",))
    texts = ["Zorblax " * count + "x" for count in range(40)] + ["", "hello"]
    assert finder.find_many(texts) == [finder.find(text) for text in texts]


@needs_onnx
def test_findings_of_several_models_are_united(model: Path) -> None:
    text = "the teapot met Maria Lopez"
    found = [
        find_values(load_name_finder(models), text)
        for models in (("builtin",), (f"onnx:{model}",), ("builtin", f"onnx:{model}"))
    ]
    assert found == [["Maria Lopez"], ["teapot"], ["teapot", "Maria Lopez"]]


@needs_onnx
def test_labels_without_a_prefix_count(tmp_path: Path) -> None:
    folder = write_onnx_model(tmp_path, {"zorblax": "PERSON"}, labels=("O", "PERSON"), inputs=("input_ids",))
    assert find_values(NameFinder((f"onnx:{folder}",)), "hi Zorblax!") == ["Zorblax"]


@needs_onnx
@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        ("folder", "there is no such folder"),
        ("config.json", "config.json is missing, or no JSON"),
        ("tokenizer.json", "there is no tokenizer.json in it"),
        ("model.onnx", "there is no model.onnx in it"),
        ("labels", "none of its labels is PER or PERSON: O, B-LOC"),
        ("id2label", "config.json has no labels"),
        ("network", "model.onnx can't be loaded"),
        ("tokens", "tokenizer.json can't be read"),
        ("inputs", "its inputs are input_ids, pixel_values"),
    ],
)
def test_a_model_that_cannot_be_used_is_explained(tmp_path: Path, broken: str, problem: str) -> None:
    folder = tmp_path / "model"
    if broken != "folder":
        inputs = ("input_ids", "pixel_values") if broken == "inputs" else ("input_ids",)
        labels = ("O", "B-LOC") if broken == "labels" else LABELS
        write_onnx_model(folder, {"paris": "B-LOC"}, labels=labels, inputs=inputs)
    if broken.endswith((".json", ".onnx")):
        (folder / broken).unlink()
    elif broken == "id2label":
        (folder / "config.json").write_text(json.dumps({"model_type": "bert"}))
    elif broken == "network":
        (folder / "model.onnx").write_bytes(b"not a network")
    elif broken == "tokens":
        (folder / "tokenizer.json").write_text("{}")
    with pytest.raises(NameModelError) as error:
        NameFinder((f"onnx:{folder}",))
    said = str(error.value)
    assert problem in said
    assert str(folder) in said
    assert "\n" not in said


def test_the_error_without_the_packages_says_how_to_install_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"id2label": {"0": "O", "1": "B-PER"}}))
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(NameModelError, match=r"pip install -r locks/onnx\.txt"):
        NameFinder((f"onnx:{tmp_path}",))


def test_a_spacy_pipeline_has_two_names(tmp_path: Path) -> None:
    for model in ("no_such_model", "spacy:no_such_model", f"spacy:{tmp_path / 'none'}"):
        with pytest.raises(NameModelError, match=r"is not installed\. Install the spaCy pipeline"):
            NameFinder((model,))
