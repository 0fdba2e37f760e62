from typing import Any

from django.core.management.base import BaseCommand

from datasets_app import job_queue


class Command(BaseCommand):
    help = "Carry out background jobs until stopped. Run as many as you like, on any machine."

    def handle(self, **_: Any) -> None:
        job_queue.work()
