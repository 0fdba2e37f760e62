from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from datasets_app.auditing import verify_audit
from datasets_app.auditing.heads import parse_heads, verify_and_append_head, verify_with_heads
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress
from datasets_app.domain.audit_chain import Head, RecordedHead
from datasets_app.domain.wording import format_count
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import command_error, print_limited


class Command(BaseCommand):
    help = """Find events of the audit log that were changed or deleted in the database.

Every event is sealed to the one before it. This recomputes all seals and compares them with
the heads recorded outside the database: in audit_heads under var, in further files of
ALIGNMENTER_AUDIT_HEADS, and those given with --heads and --expect.

examples:
  manage.py verify_audit
  manage.py verify_audit --heads copy-of-audit_heads
  manage.py verify_audit --head > kept-elsewhere.txt
  manage.py verify_audit --expect $(cat kept-elsewhere.txt)

exit codes:
  0  unchanged
  1  changed: every fault is listed
  2  could not run"""

    arguments = (
        option("--head", "only print the current head of the log"),
        option(
            "--expect POSITION:DIGEST",
            "a head recorded earlier, which the log must contain; may be repeated",
            repeatable=True,
        ),
        option(
            "--heads FILE",
            "heads kept elsewhere: a copy of audit_heads, lines of syslog, or what a webhook received; "
            "may be repeated",
            repeatable=True,
        ),
        option("--note", "record the head if the log is unchanged"),
    )

    def handle(self, **options: Any) -> None:
        if options["head"]:
            self.stdout.write(str(verify_audit.get_head()))
            return
        try:
            expected = [*map(Head.parse, options["expect"]), *_read_copies(options["heads"])]
        except ValueError as error:
            raise command_error(f"--expect: {error}") from None
        verify = verify_and_append_head if options["note"] else verify_with_heads
        with Progress("Verifying", "events") as progress:
            verified = verify(tuple(expected), report_progress=progress)
        events = format_count(verified.events, "event")
        print_limited([fault.message for fault in verified.faults], verified.fault_count, self.stderr.write)
        if verified.fault_count:
            raise CommandError(
                f"{format_count(verified.fault_count, 'fault')} in {events}.", returncode=EXIT_FINDINGS
            )
        self.stdout.write(f"{events}, unchanged. Head {verified.head}")
        if compared := verified.compared:
            when = f", recorded at {compared.at}" if compared.at else ""
            self.stdout.write(f"Compared with recorded heads up to position {compared.position}{when}.")
        else:
            self.stdout.write(
                "Not compared with recorded heads: there are none on this machine. Use --heads."
            )


def _read_copies(paths: list[str]) -> list[RecordedHead]:
    """The heads in files that were kept elsewhere."""
    heads: list[RecordedHead] = []
    for path in paths:
        try:
            lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as error:
            raise command_error(f"--heads: {path} can't be read: {error.strerror}") from None
        found, faults = parse_heads((line for line in lines if line.strip()), path)
        if faults or not found:
            message = faults[0].message if faults else f"{path} contains no heads."
            raise CommandError(f"--heads: {message}", returncode=EXIT_FINDINGS)
        heads += found
    return heads
