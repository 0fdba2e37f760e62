import json
from typing import Any

from datasets_app.command_line.options import one_of, option
from datasets_app.core.errors import UserError
from datasets_app.domain.wording import format_count
from datasets_app.management.base import BaseCommand
from datasets_app.management.retention_summary import schedule_lines
from datasets_app.management.terminal import command_error
from datasets_app.retention.activate import activate_retention, deactivate_retention, find_policies
from datasets_app.retention.dry_run import preview_retention

DIGEST_CHARACTERS = 12


class Command(BaseCommand):
    help = """Activate retention rules. A rule deletes nothing until it is active.

First print the deletion schedule with --dry-run. Then activate the rules with --seen and
the digest at the end of that schedule, which confirms that you have read it.

examples:
  manage.py activate_retention --dry-run            (all rules)
  manage.py activate_retention 1 3 --dry-run
  manage.py activate_retention 1 3 --seen 3f9c02d1a8b4
  manage.py activate_retention 3 --deactivate

exit codes:
  0  done
  2  could not run: no such rule, or the schedule has changed since it was printed"""

    arguments = (
        option("positions POSITION", "numbers of rules (default: all)", nargs="*", type=int),
        one_of(
            option("--dry-run", "print the deletion schedule"),
            option("--seen DIGEST", "activate the rules of the schedule with this digest"),
            option("--deactivate", "stop deleting by these rules"),
            required=True,
        ),
        option("--json", "with --dry-run: print one JSON object"),
    )

    def handle(self, **options: Any) -> None:
        if options["json"] and not options["dry_run"]:
            raise command_error("Use --json with --dry-run.")
        policies = find_policies(options["positions"])
        if not policies:
            raise UserError("There are no retention rules yet. Import some with import_retention_rules.")
        if options["deactivate"]:
            deactivate_retention(policies)
            self.stdout.write(f"{format_count(len(policies), 'rule')} deactivated.")
            return
        schedule = preview_retention(policies)
        if options["json"]:
            self.stdout.write(json.dumps(schedule.as_json(), indent=2, ensure_ascii=False))
        elif options["dry_run"]:
            digest = schedule.digest[:DIGEST_CHARACTERS]
            self.stdout.write("\n".join([*schedule_lines(schedule), f"digest {digest}"]))
        else:
            seen = options["seen"]
            confirmed = len(seen) >= DIGEST_CHARACTERS and schedule.digest.startswith(seen)
            activate_retention(policies, expected_digest=schedule.digest if confirmed else "")
            self.stdout.write(f"{format_count(len(policies), 'rule')} active.")
