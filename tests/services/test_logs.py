"""Logs tell kind and place of an error; what its message repeats stays out of them."""

import io
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path

from alignmenter_site import logs
from alignmenter_site.embedded.places import PROJECT_DIR

CANARY = "canary.4155550123@example.org"


def fail(request: HttpRequest) -> HttpResponse:
    try:
        raise ValueError(f"DETAIL: Failing row contains ({CANARY}).")
    except ValueError as error:
        raise RuntimeError(f"could not save {CANARY}") from error


urlpatterns = [path("fail/", fail)]


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What the handlers of the settings write, Django's and the root's."""
    stream = io.StringIO()
    handlers = {
        handler
        for name in ("django", "")
        for handler in logging.getLogger(name).handlers
        if isinstance(handler.formatter, logs.RedactingFormatter)
    }
    assert handlers
    before = {handler: handler.setStream(stream) for handler in handlers}  # type: ignore[attr-defined]
    yield stream
    for handler, its_own in before.items():
        handler.setStream(its_own)  # type: ignore[attr-defined]


@pytest.mark.urls(__name__)
def test_a_failing_view_logs_kind_and_places_and_shows_nothing(db: None, written: io.StringIO) -> None:
    response = Client(raise_request_exception=False).get("/fail/")
    assert response.status_code == 500
    assert CANARY not in response.content.decode()
    log = written.getvalue()
    assert "RuntimeError in fail (test_logs.py:" in log
    assert "; after ValueError in fail (test_logs.py:" in log
    assert "canary" not in log
    assert "DETAIL" not in log


def test_a_traceback_that_another_formatter_left_on_the_record_is_not_repeated(written: io.StringIO) -> None:
    try:
        raise ValueError(CANARY)
    except ValueError as error:
        record = logging.LogRecord("x", logging.ERROR, __file__, 1, "it failed", (), _info(error))
    assert CANARY in logging.Formatter().format(record)
    logging.getLogger("django").handle(record)
    assert "ValueError in test_a_traceback" in written.getvalue()
    assert CANARY not in written.getvalue()


def test_what_was_sent_with_an_address_is_not_repeated(written: io.StringIO) -> None:
    for name, told in (("DisallowedModelAdminToField", False), ("DisallowedHost", True)):
        error = ValueError(CANARY)
        logging.getLogger(f"django.security.{name}").error(f"Invalid {CANARY}", exc_info=error)
        assert (CANARY in written.getvalue()) == told


def _info(error: BaseException) -> Any:
    return type(error), error, error.__traceback__


def test_errors_that_led_to_each_other_in_a_circle_are_told_once() -> None:
    one, two = ValueError(CANARY), KeyError(CANARY)
    one.__cause__, two.__cause__ = two, one
    assert logs.describe_error(one) == "ValueError; after KeyError"


@pytest.mark.django_db
def test_statements_and_their_values_are_not_logged_even_at_debug(written: io.StringIO) -> None:
    levels = logs.logging_settings("DEBUG")
    before = {name: logging.getLogger(name).level for name in ("", "django", "datasets_app")}
    logging.getLogger().setLevel(levels["root"]["level"])
    for name in ("django", "datasets_app"):
        logging.getLogger(name).setLevel(levels["loggers"][name]["level"])
    try:
        connection.force_debug_cursor = True
        with connection.cursor() as cursor:
            cursor.execute("SELECT %s", [CANARY])
        logging.getLogger("import_export.resources").debug(CANARY)
        logging.getLogger("datasets_app.storage").debug("a step of our own")
    finally:
        connection.force_debug_cursor = False
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)
    assert CANARY not in written.getvalue()
    assert "SELECT" not in written.getvalue()


def test_our_own_packages_can_be_followed_at_debug() -> None:
    program = (
        "import django, logging; django.setup()\n"
        "logging.getLogger('datasets_app.storage').debug('ours')\n"
        "logging.getLogger('import_export').debug('theirs')\n"
        "logging.getLogger('django.db.backends').debug('theirs')\n"
    )
    done = _python(program, LOG_LEVEL="debug")
    assert "ours" in done.stderr
    assert "theirs" not in done.stderr


def test_a_level_that_is_none_stops_the_start_with_a_sentence() -> None:
    done = _python("import django; django.setup()", LOG_LEVEL="loud")
    assert done.returncode != 0
    assert done.stderr.strip() == (
        "LOG_LEVEL must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL, got 'LOUD'"
    )


def _python(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=PROJECT_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "alignmenter_site.settings", **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.urls(__name__)
def test_json_lines_have_ids_and_no_message_of_an_error(db: None) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.JsonFormatter())
    logging.getLogger("django").addHandler(handler)
    try:
        answer = Client(raise_request_exception=False).get("/fail/", headers={"X-Request-ID": "edge-1234"})
        forged = Client(raise_request_exception=False).get("/fail/", headers={"X-Request-ID": '"a b" c'})
    finally:
        logging.getLogger("django").removeHandler(handler)
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert (first["request"], answer["X-Request-ID"]) == ("edge-1234", "edge-1234")
    assert (first["level"], first["logger"]) == ("ERROR", "django.request")
    assert "RuntimeError in fail (test_logs.py:" in first["error"]
    assert datetime.fromisoformat(first["time"]).tzinfo
    assert re.fullmatch("[0-9a-f]{32}", second["request"])
    assert forged["X-Request-ID"] == second["request"]
    assert "canary" not in stream.getvalue()
    with logs.log_context(request="r"), logs.log_context(job=7):
        made = logs.JsonFormatter().format(
            logging.makeLogRecord({"name": "datasets_app", "msg": "queued %s", "args": ("again",)})
        )
    assert {"message": "queued again", "request": "r", "job": 7}.items() <= json.loads(made).items()
