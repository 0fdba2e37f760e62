from pathlib import Path
from typing import Any

from django.conf import settings

from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress
from datasets_app.domain.wording import format_count
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import command_error
from datasets_app.models import AuditEvent


class Command(BaseCommand):
    help = """Write everything that the database and the file storage hold to one encrypted file.

It can run while people work: all of it is as of one moment. Afterwards the file is read again
and compared. The keys under var are not in it: keep copies of them elsewhere, with the key that
opens the backup.

examples:
  manage.py backup --new-key backup-key.txt          # once; prints the public key
  manage.py backup --out /backups/monday.age --recipient age1…
  manage.py backup --out 's3://backups/monday.age?endpoint_url=https://s3.example.org&region_name=eu-1'
  manage.py backup                                   # as every night, to ALIGNMENTER_BACKUP_TO
  manage.py backup --verify /backups/monday.age --identity backup-key.txt

exit codes:
  0  done
  1  stored files are missing or changed (counted), or the backup to verify isn't right
  2  could not run"""

    arguments = (
        option("--out FILE", "a new file, or s3://bucket/name"),
        option(
            "--recipient KEY",
            "public key; may be repeated (default: ALIGNMENTER_BACKUP_RECIPIENTS)",
            action="append",
        ),
        option("--new-key FILE", "write a new key, and print its public key"),
        option("--verify FILE", "verify a backup instead of making one"),
        option("--identity FILE", "the key: reads all of the backup, not only its digest"),
        option("--passphrase-file FILE", "protects the new key, or opens a protected one"),
    )

    def handle(self, **options: Any) -> None:
        # Only here, because it brings a library for encryption.
        from datasets_app.backups import keys

        passphrase = _read_passphrase(options["passphrase_file"])
        if options["new_key"]:
            self.stdout.write(keys.create_key_file(Path(options["new_key"]), passphrase))
            return
        identities = (
            keys.read_identities(Path(options["identity"]), passphrase) if options["identity"] else None
        )
        if options["verify"]:
            self._verify(options["verify"], identities)
            return
        facts = self._make_backup(options["out"], options["recipient"])
        if identities and options["out"]:
            self._verify(options["out"], identities)
        if faults := {name: facts[name] for name in ("missing", "changed") if name in facts}:
            listed = " and ".join(f"{format_count(count, 'file')} {name}" for name, count in faults.items())
            self.stderr.write(f"{listed} in the file storage. Run: manage.py verify_releases")
            raise SystemExit(EXIT_FINDINGS)

    def _make_backup(self, out: str | None, recipients: list[str] | None) -> dict[str, Any]:
        from datasets_app.backups.make_backup import describe_backup, make_backup
        from datasets_app.backups.tasks import backup

        if out is None and not settings.BACKUP_TO:
            raise command_error("Name the file with --out FILE, or set ALIGNMENTER_BACKUP_TO.")
        facts: dict[str, Any] = run_job(
            "backup",
            backup
            if out is None
            else lambda job: make_backup(
                out, recipients or settings.BACKUP_RECIPIENTS, report_progress=job.report_progress
            ),
            progress=Progress("Backing up", "bytes"),
        )
        self.stdout.write(describe_backup(facts))
        return facts

    def _verify(self, place: str, identities: list[Any] | None) -> None:
        from datasets_app.backups.restore_backup import verify_backup
        from datasets_app.core.places import hash_place, place_name

        name = place_name(place)
        if identities is not None:
            verified = verify_backup(place, identities)
            contents = verified.contents
            self.stdout.write(
                f"{name}: unchanged and complete, made on {verified.manifest['created_at'][:16]} UTC, "
                f"{format_count(contents['files'], 'stored file')}, "
                f"{format_count(contents['database_bytes'], 'byte')} of the database"
            )
            return
        sha256, _ = hash_place(place)
        made = AuditEvent.objects.filter(action="backup", details__sha256=sha256).first()
        if made is None:
            self.stderr.write(
                f"{name}: no backup with its digest ({sha256}) is recorded here. It was changed, or made "
                "elsewhere; --identity FILE reads all of it."
            )
            raise SystemExit(EXIT_FINDINGS)
        self.stdout.write(f"{name}: as it was written on {made.at:%Y-%m-%d %H:%M} UTC, by its digest")


def _read_passphrase(path: str | None) -> str:
    from datasets_app.backups.keys import read_passphrase

    return read_passphrase(Path(path)) if path else ""
