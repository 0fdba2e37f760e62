import json
import sys
from typing import Any

from datasets_app.command_line.options import option
from datasets_app.command_line.streams import Progress
from datasets_app.core.errors import UserError
from datasets_app.domain.wording import format_count
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.management.retention_summary import recipient_lines
from datasets_app.management.terminal import command_error
from datasets_app.retention.find_person import (
    FoundPerson,
    PersonMatch,
    find_everywhere,
    group_by_dataset,
    make_erasure,
)
from datasets_app.retention.tasks import erase_session


class Command(BaseCommand):
    help = """Erase every conversation in which one person is named.

Finds a user id, an e-mail address or a name as whole words, in any case, in texts, tags,
metadata, session ids, comments and labels of all datasets, in received spans that wait to
become sessions, in stored files of jobs (uploads, quarantined lines, exports), and also where
a scrub has hashed it. Test cases made of the sessions found are found with them, and the same
sessions in releases that were loaded as datasets. Each session found is erased as erase_session
does: with its labels and findings, and from every release. A file found is deleted as a whole;
files that can't be read are counted. What is searched for is written nowhere. Give - to read it
from standard input, which keeps it out of the history of the shell.

examples:
  echo jane.roe@mailbox.org | manage.py erase_person - --dry-run
  echo jane.roe@mailbox.org | manage.py erase_person - --reason "Request of 3 May"

exit codes:
  0  erased; with --dry-run: listed
  1  nobody of that name is in any dataset or file
  2  could not run: on hold, another job is changing a dataset"""

    arguments = (
        option("person VALUE", "user id, e-mail address or name; - to read it"),
        option("--reason TEXT", "why, for the audit log"),
        option("--dry-run", "list the sessions, change nothing"),
        option("--json", "print the result as one JSON object"),
    )

    def handle(self, **options: Any) -> None:
        if not options["dry_run"] and not options["reason"]:
            raise command_error("Give the reason with --reason TEXT. It is recorded in the audit log.")
        try:
            found = find_everywhere(sys.stdin.read() if options["person"] == "-" else options["person"])
        except UserError as error:
            raise command_error(error.message) from None
        listed = [_describe(match) for match in found.sessions]
        if not options["json"]:
            for line in _format_matches(found):
                self.stdout.write(line)
        result = _erase(found, options["reason"]) if found and not options["dry_run"] else {}
        if options["json"]:
            waiting = {name: len(keys) for name, keys in found.waiting.items()}
            files = [match._asdict() for match in found.files]
            facts = {"found": listed, "waiting_spans": waiting, "files": files}
            names = {name: len(keys) for name, keys in found.imports.items()}
            facts |= {"unsearched_files": found.unsearched_files, "imported_file_names": names}
            facts |= {"erased": result}
            self.stdout.write(json.dumps(facts, indent=2, ensure_ascii=False))
        elif result:
            erased = [
                format_count(len(found.sessions), "session"),
                format_count(result.get("received_spans", 0), "received span"),
                format_count(result.get("files", 0), "file"),
            ]
            if count := result.get("file_names"):
                erased.append(format_count(count, "file name"))
            self.stdout.write(f"Erased {', '.join(erased)}.")
            for line in recipient_lines(result["handed_out"]):
                self.stdout.write(line)
            if result["also_in"]:
                self.stdout.write(f"Sessions of the same id are also in: {', '.join(result['also_in'])}.")
        if not found:
            raise SystemExit(1)


def _describe(match: PersonMatch) -> dict[str, Any]:
    return {"dataset": match.session.dataset.name, "session": match.session.pk, "places": dict(match.places)}


def _format_matches(found: FoundPerson) -> list[str]:
    lines = []
    for row in group_by_dataset(found.sessions):
        listed = ", ".join(f"{place} {count:,}" for place, count in row.places)
        lines.append(f"{row.dataset.name}: {format_count(row.sessions, 'session')} ({listed})")
    return [*(lines or ["No session names this person."]), *found.describe_rest()]


def _erase(found: FoundPerson, reason: str) -> dict[str, Any]:
    return run_job(
        "erase_session",
        erase_session,
        progress=Progress("Erasing"),
        dataset_name=found.first_dataset()[1],
        parameters=make_erasure(found, reason),
    )
