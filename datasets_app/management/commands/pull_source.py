from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from datasets_app.command_line.options import option
from datasets_app.command_line.streams import Progress
from datasets_app.domain.wording import format_count
from datasets_app.jobs.perform import run_job
from datasets_app.management.base import BaseCommand
from datasets_app.management.terminal import command_error
from datasets_app.models import Source
from datasets_app.sources.parameters import PullParameters
from datasets_app.sources.pull import get_source
from datasets_app.sources.tasks import pull_source

_WORDS = {
    "delivered_before": "delivered before",
    "not_sampled": "not in the sample",
    "other_models_or_tags": "of other models or tags",
    "near_duplicates": "near-duplicates",
    "over_maximum": "over the maximum",
    "already_in_dataset": "in the dataset already",
    "unreadable": "that can't be read",
}


class Command(BaseCommand):
    help = """Pull new conversations from a source into its dataset.

Continues where the last pull ended, and takes what the rule of the source says. What was
delivered before is skipped, so that pulling again changes nothing. Each day of traces is saved
by itself: an interrupted pull continues with the day that it was in.

examples:
  manage.py pull_source langfuse-prod --dry-run
  manage.py pull_source langfuse-prod
  manage.py pull_source langfuse-prod --since 2026-11-01

exit codes:
  0  done, also if there was nothing new
  2  could not run: no such source, its folder or address can't be read"""

    arguments = (
        option("name NAME", "the source"),
        option("--since DATE", "begin at this date or time, and not where the last pull ended"),
        option("--dry-run", "count what would be imported, up to the next day"),
    )

    def handle(self, **options: Any) -> None:
        source, since = get_source(options["name"]), _parse_time(options["since"])
        while True:
            result = _pull(source, since, options["dry_run"])
            self.stdout.write(_format_result(source, result, options["dry_run"]))
            if options["dry_run"] or not result["more"]:
                break
            since = None
            source.refresh_from_db()


def _pull(source: Source, since: datetime | None, dry_run: bool) -> dict[str, Any]:
    return run_job(
        "pull_source",
        pull_source,
        progress=Progress("Pulling", "conversations"),
        dataset_name=source.dataset_name,
        parameters=PullParameters(source=source.pk, since=since, dry_run=dry_run),
    )


def _parse_time(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        day = parse_date(text)
        found = datetime(day.year, day.month, day.day) if day else parse_datetime(text)
    except ValueError:
        found = None
    if found is None:
        raise command_error("--since takes a date, such as 2026-11-01, or a time, such as 2026-11-01T12:00Z.")
    return found if timezone.is_aware(found) else timezone.make_aware(found)


def _format_result(source: Source, result: dict[str, Any], dry_run: bool) -> str:
    read = format_count(result.get("conversations", 0), "conversation")
    added = format_count(result["sessions"], "session")
    parts = [f"{read} read", f"{added} {'would be ' if dry_run else ''}added to {source.dataset_name}"]
    parts += [f"{result[key]:,} {words}" for key, words in _WORDS.items() if result.get(key)]
    for name in ("file", "span"):
        if count := result.get(f"unreadable_{name}s"):
            parts.append(f"{format_count(count, name)} that can't be read")
    return f"{source.name}: {'; '.join(parts)}."
