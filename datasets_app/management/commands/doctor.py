import json
from typing import Any

from alignmenter_site.monitoring.doctor import examine
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS
from datasets_app.management.base import BaseCommand


class Command(BaseCommand):
    help = """Look for what is wrong with this installation, and say what to do.

Run it with the environment and the account of the application. It changes nothing: it writes
one small file to the storage and deletes it, and connects to the mail server without sending.

exit codes:
  0  everything is ok
  1  something is wrong: each line that isn't ok says what to do"""

    arguments = (option("--json", "one JSON object a line, for scripts"),)

    def handle(self, *, json: bool, **_: Any) -> None:
        failed = False
        for finding in examine():
            failed = failed or not finding.ok
            self.stdout.write(_as_json(finding) if json else _as_line(finding))
        if failed:
            raise SystemExit(EXIT_FINDINGS)


def _as_json(finding: Any) -> str:
    return json.dumps(finding._asdict(), ensure_ascii=False)


def _as_line(finding: Any) -> str:
    return f"{'ok' if finding.ok else 'FAULT':<6} {finding.name:<16} {finding.text}"
