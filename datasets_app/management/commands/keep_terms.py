from typing import Any

from datasets_app.catalog.facts import get_dataset
from datasets_app.command_line.options import option
from datasets_app.domain.wording import format_count
from datasets_app.jobs.runs import request_text_scan
from datasets_app.management.base import BaseCommand
from datasets_app.management.kept_terms import read_kept_terms
from datasets_app.management.terminal import command_error
from datasets_app.models import ScrubMark
from datasets_app.scrubbing.marks import keep_terms, remove_mark


class Command(BaseCommand):
    help = """List names of brands and products that scrubs keep, for a dataset or for all of them.

The file has one term a line, or is what "sanitize_dataset --propose-terms" wrote. Values
that follow a pattern, such as your own support address, are exempted with exempt_term or
in the admin.

examples:
  manage.py keep_terms terms.txt --dataset support
  manage.py keep_terms brands.txt
  manage.py keep_terms old.txt --remove

exit codes:
  0  done
  2  could not run: no such file or dataset, or a value that follows a pattern"""

    arguments = (
        option("file FILE", "one term a line; - for standard input"),
        option("--dataset NAME", "only in this dataset (default: in all)"),
        option("--remove", "take these terms off the list"),
    )

    def handle(self, *, file: str, **options: Any) -> None:
        dataset = get_dataset(options["dataset"]) if options["dataset"] is not None else None
        terms = read_kept_terms(file)
        if not terms:
            raise command_error(f"{file} has no terms.")
        where = dataset.name if dataset else "all datasets"
        if not options["remove"]:
            datasets = keep_terms(terms, dataset=dataset, actor=None)
            said = f"{format_count(len(terms), 'term')} kept in {where}"
        else:
            marks = ScrubMark.objects.filter(
                dataset=dataset, verdict=ScrubMark.Verdict.NOT_PERSONAL, kind="", term__in=terms
            )
            found = list(marks)
            datasets = [changed for mark in found for changed in remove_mark(mark, actor=None)]
            said = f"{format_count(len(found), 'term')} no longer kept in {where}"
        for changed in set(datasets):
            request_text_scan(changed, actor=None)
        self.stdout.write(f"{said}, from the next preview, check or scrub on.")
