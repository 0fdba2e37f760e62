"""What a person may choose of a model."""

from typing import Any

import pytest

from datasets_app.core.errors import UserError
from datasets_app.domain.generation.plan import GenerationRequest, plan_sessions
from datasets_app.generating.generation import make_model_writer
from datasets_app.model_calls.parameters import ModelParameters
from datasets_app.model_calls.requests import is_model
from tests.llm_server import LlmServer


@pytest.fixture(autouse=True)
def _settings(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.LLM_ENDPOINTS, settings.LLM_TIMEOUT, settings.LLM_RETRIES = (
        ["https://models.example.org/v1"],
        7,
        2,
    )
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")


def test_a_writer_is_made_as_asked_for_and_with_the_settings() -> None:
    writer = make_model_writer(ModelParameters("openai:tiny", None, 0.4, 3, 900), actor=None)
    told = writer.describe()
    assert (told["model"], told["temperature"], told["endpoint"]) == ("tiny", 0.4, "models.example.org")
    assert (writer.model.concurrency, writer.max_tokens) == (3, 900)
    assert (writer.model.retry_policy.retries, writer.model.retry_policy.timeout) == (2, 7.0)
    assert "canary" not in repr(writer) + str(told)


def test_without_its_key_a_writer_still_tells_of_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk canary that can't be")
    wish = ModelParameters("openai:tiny")
    assert make_model_writer(wish, actor=None, with_key=False).describe()["prompt_sha256"]
    with pytest.raises(UserError, match="holds characters that no key has"):
        make_model_writer(wish, actor=None)


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        (ModelParameters("openai:"), "Name the model"),
        (ModelParameters("openai:a\nb"), "Name the model"),
        (ModelParameters("openai:" + "a" * 300), "Name the model"),
        (ModelParameters("openai:a", temperature=2.5), "temperature must be"),
        (ModelParameters("openai:a", temperature=float("nan")), "temperature must be"),
        (ModelParameters("openai:a", temperature=-0.1), "temperature must be"),
        (ModelParameters("openai:a", concurrency=0), "parallel calls"),
        (ModelParameters("openai:a", concurrency=1000), "parallel calls"),
        (ModelParameters("openai:a", max_tokens_total=0), "budget"),
        (ModelParameters("openai:a", base_url="ftp://a"), "https://"),
    ],
)
def test_what_can_not_be_is_refused_with_a_sentence(wish: ModelParameters, said: str) -> None:
    with pytest.raises(UserError, match=said):
        make_model_writer(wish, actor=None)


def test_a_model_is_offline_or_behind_an_endpoint() -> None:
    assert (is_model("offline"), is_model("openai:tiny")) == (False, True)
    with pytest.raises(UserError, match="openai:NAME"):
        is_model("gpt-4o")


def test_names_of_people_are_not_taken_and_the_model_is_told_which(settings: Any) -> None:
    with LlmServer(first=["named"]) as server:
        settings.LLM_ENDPOINTS = [server.url]
        writer = make_model_writer(ModelParameters("openai:tiny", concurrency=1), actor=None)
        written = list(writer.write_all(plan_sessions(GenerationRequest(1), made_by="tests")))
    assert [each.failure for each in written] == [None]
    assert len(server.asked) == 2
    assert 'turn 1 holds what looks like personal data (name): "Sarah Miller"' in server.asked[1].prompt
