from typing import Any

from annotations_app.demo.load_demo import DEMO_DATASET, load_demo
from datasets_app.command_line.options import option
from datasets_app.management.base import BaseCommand
from datasets_app.models import Dataset


class Command(BaseCommand):
    help = (
        f"Load the demonstration data: the persona default_v1, the dataset {DEMO_DATASET} (10 sessions, 60 "
        "turns), the labels of three annotators and, if the demonstration account annotator exists, a "
        "campaign with it as the fourth. Keeps what exists already. Exit codes: 0 all is there, 1 or 2 it "
        "could not be loaded."
    )

    arguments = (option("--if-empty", "do nothing if there is any dataset"),)

    def handle(self, *, if_empty: bool, **_: Any) -> None:
        if if_empty and Dataset.objects.exists():
            self.stdout.write("The database has datasets; the demonstration data was not loaded.")
            return
        self.stdout.write(f"Loaded {DEMO_DATASET}." if load_demo() else f"{DEMO_DATASET} was there already.")
