from pathlib import Path
from typing import Any

from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.management.commands.reapply_erasures import print_erased
from datasets_app.management.terminal import command_error


class Command(BaseCommand):
    help = """Put a backup in the place of the database and the stored files.

Stop web servers, workers and schedulers on all machines before. First all of the backup is
verified; then it is loaded in one transaction, so a restore that fails leaves everything as it
was. Afterwards, what was erased or deleted since the backup was made is deleted again, as the
file "erasures" under var tells, and everybody is signed out.

examples:
  manage.py restore /backups/monday.age --identity backup-key.txt
  manage.py restore /backups/monday.age --identity backup-key.txt --replace
  manage.py restore /backups/monday.age --identity backup-key.txt --erasures /kept-elsewhere/erasures

exit codes:
  0  restored
  1  restored, but some of what was erased since could not be erased again (listed)
  2  could not run: everything is as before"""

    arguments = (
        option("place FILE", "a backup: a file, or s3://bucket/name"),
        option("--identity FILE", "the key that opens it", required=True),
        option("--passphrase-file FILE", "opens a protected key"),
        option("--replace", "replace the data of this installation"),
        option("--erasures FILE", "default: the file erasures under var"),
    )

    def handle(self, *, place: str, replace: bool, **options: Any) -> None:
        # Only here, because they bring a library for encryption.
        from datasets_app.backups import keys
        from datasets_app.backups.restore_backup import finish_restore, load_backup

        erasures = Path(options["erasures"]) if options["erasures"] else None
        if erasures is not None and not erasures.is_file():
            raise command_error(f"There is no file {erasures}.")
        passphrase = ""
        if options["passphrase_file"]:
            passphrase = keys.read_passphrase(Path(options["passphrase_file"]))
        identities = keys.read_identities(Path(options["identity"]), passphrase)
        with Progress("Restoring", "bytes") as progress:
            verified = load_backup(place, identities, replace=replace, report_progress=progress)
        result = run_job(
            "restore",
            lambda job: finish_restore(
                verified, erasures=erasures, job_run=job.row, report_progress=job.report_progress
            ),
            progress=Progress("Comparing", "turns"),
        )
        self.stdout.write(f"Restored as of {result['made_at'][:16]} UTC. What was erased or deleted since:")
        print_erased(result, self)
        if result["audit_heads"]:
            self.stdout.write(f"Heads of the audit log until now are kept in var/{result['audit_heads']}.")
        if result.get("skipped"):
            raise SystemExit(EXIT_FINDINGS)
