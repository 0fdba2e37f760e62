"""Whether labels are ready for Alignmenter's calibration, and what its reports say of them."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from annotations_app.calibrating.assess import calibration_ready
from annotations_app.calibrating.hand_over import PERSONA_FILE, write_calibration_sets
from annotations_app.domain.calibration_sets import format_readiness
from annotations_app.labels.export_annotations import DEFAULT_SELECTION
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.streams import EXIT_FINDINGS
from datasets_app.management.base import BaseCommand

HELP = """\
Say whether a dataset's labels for a persona make a calibration of Alignmenter that means something.

examples:
  calibration_ready support --persona default_v1
  calibration_ready support --persona default_v1 --labels adjudicated --out calibration

It looks at what `alignmenter calibrate-persona` takes without a word: too few labels or nearly all
of one kind, annotators who don't agree, labels made before the persona or the guidelines changed,
replies of other personas, validation replies that are learned from as well. Alignmenter splits
rows after they were fitted, so --out writes the training and the validation split apart, if
nothing blocks it, with the persona; then:

  alignmenter calibrate-persona --persona-path OUT/persona.yaml --dataset OUT/train.jsonl
  alignmenter calibrate validate --labeled OUT/validation.jsonl --persona OUT/persona.yaml \\
      --train-split 0 --output OUT/report.json

The test split is never part of it.

exit codes:
  0  ready, and written with --out
  1  not ready: nothing is written
  2  could not run: no such dataset, folder can't be written
"""
_AFTER = """\
Written to {folder}. Then:
  alignmenter calibrate-persona --persona-path {folder}/{persona} --dataset {folder}/train.jsonl
  alignmenter calibrate validate --labeled {folder}/validation.jsonl --persona {folder}/{persona} \
--train-split 0 --output {folder}/report.json"""


class Command(BaseCommand):
    help = HELP

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the dataset")
        parser.add_argument("--persona", metavar="ID", required=True, help="a persona_id")
        parser.add_argument(
            "--labels",
            choices=("majority", "dawid-skene", "adjudicated"),
            default=DEFAULT_SELECTION,
            help=f"which label of a reply, as export_annotations chooses it (default: {DEFAULT_SELECTION})",
        )
        parser.add_argument("--out", metavar="DIR", type=Path, help="write both splits and the persona there")
        parser.add_argument("--format", choices=("text", "json"), default="text", help="output format")

    def handle(self, *, name: str, persona: str, labels: str, out: Path | None, **options: Any) -> None:
        dataset = get_dataset(name)
        if out:
            readiness = write_calibration_sets(dataset, persona, out, labels=labels)
        else:
            readiness = calibration_ready(dataset, persona, labels=labels)
        if options["format"] == "json":
            self.stdout.write(json.dumps(readiness.as_json(), indent=2, allow_nan=False))
        else:
            self.stdout.write(format_readiness(readiness))
        if out and readiness.is_ready:
            self.stderr.write(_AFTER.format(folder=out, persona=PERSONA_FILE))
        if not readiness.is_ready:
            raise SystemExit(EXIT_FINDINGS)
