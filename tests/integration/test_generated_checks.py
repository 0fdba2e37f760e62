"""What the offline writer makes passes its own check, whatever the persona's words look like."""

from pathlib import Path

import pytest

from datasets_app.domain.personas.persona import parse_persona
from datasets_app.domain.quality.files import FileChecker
from datasets_app.generating.bootstrap_dataset import bootstrap_file
from datasets_app.generating.generation import prepare_generation
from datasets_app.generating.parameters import GenerationParameters

PERSONAS = {
    "named like a person": """
id: casper-support
display_name: Casper
exemplars: ["I'm Casper. Let's find the right bed."]
lexicon: {preferred: [Casper, Julia, Grace, Wave Hybrid], avoid: [Karen, Jack Daniels, Mr. Babbage]}
""",
    "numbers and addresses": """
id: x9_3000
display_name: X9 3000
lexicon:
  preferred: [X9-3000, SKU 123456789012, v3.14.15.9, iPhone 15, 10.0.0.1, ada.internal, /home/ada, calm]
  avoid: ["+1 415 555 2671", 123-45-6789, hunter2, DE89 3704 0044 0532 0130 00, support@x9.example]
""",
    "possessive": """
id: wendys_v1
display_name: Wendy's
brand: {name: Wendy's, products: [Baconator, Dave's Double]}
exemplars: [Wendy's never freezes the beef., Grab a Baconator 2.0.]
lexicon: {preferred: [Baconator, Frosty, 4 for $4, Dave's Double], avoid: [McDonald's, Burger King, Jack]}
""",
}


@pytest.mark.parametrize("yaml", PERSONAS.values(), ids=PERSONAS)
def test_generated_conversations_pass_the_check(tmp_path: Path, yaml: str) -> None:
    out, parameters = tmp_path / "made.jsonl", GenerationParameters(sessions=30, brand_trap_ratio=0.5)
    generation = prepare_generation((parse_persona(yaml), ""), parameters, actor=None)
    bootstrap_file(generation, out)
    found = [*FileChecker(out, name_models=("builtin",)).findings()]
    assert [finding.message for finding in found] == []
    # Words of the persona are there nevertheless: its names are thanked for.
    text = out.read_text()
    assert any(f" {word}" in text for word in generation.writer.voice.preferred.spoken)
    # Without the metadata, which names the persona's words, nothing but these are taken for people.
    bare = FileChecker(out, name_models=("builtin",), with_metadata=False)
    assert {finding.code for finding in bare.findings()} <= {"W406"}
