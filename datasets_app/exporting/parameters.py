"""The parameters of a sample; see ``jobs/parameters.py``."""

from datasets_app.jobs.parameters import OverridableParameters


class SampleParameters(OverridableParameters, frozen=True):
    """``name`` is the dataset to create; without it the sample is a file. A command stores ``of``."""

    of: str | None = None
    name: str | None = None
    size: int | None = None
    by: str | None = None
    seed: int | None = None
