"""Requests made from the schema: no server error, no answer that the schema doesn't name.

Schemathesis is imported in the test: that takes longer than most of the others.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from alignmenter_site.api.reference import make_schema
from datasets_app.catalog.text_scans import scan_new_text
from tests.api.calls import Caller, make_user
from tests.api.test_roles import NAMES
from tests.everything import make_full_dataset
from tests.strategies import EXAMPLES_FACTOR

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("empty_queue")]

CHECKED = [
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
]


@pytest.fixture
def kept_connection() -> Iterator[None]:
    """Requests don't end the connection, which is in the test's transaction."""
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


def test_no_request_of_the_schema_fails(
    media_root: Path, settings: LazySettings, kept_connection: None
) -> None:
    import schemathesis
    from schemathesis.checks import CHECKS, load_all_checks

    load_all_checks()
    schemathesis.serializer.alias("application/x-ndjson", "application/octet-stream")
    settings.API_REQUESTS_PER_MINUTE = 1_000_000
    scan_new_text(make_full_dataset("harbour"))
    user = make_user("curator")
    user.groups.add(*make_user("privacy officer").groups.all())
    caller = Caller(type(user).objects.get(pk=user.pk))
    schema = schemathesis.openapi.from_dict(make_schema())
    schema.app = WSGIHandler()
    failures: list[str] = []
    for result in schema.get_all_operations():
        _try_operation(result.ok(), caller.secret, CHECKS.get_by_names(CHECKED), failures)
    assert not failures, "\n".join(failures)


def _try_operation(operation: Any, secret: str, checks: Any, failures: list[str]) -> None:
    from schemathesis import GenerationMode
    from schemathesis.core.failures import FailureGroup

    modes = st.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
    name = "harbour-campaign" if operation.path.startswith("/api/v1/campaigns") else NAMES["name"]

    @given(data=st.data())
    @hypothesis_settings(
        max_examples=4 * EXAMPLES_FACTOR,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    def attempt(data: Any) -> None:
        case = data.draw(operation.as_strategy(generation_mode=data.draw(modes)))
        if data.draw(st.booleans()):
            # One that exists.
            case.path_parameters = {key: {**NAMES, "name": name}[key] for key in case.path_parameters or {}}
        case.call_and_validate(headers={"Authorization": f"Bearer {secret}"}, checks=checks)

    try:
        attempt()
    except FailureGroup as group:
        failures += [f"{operation.label}: {error}" for error in group.exceptions]
