from typing import Any

from django.core.management.base import BaseCommand

from datasets_app.jobs import queue


class Command(BaseCommand):
    help = "Carry out background jobs until stopped. Run as many as you like, on any machine."
    requires_system_checks = ()  # `run`, `migrate` and `make check` look at the whole

    def handle(self, **_: Any) -> None:
        queue.work()
