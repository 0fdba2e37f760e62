from argparse import BooleanOptionalAction
from typing import Any

from datasets_app.catalog.facts import get_dataset
from datasets_app.catalog.scrubbers import make_default_policy
from datasets_app.command_line.conversion import READING_OPTIONS
from datasets_app.command_line.options import option
from datasets_app.domain.pii.detector import PREFERENCES
from datasets_app.domain.pii.policy import PLACEHOLDER_STYLES, Policy
from datasets_app.domain.traces.converted_file import ALL_FORMATS
from datasets_app.management import dataset_scrubbing, file_scrubbing
from datasets_app.management.base import BaseCommand
from datasets_app.management.format_options import mapping_options
from datasets_app.management.policy_options import DETECTION_OPTIONS, build_policy
from datasets_app.management.terminal import command_error


class Command(BaseCommand):
    help = """Replace personal data in a conversation file, or in a dataset, with placeholders.

Finds the classes listed under --scrub-patterns (docs/scrubbing.md describes them) in texts,
tags, metadata and session ids. The result is read again before it is put in place; if any
pattern still matches, nothing is written. Files need no database.

examples:
  manage.py sanitize_dataset --input logs.jsonl --dry-run
  manage.py sanitize_dataset --input logs.jsonl --out clean.jsonl
  manage.py sanitize_dataset --input logs.jsonl.gz --out clean.jsonl.gz \\
      --hash-session-ids --fuzz-timestamps 86400 --placeholders numbered
  manage.py sanitize_dataset --input logs.jsonl --out clean.jsonl \\
      --pattern 'ORDER=\\bORD-[0-9]{6}\\b' --allow "Wendy's" --report report.json
  manage.py sanitize_dataset --input logs.jsonl --out clean.jsonl --scrub-patterns 'email|phone'
  manage.py sanitize_dataset --dataset support --hash-session-ids
  manage.py sanitize_dataset --input logs.jsonl --out clean.jsonl \\
      --recognizers own.yaml --names builtin,onnx:/srv/models/ner

Names of brands and products that are taken for people, in three steps: list the words found
as names in many sessions, delete the lines of people, keep the rest:
  manage.py sanitize_dataset --input logs.jsonl --dry-run --propose-terms terms.txt
  manage.py sanitize_dataset --input logs.jsonl --out clean.jsonl --keep-terms terms.txt

exit codes:
  0  done and verified; with --dry-run: nothing was found
  1  verification found a remaining value, or lines are invalid (listed); nothing was
     written. With --dry-run: something was found
  2  could not run: no such file, wrong arguments, a missing name model
  130  stopped by Ctrl-C; nothing was written

Classes, keys and their rotation, languages: docs/scrubbing.md"""

    arguments = (
        option("--input FILE", "a file of any format that is imported; - for standard input"),
        *READING_OPTIONS,
        *mapping_options(of_files=True, saves=False),
        option("--out FILE", "write this file (.gz: gzipped; -: standard output)"),
        option("--dataset NAME", "scrub this dataset in place instead of a file"),
        option(
            "--format FORMAT",
            "format of the input (default: auto): any that is imported; the result is one turn a line",
            choices=["auto", *ALL_FORMATS],
            default="auto",
        ),
        option("--dry-run", "list what would be replaced, write nothing"),
        option("--report FILE", "write counts, positions and verification as JSON, without values"),
        option(
            "--propose-terms FILE",
            "write words found as names in many sessions, with counts, to this file, which only its owner "
            "may read (-: standard output); they are raw text",
        ),
        option(
            "--processes N", "number of processes (default: one for each core; one for small files)", type=int
        ),
        *DETECTION_OPTIONS,
        option(
            "--placeholders",
            "plain: [NAME]; numbered: [NAME_1] for the same person throughout a session",
            choices=PLACEHOLDER_STYLES,
            default="plain",
        ),
        option(
            "--prefer",
            "when a word may or may not be a name: recall replaces it, precision keeps it (default: recall; "
            "precision for synthetic datasets)",
            choices=PREFERENCES,
        ),
        option(
            "--hash-session-ids",
            "replace session ids with their HMAC-SHA-256 under ALIGNMENTER_HASH_KEY (default: of datasets "
            "from production)",
            action=BooleanOptionalAction,
        ),
        option(
            "--fuzz-timestamps SECONDS",
            "shift the timestamps of each session by one random offset of at most this",
            default=0,
        ),
        option("--drop-timestamps", "remove all timestamps"),
        option("--seed N", "with the same key: the same offsets again", type=int),
    )

    def handle(self, **options: Any) -> None:
        if (options["input"] is None) == (options["dataset"] is None):
            raise command_error("Name either a file with --input FILE or a dataset with --dataset NAME.")
        # Nothing says of a file where it is from.
        default = make_default_policy(get_dataset(options["dataset"])) if options["dataset"] else Policy()
        hashes = options["hash_session_ids"]
        policy = build_policy(
            options,
            default,
            placeholders=options["placeholders"],
            prefer=options["prefer"] or default.prefer,
            hash_session_ids=default.hash_session_ids if hashes is None else hashes,
            fuzz_seconds=options["fuzz_timestamps"],
            drop_timestamps=options["drop_timestamps"],
            seed=options["seed"],
        )
        scrubbing = file_scrubbing if options["dataset"] is None else dataset_scrubbing
        scrubbing.run(options, policy, self.stdout, self.stderr)
