from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from datasets_app.auditing import verify_audit
from datasets_app.auditing.heads import verify_and_append_head, verify_with_heads
from datasets_app.domain.audit_chain import Head
from datasets_app.management import terminal
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import command_error, pluralize


class Command(BaseCommand):
    help = """Find whatever was changed in the audit trail behind the application's back.

Every event is sealed to the one before it. This computes all seals anew, and holds them against
the heads that were noted every night (audit_heads under var) and those given with --expect.

examples:
  manage.py verify_audit
  manage.py verify_audit --head > kept-elsewhere.txt
  manage.py verify_audit --expect $(cat kept-elsewhere.txt)

exit codes:
  0  nothing was changed
  1  something was: each fault is listed
  2  could not run"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--head", action="store_true", help="only print where the trail ends now")
        parser.add_argument(
            "--expect",
            metavar="POSITION:DIGEST",
            action="append",
            default=[],
            help="a head that was noted before: the trail must go through it",
        )
        parser.add_argument(
            "--note", action="store_true", help="if nothing was changed, note the head as every night"
        )

    def handle(self, **options: Any) -> None:
        if options["head"]:
            self.stdout.write(str(verify_audit.get_head()))
            return
        self._verify(options)

    def _verify(self, options: dict[str, Any]) -> None:
        try:
            expected = tuple(Head.parse(text) for text in options["expect"])
        except ValueError as error:
            raise command_error(f"--expect: {error}") from None
        progress = terminal.Progress("Verifying", "events")
        verify = verify_and_append_head if options["note"] else verify_with_heads
        try:
            verified = verify(expected, report_progress=progress)
        finally:
            progress.clear()
        for fault in verified.faults:
            self.stderr.write(fault.message)
        if more := verified.fault_count - len(verified.faults):
            self.stderr.write(f"… and {more:,} more.")
        if verified.fault_count:
            raise CommandError(
                f"{pluralize(verified.fault_count, 'fault')} in {pluralize(verified.events, 'event')}.",
                returncode=terminal.EXIT_FINDINGS,
            )
        self.stdout.write(f"{pluralize(verified.events, 'event')}, nothing was changed. Head {verified.head}")
