"""The parameters of a job that calls a model; see ``datasets_app/jobs/parameters.py``."""

from typing import ClassVar

from datasets_app.jobs.parameters import JobParameters
from datasets_app.model_calls.requests import ModelRequest


class ModelParameters(JobParameters, frozen=True):
    """None stands for the default."""

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
    def request(self) -> ModelRequest:
        given = {name: getattr(self, name) for name in ModelRequest._fields}
        return ModelRequest(**{name: value for name, value in given.items() if value not in (None, "")})
