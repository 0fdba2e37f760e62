from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from annotations_app.demo.load_demo import DEMO_DATASET, load_demo
from datasets_app.management.terminal import report_errors
from datasets_app.models import Dataset


class Command(BaseCommand):
    help = (
        f"Load the demonstration data: the persona default_v1, the "
        f"dataset {DEMO_DATASET} (10 sessions, 60 turns) "
        "and the labels of three annotators; and, where there is the demonstration account annotator, a "
        "campaign in which it is the fourth. What is there already is left as it is. "
        "Exit codes: 0 all is there, 1 or 2 it could not be loaded."
    )
    requires_system_checks = ()  # `run`, `migrate` and `make check` look at the whole

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--if-empty", action="store_true", help="do nothing if there is any dataset")

    def handle(self, *, if_empty: bool, **_: Any) -> None:
        with report_errors(self):
            if if_empty and Dataset.objects.exists():
                self.stdout.write("There are datasets already; the demonstration data was not loaded.")
                return
            loaded = load_demo()
        self.stdout.write(f"Loaded {DEMO_DATASET}." if loaded else f"{DEMO_DATASET} was there already.")
