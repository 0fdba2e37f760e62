"""Whether labels are ready for Alignmenter's calibration, and what its reports say of them."""

import json
from pathlib import Path
from typing import Any

from annotations_app.calibrating.assess import calibration_ready
from annotations_app.calibrating.hand_over import PERSONA_FILE, write_calibration_sets
from annotations_app.calibrating.reports import find_wrong_replies, parse_report, requeue_wrong_replies
from annotations_app.domain.calibration_sets import format_readiness
from annotations_app.labels.export_annotations import DEFAULT_SELECTION
from datasets_app.catalog import raw_access
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS
from datasets_app.domain.labels.on_brand import NO
from datasets_app.domain.wording import format_count
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import read_text
from datasets_app.models import Dataset

_AFTER = """\
Written to {folder}. Then:
  alignmenter calibrate-persona --persona-path {folder}/{persona} --dataset {folder}/train.jsonl
  alignmenter calibrate validate --labeled {folder}/validation.jsonl --persona {folder}/{persona} \
--train-split 0 --output {folder}/report.json"""


class Command(BaseCommand):
    help = """\
Say whether a dataset's labels for a persona make a calibration of Alignmenter that means something.

examples:
  calibration_ready support --persona default_v1
  calibration_ready support --persona default_v1 --labels adjudicated --out calibration
  calibration_ready support --persona default_v1 --report calibration/report.json --requeue

It looks at what `alignmenter calibrate-persona` takes without a word: too few labels or nearly all
of one kind, annotators who don't agree, labels made before the persona or the guidelines changed,
replies of other personas, validation replies that are learned from as well. Alignmenter splits
rows after they were fitted, so --out writes the training and the validation split apart, if
nothing blocks it, with the persona; then:

  alignmenter calibrate-persona --persona-path OUT/persona.yaml --dataset OUT/train.jsonl
  alignmenter calibrate validate --labeled OUT/validation.jsonl --persona OUT/persona.yaml \\
      --train-split 0 --output OUT/report.json

The test split is never part of it. --report reads what calibrate-persona, calibrate validate or
calibrate diagnose-errors wrote, and lists the replies that it gets wrong; --requeue asks their
annotators again.

exit codes:
  0  ready, and written with --out; with --report: read
  1  not ready: nothing is written
  2  could not run: no such dataset, no report, folder can't be written"""

    arguments = (
        option("name NAME", "the dataset"),
        option("--persona ID", "a persona_id", required=True),
        option(
            "--labels",
            f"which label of a reply, as export_annotations chooses it (default: {DEFAULT_SELECTION})",
            choices=("majority", "dawid-skene", "adjudicated"),
            default=DEFAULT_SELECTION,
        ),
        option("--out DIR", "write both splits and the persona there", type=Path),
        option("--format", "output format", choices=("text", "json"), default="text"),
        option("--report FILE", "a report of Alignmenter to read instead"),
        option("--requeue", "queue the replies again that it gets wrong"),
    )

    def handle(self, *, name: str, persona: str, labels: str, out: Path | None, **options: Any) -> None:
        dataset = get_dataset(name)
        if options["report"]:
            self._read_report(dataset, persona, options["report"], requeue=options["requeue"])
            return
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

    def _read_report(self, dataset: Dataset, persona: str, file: str, *, requeue: bool) -> None:
        report = parse_report(read_text(file))
        wrong = find_wrong_replies(dataset, persona, report)
        for figure, value in report.figures.items():
            self.stdout.write(f"{figure}: {value:g}")
        for error, turns in wrong:
            said = "false positive" if error.label == NO else "false negative"
            places = ", ".join(f"{turn.session.session_id} {turn.turn_index}" for turn in turns)
            self.stdout.write(
                f"{said}, score {error.score:.3f}: {places or 'not a labeled reply of the dataset'}"
            )
        if report.unlisted:
            self.stdout.write(f"{report.unlisted:,} more errors, which the report doesn't name")
        keys = {turn.pk for _, turns in wrong for turn in turns}
        if keys:
            raw_access.record_access(dataset, None, place="calibration report", turns=len(keys))
        if requeue:
            done = requeue_wrong_replies(dataset, persona, sorted(keys))
            self.stderr.write(
                f"{format_count(done.labels, 'label')} queued again; "
                f"{format_count(done.left, 'reply', 'replies')} in no open campaign."
            )
