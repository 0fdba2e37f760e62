import json
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from typing import Any

from django.core.management.base import BaseCommand

from datasets_app.core.errors import Refused
from datasets_app.management.retention_summary import rehearsal_lines
from datasets_app.management.terminal import could_not_run, counted, sentences_for_errors
from datasets_app.retention.activate import (
    activate_retention,
    deactivate_retention,
    policies_at,
    rehearsal_of,
)

DIGEST_SHOWN = 12


class Command(BaseCommand):
    help = """Let retention rules act: until then a rule deletes nothing. First look what they would
delete; then say that it was seen, by the digest that was printed with it.

examples:
  manage.py activate_retention --dry-run            (all rules)
  manage.py activate_retention 1 3 --dry-run
  manage.py activate_retention 1 3 --seen 3f9c02d1a8b4
  manage.py activate_retention 3 --deactivate

exit codes:
  0  shown, or done
  2  could not run: no such rule, or it would no longer delete what was shown"""

    def create_parser(self, *args: Any, **kwargs: Any) -> Any:
        return super().create_parser(*args, formatter_class=RawDescriptionHelpFormatter, **kwargs)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "positions", metavar="POSITION", nargs="*", type=int, help="which rules; default: all"
        )
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--dry-run", action="store_true", help="show what they would delete, and when")
        what.add_argument("--seen", metavar="DIGEST", help="activate what a dry run of this digest has shown")
        what.add_argument("--deactivate", action="store_true", help="from now on they delete nothing")
        parser.add_argument("--json", action="store_true", help="with --dry-run: as one JSON object")

    def handle(self, **given: Any) -> None:
        if given["json"] and not given["dry_run"]:
            raise could_not_run("--json goes with --dry-run.")
        with sentences_for_errors(self.stderr):
            policies = policies_at(given["positions"])
            if not policies:
                raise Refused("There are no retention policies; import_retention_rules brings some.")
            if given["deactivate"]:
                deactivate_retention(policies)
                self.stdout.write(f"{counted(len(policies), 'rule')} deactivated.")
                return
            rehearsal = rehearsal_of(policies)
            if given["dry_run"]:
                self.stdout.write(
                    json.dumps(rehearsal.as_json(), indent=2, ensure_ascii=False)
                    if given["json"]
                    else "\n".join([*rehearsal_lines(rehearsal), f"digest {rehearsal.digest[:DIGEST_SHOWN]}"])
                )
                return
            seen = given["seen"]
            known = len(seen) >= DIGEST_SHOWN and rehearsal.digest.startswith(seen)
            activate_retention(policies, seen=rehearsal.digest if known else "")
        self.stdout.write(f"{counted(len(policies), 'rule')} active.")
