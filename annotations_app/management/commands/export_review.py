from pathlib import Path
from typing import Any

from annotations_app.review.export import export_review
from annotations_app.review.tasks_file import describe_repeated
from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.domain.wording import format_count
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import open_output


class Command(BaseCommand):
    help = """Write what people judged into the review tasks of Alignmenter, for `alignmenter review-import`.

Each task is written once for each judgment of its reply, as an opinion; nothing but its
annotation changes. A decision of a lead, or what two or more people all say, is also written
as the adjudication that `alignmenter qualify` measures against. Tasks without a judgment stay
blank, and Alignmenter leaves them pending.

Judgments that changed after an import need the file of then: --previous reviewed.jsonl.

exit codes:
  0  written
  2  could not run: no review tasks, no judgments, data not scrubbed, file can't be written"""

    arguments = (
        option("tasks FILE", "review tasks, as they were exported", type=Path),
        option("--dataset NAME", required=True),
        option("--out FILE", "default: -, standard output", default="-"),
        option("--previous FILE", "the file that was imported before this one", type=Path),
        option("--override REASON", "why to export unscrubbed data", default=""),
    )

    def handle(self, *, tasks: Path, dataset: str, out: str, **options: Any) -> None:
        found = get_dataset(dataset)
        with open_output(out) as file:
            exported = export_review(
                tasks, found, out=file, previous=options["previous"], override=options["override"]
            )
        self.stderr.write(
            f"{format_count(exported.judged, 'task')} of {exported.tasks:,} judged: "
            f"{format_count(exported.annotations, 'annotation')}, "
            f"{exported.adjudications:,} of them adjudications."
        )
        if exported.repeated:
            self.stderr.write(describe_repeated(exported.repeated))
