"""The model writer against a real HTTP server that speaks the protocol, and misbehaves on purpose."""

import logging
import re
import traceback
from collections.abc import Callable
from typing import Any

import pytest

from datasets_app.domain.generation.model_writer import ModelWriter
from datasets_app.domain.generation.plan import GenerationRequest, Plan, plan_sessions
from datasets_app.domain.generation.writer import WrittenSession
from datasets_app.domain.model_calls import run
from datasets_app.domain.model_calls.budget import TokensUsed
from datasets_app.domain.model_calls.endpoint import Endpoint, Model
from datasets_app.domain.model_calls.retry_rules import RetryPolicy
from datasets_app.domain.model_calls.run import RunStopped
from tests.llm_server import FAULTS, LlmServer, http_date

KEY = "sk-canary-58f0c1d2"
QUICK = RetryPolicy(timeout=0.4, initial_wait=0.01, max_wait=0.04)


def plan_of(sessions: int, **wish: Any) -> Plan:
    return plan_sessions(GenerationRequest(sessions, **wish), made_by="tests")


def writer_at(server: LlmServer, **options: Any) -> ModelWriter:
    own = {name: options.pop(name) for name in Model.__dataclass_fields__ if name in options}
    return ModelWriter(
        Model(Endpoint(server.url, True), "tiny", **{"key": KEY, "retry_policy": QUICK} | own), **options
    )


def all_written(writer: ModelWriter, plan: Plan) -> tuple[list[WrittenSession], str]:
    written: list[WrittenSession] = []
    try:
        put_into(written, writer, plan)
    except RunStopped as stopped:
        return written, str(stopped)
    return written, ""


def put_into(
    written: list[WrittenSession],
    writer: ModelWriter,
    plan: Plan,
    on_tick: Callable[[], None] = lambda: None,
) -> None:
    for each in writer.write_all(plan, on_tick):
        written.append(each)


def done(written: list[WrittenSession]) -> set[str]:
    return {each.planned.session_id for each in written if each.failure is None}


# --- faults ------------------------------------------------------------------------------------


def test_each_session_is_done_or_failed_for_a_reason_whatever_the_endpoint_does() -> None:
    plan = plan_of(60)
    with LlmServer(faults=FAULTS, seed=5) as server:
        # Long enough that a busy machine never drops an answer that the server has sent.
        writer = writer_at(server, concurrency=12, retry_policy=QUICK._replace(timeout=4.0))
        written, stopped = all_written(writer, plan)
    assert not stopped
    assert sorted(each.planned.number for each in written) == list(range(60))
    assert {asked.fault for asked in server.asked} == {*FAULTS, ""}
    failed = [each for each in written if each.failure is not None]
    assert writer.failed == len(failed) > 0
    for each in failed:
        assert each.turns == []
        assert len(each.failure or "") < 150
    for each in written:
        if each.failure is None:
            assert len(each.turns) == each.planned.turns
    # Sound answers are taken the first time they come, and nobody asks again.
    assert set(server.answered().values()) == {1}
    assert done(written) == set(server.answered())
    assert writer.used.calls == len(server.asked)
    assert writer.used.total >= server.tokens


@pytest.mark.parametrize("fault", ["429", "500", "hang", "cut", "no_choices", "not_http_json"])
def test_what_passes_is_tried_again(fault: str) -> None:
    with LlmServer(first=[fault, fault]) as server:
        written, stopped = all_written(writer_at(server), plan_of(1))
    assert (len(done(written)), stopped, len(server.asked)) == (1, "", 3)


@pytest.mark.parametrize("fault", ["not_json", "wrong_schema", "refusal", "cut_off"])
def test_what_is_wrong_is_told_to_the_model_once(fault: str) -> None:
    with LlmServer(first=[fault]) as server:
        written, _ = all_written(writer_at(server), plan_of(1))
        assert len(done(written)) == 1
        first, second = server.asked
        assert "That can't be used: " not in first.prompt
        assert "That can't be used: " in second.prompt
    with LlmServer(first=[fault, fault]) as server:
        written, _ = all_written(writer_at(server), plan_of(1))
        assert [bool(each.failure) for each in written] == [True]
        assert len(server.asked) == 2


def test_an_answer_that_was_cut_off_gets_twice_the_room() -> None:
    with LlmServer(first=["cut_off"]) as server:
        all_written(writer_at(server), plan_of(2))
    first, *others = (asked.body["max_tokens"] for asked in server.asked)
    assert set(others) == {2 * first} or set(others) == {first, 2 * first}


def test_tries_are_bounded() -> None:
    with LlmServer(first=["500"] * 50) as server:
        written, _ = all_written(writer_at(server), plan_of(2))
    assert [each.failure for each in written] == ["errors of the server (500)"] * 2
    assert len(server.asked) == 2 * (QUICK.retries + 1)


def test_an_endpoint_that_is_not_there_is_told() -> None:
    with LlmServer() as server:
        pass
    assert all_written(writer_at(server), plan_of(50)) == (
        [],
        "The endpoint can't be reached: is it running, and is its address right?",
    )


@pytest.mark.parametrize("fault", ["packed", "huge"])
def test_answers_that_could_fill_the_memory_end_the_run(fault: str) -> None:
    with LlmServer(first=[fault] * 9) as server:
        written, stopped = all_written(writer_at(server, retry_policy=RetryPolicy(timeout=20)), plan_of(3))
    assert written == []
    assert "too large or packed" in stopped


def test_a_run_in_which_everything_fails_is_ended() -> None:
    with LlmServer(first=["wrong_schema"] * 1000) as server:
        written, stopped = all_written(writer_at(server, concurrency=2), plan_of(200))
    assert len(written) < 30
    assert "The last 20 sessions have all failed" in stopped
    assert len(server.asked) < 60


# --- waiting -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("retry_after", "at_least"), [("0.5", 0.5), (lambda: http_date(2.0), 1.0)])
def test_all_wait_as_long_as_the_endpoint_asks_for(
    retry_after: str | Callable[[], str], at_least: float
) -> None:
    with LlmServer(first=["429"], retry_after=retry_after) as server:
        written, _ = all_written(writer_at(server, concurrency=1), plan_of(2))
    assert len(done(written)) == 2
    turned_away, *others = server.asked
    assert all(asked.began - turned_away.began >= at_least for asked in others)


def test_no_more_calls_at_a_time_than_asked_for() -> None:
    with LlmServer(latency=0.03) as server:
        all_written(writer_at(server, concurrency=5), plan_of(30))
    assert server.max_in_flight == 5


def test_the_caller_can_stop_while_an_endpoint_hangs_and_when_something_has_come(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Enough(Exception):
        pass

    def enough() -> None:
        raise Enough

    patience = RetryPolicy(timeout=20)
    with LlmServer(first=["hang"] * 8) as server:
        writer = writer_at(server, retry_policy=patience)
        monkeypatch.setattr(run, "GRACE_SECONDS", 0.1)
        with pytest.raises(Enough):
            put_into([], writer, plan_of(8), enough)
        monkeypatch.undo()
    with LlmServer(latency=0.7) as server:
        written: list[WrittenSession] = []
        writer = writer_at(server, retry_policy=patience, concurrency=3)
        with pytest.raises(Enough):
            put_into(written, writer, plan_of(50), enough)
        # What was under way, and will be paid for, is still taken; nothing more was asked for.
        assert (len(done(written)), len(server.asked)) == (3, 3)
    with LlmServer() as server:
        sessions = writer_at(server, concurrency=2).write_all(plan_of(50))
        next(sessions)
        sessions.close()
        assert len(server.asked) <= 4


# --- the budget --------------------------------------------------------------------------------


@pytest.mark.parametrize(("limit", "faults"), [(20_000, ()), (40_000, FAULTS)])
def test_the_budget_holds_and_what_is_done_is_kept(limit: int, faults: tuple[str, ...]) -> None:
    with LlmServer(faults=faults, latency=0.005) as server:
        writer = writer_at(server, concurrency=8, max_tokens=limit)
        written, stopped = all_written(writer, plan_of(500))
    assert re.match(r"The token budget is spent: [\d,]+ of [\d,]+ are used, and the next call", stopped)
    assert 0 < len(done(written)) < 500
    assert server.tokens <= writer.used.total <= limit


def test_what_an_earlier_run_has_used_counts() -> None:
    with LlmServer() as server:
        writer = writer_at(server, max_tokens=20_000)
        writer.used = TokensUsed(15_000, 4_900, 0, 7)
        written, stopped = all_written(writer, plan_of(5))
    assert (written, server.asked) == ([], [])
    assert "19,900 of 20,000" in stopped


def test_an_answer_without_usage_is_estimated_and_that_is_said() -> None:
    with LlmServer(usage=False) as server:
        writer = writer_at(server)
        all_written(writer, plan_of(4))
    assert writer.describe()["tokens"]["estimated"] == writer.used.total >= server.tokens > 0


# --- what the endpoint does not know -----------------------------------------------------------


@pytest.mark.parametrize("formats", [("json_object", "text"), ("text",)])
def test_a_format_that_is_refused_is_not_asked_for_again(formats: tuple[str, ...]) -> None:
    with LlmServer(formats=formats) as server:
        written, _ = all_written(writer_at(server, concurrency=3), plan_of(20))
    assert len(done(written)) == 20
    asked = [(each.body.get("response_format") or {}).get("type", "text") for each in server.asked]
    refused = [each for each in asked if each not in formats]
    assert 0 < len(refused) <= 3 * (3 - len(formats))
    assert set(asked[-15:]) == {formats[0]}


def test_the_newer_name_of_the_length_is_used_where_the_older_one_is_refused() -> None:
    with LlmServer(refused_parameters=["max_tokens"]) as server:
        written, _ = all_written(writer_at(server), plan_of(20))
    assert len(done(written)) == 20
    assert len([each for each in server.asked if "max_tokens" in each.body]) <= 8
    assert {"max_completion_tokens" in each.body for each in server.asked[-10:]} == {True}
    assert {each.body["response_format"]["type"] for each in server.asked} == {"json_schema"}


def test_a_temperature_that_is_refused_ends_the_run_with_a_sentence() -> None:
    with LlmServer(refused_parameters=["temperature"]) as server:
        written, stopped = all_written(writer_at(server, temperature=0.3), plan_of(9))
    assert (written, stopped) == ([], "The model does not take this temperature; choose another, or none.")
    with LlmServer(refused_parameters=["temperature"]) as server:
        assert len(done(all_written(writer_at(server), plan_of(2))[0])) == 2


# --- the key -----------------------------------------------------------------------------------


def test_the_key_is_on_the_request_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-of-the-environment")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-canary")
    monkeypatch.setenv("OPENAI_ADMIN_KEY", "sk-canary-admin")
    monkeypatch.setenv(
        "OPENAI_CUSTOM_HEADERS", "X-Canary: sk-canary-custom\nAuthorization: Bearer sk-canary-2"
    )
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/canary")
    caplog.set_level(logging.DEBUG)
    with LlmServer(key=KEY, faults=FAULTS, seed=2) as server:
        writer = writer_at(server)
        written, _ = all_written(writer, plan_of(12))
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {KEY}"}
    for asked in server.asked:
        assert "canary" not in str(asked.headers | {"authorization": ""}) + str(asked.body)
    told = caplog.text + str(written) + str(writer.describe()) + repr(writer)
    assert "canary" not in told
    assert "127.0.0.1" in told


def test_without_a_key_none_is_sent_not_even_that_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-of-the-environment")
    with LlmServer() as server:
        assert len(done(all_written(writer_at(server, key=""), plan_of(2))[0])) == 2
    assert all("authorization" not in asked.headers for asked in server.asked)


def test_a_key_that_is_not_accepted_ends_the_run_without_being_shown() -> None:
    with LlmServer(key="sk-another") as server:
        try:
            list(writer_at(server).write_all(plan_of(50)))
        except RunStopped as stopped:
            told = "".join(traceback.format_exception(stopped))
        assert len(server.asked) <= 8
    assert "The endpoint does not accept the key, or asks for one (401)" in told
    assert "canary" not in told


def test_who_is_refused_once_an_answer_has_come_has_failed_alone() -> None:
    with LlmServer(first=["", "403"]) as server:
        written, stopped = all_written(writer_at(server, concurrency=1), plan_of(5))
    assert (len(done(written)), len(written), stopped) == (4, 5, "")


def test_what_a_plan_will_take_is_told_before() -> None:
    with LlmServer() as server:
        writer = writer_at(server)
        expected = writer.estimate_tokens(plan_of(40))
        assert server.asked == []
        all_written(writer, plan_of(40))
    assert writer.used.total / 2 < expected.total < writer.used.total * 3


def test_a_redirect_is_not_followed() -> None:
    with LlmServer() as other, LlmServer(first=["redirect"] * 9) as server:
        server.location = f"{other.url}/chat/completions"
        written, stopped = all_written(writer_at(server), plan_of(3))
    assert (written, other.asked) == ([], [])
    assert "sends on to another address (307)" in stopped
