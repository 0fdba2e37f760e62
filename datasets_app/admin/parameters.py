"""The parameters of a change of origin; see ``jobs/parameters.py``."""

from typing import ClassVar

from datasets_app.jobs.parameters import OverridableParameters
from datasets_app.models import Dataset


class OriginParameters(OverridableParameters, frozen=True):
    origin: str = ""

    LABELS: ClassVar = {"override": "Reason"}
    CHOICES: ClassVar = {"origin": dict(Dataset.Origin.choices)}
