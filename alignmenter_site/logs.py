"""Logs the type and location of errors, never their message.

A message may repeat text of a conversation: PostgreSQL's DETAIL shows whole rows.
"""

import copy
import json
import logging
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from alignmenter_site import env

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
# Names of loggers whose messages repeat a header only: a host that ALLOWED_HOSTS lacks, a foreign origin.
_NEEDED_BY_OPERATORS = (".DisallowedHost", ".csrf")
OWN_PACKAGES = ("alignmenter_site", "annotations_app", "datasets_app")


FORMATS = ("text", "json")
_context: ContextVar[dict[str, Any]] = ContextVar("log_context", default={})  # noqa: B039  (never changed)


@contextmanager
def log_context(**ids: Any) -> Iterator[None]:
    """Ids that lines written in this block have, in JSON: of a request, of a job."""
    token = _context.set({**_context.get(), **ids})
    try:
        yield
    finally:
        _context.reset(token)


def describe_error(error: BaseException) -> str:
    """Type and location of an error and of its causes, without their messages."""
    described: list[str] = []
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        described.append(_describe_frames(cause))
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    return "; after ".join(described)


def _describe_frames(error: BaseException) -> str:
    places = " < ".join(
        f"{frame.name} ({frame.filename.rsplit('/', 1)[-1]}:{frame.lineno})"
        for frame in reversed(traceback.extract_tb(error.__traceback__))
    )
    return f"{type(error).__name__} in {places}" if places else type(error).__name__


class RedactingFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        # A record caches the traceback of the first formatter: neither use nor leave one.
        record = copy.copy(record)
        record.exc_text = None
        if record.name.startswith("django.security.") and not record.name.endswith(_NEEDED_BY_OPERATORS):
            # It repeats what was sent with the address of a page, such as searched words.
            record.msg, record.args = "refused a request", ()
        return super().format(record)

    def formatException(self, ei: Any) -> str:
        return describe_error(ei[1]) if ei[1] is not None else "no error"


class JsonFormatter(RedactingFormatter):
    """One object a line: time, level, logger, message, the ids of :func:`log_context`, and the error."""

    def format(self, record: logging.LogRecord) -> str:
        plain = copy.copy(record)
        plain.exc_info = plain.stack_info = None
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": super().format(plain),
            **_context.get(),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def logging_settings(level: str, format: str = "text") -> dict[str, Any]:
    """The LOGGING setting. DEBUG is for our own packages: libraries write values then, such as those
    of statements and of rows that can't be imported."""
    if level not in LEVELS:
        raise env.EnvironmentVariableError(f"LOG_LEVEL must be one of {', '.join(LEVELS)}, got {level!r}")
    if format not in FORMATS:
        raise env.EnvironmentVariableError(f"LOG_FORMAT must be {' or '.join(FORMATS)}, got {format!r}")
    of_libraries = "INFO" if level == "DEBUG" else level
    stderr = {"handlers": ["stderr"], "propagate": False}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "text": {
                "()": "alignmenter_site.logs.RedactingFormatter",
                "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
            },
            "json": {"()": "alignmenter_site.logs.JsonFormatter"},
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": format}},
        "root": {"handlers": ["stderr"], "level": of_libraries},
        "loggers": {
            **{package: {"level": level} for package in OWN_PACKAGES},
            "django": {**stderr, "level": of_libraries},
            "django.server": {**stderr, "level": of_libraries},
            # What fails after Django, in the middle of a download.
            "gunicorn.error": stderr,
            # It tells at every start on which device it runs, and at DEBUG what it has found.
            "presidio-analyzer": {**stderr, "level": "WARNING"},
            "rq.worker": {**stderr, "level": "WARNING"},
        },
    }
