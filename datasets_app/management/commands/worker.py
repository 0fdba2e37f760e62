from typing import Any

from django.core.management.base import BaseCommand, CommandError

from datasets_app.jobs import queue


class Command(BaseCommand):
    help = "Carry out background jobs until stopped. Run as many as you like, on any machine."
    requires_system_checks = ()  # `run`, `migrate` and `make check` look at the whole

    def handle(self, **_: Any) -> None:
        try:
            queue.run_worker()
        except queue.QueueUnreachable as unreachable:
            reason = str(unreachable.__cause__).rstrip(".")
            raise CommandError(
                f"Cannot reach the job queue: {reason}. Workers take their jobs from the Redis "
                "or Valkey server that REDIS_URL names. Start that server or correct REDIS_URL, then start "
                "the worker again. Jobs that are waiting are not lost."
            ) from None
