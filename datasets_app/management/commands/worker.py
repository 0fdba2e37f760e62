from functools import partial
from importlib import import_module
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections

from datasets_app.command_line.options import add_options, option
from datasets_app.domain import lazy_re
from datasets_app.jobs import queue, recovery
from datasets_app.management.forks import run_forks


class Command(BaseCommand):
    help = (
        "Carry out background jobs until stopped. Run as many as you like, on any machine. Told to stop "
        "(SIGTERM, Ctrl-C), a worker gives a job that doesn't end within seconds back to the queue."
    )
    requires_system_checks = ()  # `run`, `migrate` and `make check` look at the whole

    def add_arguments(self, parser: CommandParser) -> None:
        add_options(
            parser,
            (
                option(
                    "--processes PROCESSES", "workers that share the memory of what they import", default=1
                ),
                option("--scheduler", "run a scheduler beside them"),
            ),
        )

    def handle(self, *, processes: int, scheduler: bool, **_: Any) -> None:
        # Each job runs in a fork. Most of what jobs need is what the night needs.
        import_module("datasets_app.nightly.run_nightly")
        lazy_re.compile_waiting()
        if processes == 1 and not scheduler:
            self.work()
            return
        if processes < 1:
            raise CommandError("--processes must be at least 1.")
        forks = {f"worker {number}": self.work for number in range(1, processes + 1)}
        if scheduler:
            import_module("datasets_app.management.commands.scheduler")  # to share its memory, too
            forks["scheduler"] = partial(call_command, "scheduler")
        connections.close_all()  # what is forked must not share them
        run_forks(forks)

    def work(self) -> None:
        try:
            queue.run_worker(recovery.give_back)
        except queue.QueueUnreachable as unreachable:
            reason = str(unreachable.__cause__).rstrip(".")
            raise CommandError(
                f"Cannot reach the job queue: {reason}. Workers take their jobs from the Redis "
                "or Valkey server that REDIS_URL names. Start that server or correct REDIS_URL, then start "
                "the worker again. Jobs that are waiting are not lost."
            ) from None
