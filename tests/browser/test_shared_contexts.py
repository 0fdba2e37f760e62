"""What a test of a page leaves for the next one: nothing, not even a request that is still being answered."""

import time
from typing import Any

import pytest
from django.core.handlers.base import BaseHandler
from django.http import HttpResponse

from tests.browser.conftest import DESKTOP

pytestmark = pytest.mark.browser
ANSWER_S = 0.5  # in seconds: how long the request below is being answered


def test_a_request_that_outlives_its_page_is_waited_for(
    open_page: Any, shared_contexts: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = []
    answer = BaseHandler.get_response

    def answer_slowly(handler: Any, request: Any) -> Any:
        if request.path != "/slow/":
            return answer(handler, request)
        time.sleep(ANSWER_S)
        answered.append(request.path)
        return HttpResponse()

    monkeypatch.setattr(BaseHandler, "get_response", answer_slowly)
    page = open_page(viewport=DESKTOP)
    page.goto("/login/")
    page.evaluate("() => { fetch('/slow/', {keepalive: true}); }")
    shared_contexts.clear()
    assert answered == ["/slow/"]
