"""The parameters of a job that calls a model; see ``datasets_app/jobs/parameters.py``."""

from typing import ClassVar

from datasets_app.jobs.parameters import JobParameters

MODEL_PREFIX = "openai:"


class ModelParameters(JobParameters, frozen=True):
    """What a person may choose of a model that is called. None stands for the default."""

    model: str | None = None
    base_url: str | None = None
    temperature: float | None = None
    concurrency: int | None = None
    max_tokens_total: int | None = None

    LABELS: ClassVar = {
        "base_url": "Endpoint",
        "concurrency": "Concurrent calls",
        "max_tokens_total": "Token budget",
    }

    @property
    def model_name(self) -> str:
        """As the endpoint knows the model."""
        return (self.model or "").removeprefix(MODEL_PREFIX).strip()
