import json
from argparse import ArgumentParser
from typing import Any

from datasets_app.core.errors import UserError
from datasets_app.management.base import BaseCommand
from datasets_app.management.retention_summary import schedule_lines
from datasets_app.management.terminal import command_error, pluralize
from datasets_app.retention.activate import (
    activate_retention,
    deactivate_retention,
    find_policies,
    preview_policies,
)

DIGEST_CHARACTERS = 12


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

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "positions", metavar="POSITION", nargs="*", type=int, help="which rules; default: all"
        )
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--dry-run", action="store_true", help="show what they would delete, and when")
        what.add_argument("--seen", metavar="DIGEST", help="activate what a dry run of this digest has shown")
        what.add_argument("--deactivate", action="store_true", help="from now on they delete nothing")
        parser.add_argument("--json", action="store_true", help="with --dry-run: as one JSON object")

    def handle(self, **options: Any) -> None:
        if options["json"] and not options["dry_run"]:
            raise command_error("--json goes with --dry-run.")
        policies = find_policies(options["positions"])
        if not policies:
            raise UserError("There are no retention policies; import_retention_rules brings some.")
        if options["deactivate"]:
            deactivate_retention(policies)
            self.stdout.write(f"{pluralize(len(policies), 'rule')} deactivated.")
            return
        rehearsal = preview_policies(policies)
        if options["dry_run"]:
            self.stdout.write(
                json.dumps(rehearsal.as_json(), indent=2, ensure_ascii=False)
                if options["json"]
                else "\n".join([*schedule_lines(rehearsal), f"digest {rehearsal.digest[:DIGEST_CHARACTERS]}"])
            )
            return
        seen = options["seen"]
        known = len(seen) >= DIGEST_CHARACTERS and rehearsal.digest.startswith(seen)
        activate_retention(policies, expected_digest=rehearsal.digest if known else "")
        self.stdout.write(f"{pluralize(len(policies), 'rule')} active.")
