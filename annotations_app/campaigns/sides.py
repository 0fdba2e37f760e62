"""What a campaign labels or compares with, by name: a dataset, or a release of one as NAME@VERSION."""

from collections.abc import Callable
from typing import Any

from datasets_app.models import Dataset
from datasets_app.models.dataset import NAME_PATTERN
from datasets_app.releasing.load_release import load_release
from datasets_app.releasing.versions import find_release

SIDE_PATTERN = NAME_PATTERN.removesuffix("$") + r"(@v?\d+\.\d+\.\d+)?$"


def find_side(name: str, find_dataset: Callable[[str], Dataset], *, actor: Any) -> Dataset:
    """Loads a release as a dataset if need be. Raises UserError."""
    dataset_name, separator, version = name.partition("@")
    dataset = find_dataset(dataset_name)
    return load_release(find_release(dataset, version), actor=actor) if separator else dataset
