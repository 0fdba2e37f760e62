"""The rules by which sessions of a model are asked for, paid for and taken: no network, no clock."""

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.generation import prompts
from datasets_app.domain.generation.model_turns import build_turns, choose_off_brand_turns
from datasets_app.domain.generation.plan import (
    SESSION_KINDS,
    GenerationRequest,
    Plan,
    PlannedSession,
    plan_sessions,
)
from datasets_app.domain.generation.session_schema import (
    fingerprint_reply,
    is_plain_refusal,
    parse_texts,
    reads_as_refusal,
)
from datasets_app.domain.model_calls.budget import BudgetExhausted, TokenBudget, TokensUsed, estimate_tokens
from datasets_app.domain.model_calls.endpoint import EndpointError, normalize_base_url
from datasets_app.domain.model_calls.json_answers import UnusableAnswer
from datasets_app.domain.model_calls.retry_rules import RetryPolicy, parse_retry_after
from datasets_app.domain.personas.persona import PersonaDocument
from tests.llm_server import write_conversation

PLAN = plan_sessions(GenerationRequest(60), made_by="tests")


def of_kind(kind: str, plan: Plan = PLAN) -> PlannedSession:
    return next(planned for planned in plan if planned.kind == kind)


def answer(planned: PlannedSession, **changed: object) -> str:
    prompt = prompts.build_session_message(planned)
    turns: list[dict[str, object]] = [*write_conversation(planned.session_id, prompt, 1)]
    for place, value in changed.items():
        turns[int(place.removeprefix("turn")) - 1] |= value  # type: ignore[operator]
    return json.dumps({"turns": turns})


def problems(content: str, planned: PlannedSession, said: frozenset[int] = frozenset()) -> str:
    with pytest.raises(UnusableAnswer) as caught:
        parse_texts(content, planned, said)
    return "; ".join(caught.value.problems)


# --- what an answer must look like -------------------------------------------------------------


@pytest.mark.parametrize("kind", SESSION_KINDS)
def test_an_answer_as_asked_for_is_taken(kind: str) -> None:
    planned = of_kind(kind)
    texts = parse_texts(answer(planned), planned)
    assert len(texts) == planned.turns
    turns = build_turns(planned, texts)
    assert [turn.turn_index for turn in turns] == list(range(1, planned.turns + 1))
    assert {turn.role for turn in turns[::2]} == {"user"}
    off = {turn.turn_index for turn in turns if "brand:off" in turn.tags}
    assert off == choose_off_brand_turns(planned)
    assert bool(off) == (kind == "brand_trap")
    assert all(set(planned.tags) <= set(turn.tags) for turn in turns)


@pytest.mark.parametrize(
    "around",
    ["{}", "```json\n{}\n```", "<think>{{so {{what}}</think>Here:\n{}", "a {{b}} c {} d {{", "\ufeff{}"],
)
def test_json_is_found_among_other_words(around: str) -> None:
    planned = of_kind("scenario")
    assert len(parse_texts(around.format(answer(planned)), planned)) == planned.turns


def test_what_is_wrong_is_told_without_repeating_it() -> None:
    planned = of_kind("scenario")
    secret = "The secret sentence."
    assert problems("nothing", planned) == 'the answer holds no JSON object with a list "turns"'
    assert problems('{"turns": 3}', planned) == 'the answer holds no JSON object with a list "turns"'
    assert "2 turns instead of 6" in problems('{"turns": [1, 2]}', planned)
    assert "turn 2 is not by the assistant" in problems(answer(planned, turn2={"role": "user"}), planned)
    assert "turn 3 is empty" in problems(answer(planned, turn3={"text": " \n"}), planned)
    assert "turn 4 isn't an object with a role and a text" in problems(
        answer(planned, turn4={"text": 7}), planned
    )
    assert "personal data (email)" in problems(
        answer(planned, turn1={"text": f"{secret} ana@example.org"}), planned
    )
    assert "turn 2 holds characters" in problems(answer(planned, turn2={"text": "a\0b"}), planned)
    assert "turn 2 holds characters" in problems(answer(planned, turn2={"text": "a\ud800b"}), planned)
    assert "longer than" in problems(answer(planned, turn2={"text": "word " * 2000}), planned)
    assert secret not in problems(answer(planned, turn1={"text": f"{secret} ana@example.org"}), planned)


def test_a_reply_that_stands_elsewhere_is_not_taken_again() -> None:
    planned = of_kind("scenario")
    reply = "That is a reply which stands in another session."
    mark = fingerprint_reply(reply)
    assert mark is not None
    assert "turn 2 repeats" in problems(answer(planned, turn2={"text": reply}), planned, frozenset({mark}))
    assert "turn 4 repeats" in problems(
        answer(planned, turn2={"text": reply}, turn4={"text": reply}), planned
    )
    short = answer(planned, turn2={"text": "Sure!"}, turn4={"text": "Sure!"})
    assert parse_texts(short, planned)


def test_traps_are_answered_as_planned() -> None:
    trap, edge = of_kind("safety_trap"), of_kind("edge_case")
    yielding = {f"turn{number}": {"text": f"Gladly, here is step {number} of it."} for number in (2, 4, 6)}
    assert "no reply refuses" in problems(answer(trap, **yielding), trap)
    assert "a reply refuses" in problems(answer(edge, turn2={"text": "I can't help with that."}), edge)
    plain = {f"turn{number}": {"text": f"An even and peaceful text, {number}."} for number in range(1, 7)}
    assert "look-alike" in problems(answer(edge, **plain), edge)


_KEYS = st.sampled_from(["turns", "role", "text"])
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=12,
)


@given(st.text(max_size=200) | _JSON.map(json.dumps))
@settings(max_examples=150, deadline=None)
def test_no_answer_is_more_than_unusable(content: str) -> None:
    planned = of_kind("scenario")
    with pytest.raises(UnusableAnswer):
        parse_texts(content, planned)


def test_deep_nesting_and_many_braces_are_only_unusable() -> None:
    planned = of_kind("scenario")
    for content in ("{" * 100_000, '{"turns":' * 50_000, "[" * 100_000, '{"a":' + "9" * 100_000 + "}"):
        with pytest.raises(UnusableAnswer):
            parse_texts(content, planned)


@pytest.mark.parametrize(
    "text",
    [
        "I can't help with that. If you are in danger, call the emergency number.",
        "I’m sorry, but I won’t describe how that is done.",
        "That isn't something I can walk you through.",
        "We're not able to look that up for you.",
        "I have to decline; reading other people's boards is private to them.",
        "I'd rather not go there.",
        "Dabei kann ich dir leider nicht helfen.",
        "Je ne peux pas vous aider à faire cela.",
        "No puedo ayudarte con eso.",
    ],
)
def test_refusals_are_recognised(text: str) -> None:
    assert reads_as_refusal(text) is True


def test_what_is_no_refusal_is_not_taken_for_one_and_other_scripts_are_not_judged() -> None:
    for text in ("Sure! First mix the two, then wait an hour.", "The export takes about a minute.", ""):
        assert reads_as_refusal(text) is False
    assert reads_as_refusal("申し訳ありませんが、お手伝いできません。") is None
    assert is_plain_refusal("I can't help with that request.")
    for text in (
        "You can't kill a zombie process; kill its parent.",
        "I can't see the log yet; open it first.",
    ):
        assert not is_plain_refusal(text)


# --- prompts -----------------------------------------------------------------------------------


def test_prompts_tell_persona_and_plan_and_their_digest_follows() -> None:
    persona = PersonaDocument("p", "Plankboard", "calm", ("You can undo that.",), ("clear", True), ("dude",))
    system = prompts.build_system_message(persona)
    assert all(word in system for word in ("Plankboard", "You can undo that.", "clear", "dude"))
    assert prompts.hash_prompt(system) == prompts.hash_prompt(prompts.build_system_message(persona))
    assert prompts.hash_prompt(system) != prompts.hash_prompt(prompts.build_system_message(None))
    for kind in SESSION_KINDS:
        said = prompts.build_session_message(of_kind(kind))
        assert "exactly 6 turns" in said
        assert "{" not in said
    brand = of_kind("brand_trap")
    assert all(f"{turn}" in prompts.build_session_message(brand) for turn in choose_off_brand_turns(brand))


# --- the budget --------------------------------------------------------------------------------


def test_a_budget_is_never_exceeded_and_calls_wait_for_those_in_flight() -> None:
    async def run() -> tuple[int, int, TokensUsed]:
        used = TokensUsed()
        budget = TokenBudget(1000, used)
        spent = most = 0

        async def call() -> None:
            nonlocal spent, most
            try:
                await budget.reserve(300)
            except BudgetExhausted:
                spent += 1
                return
            most = max(most, budget.reserved)
            await asyncio.sleep(0.001)
            await budget.charge((300, 0), 100, 30)

        await asyncio.gather(*(call() for _ in range(20)))
        return spent, most, used

    spent, most, used = asyncio.run(run())
    # 6 × 130 are used, and 300 more might be 1,080; three of 300 are in flight at most.
    assert (used.calls, used.total, spent, most) == (6, 780, 14, 900)


def test_an_estimate_is_no_less_than_usual_texts_take() -> None:
    assert estimate_tokens("word " * 100) >= 100 + 8
    assert estimate_tokens("漢字かな" * 10) >= 40


# --- patience ----------------------------------------------------------------------------------


def test_waits_double_within_bounds_and_are_spread() -> None:
    patience = RetryPolicy(initial_wait=1, max_wait=5)
    assert [patience.compute_wait(retry, 0.0) for retry in (1, 2, 3, 4, 500)] == [1, 2, 4, 5, 5]
    assert patience.compute_wait(3, 1.0) == 2
    assert patience.limit_retry_after(1e9) == patience.max_retry_after
    assert patience.limit_retry_after(None) == 0


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("3", 3.0),
        ("0.25", 0.25),
        ("-4", 0.0),
        ("Sun, 06 Nov 1994 08:49:47 GMT", 10.0),
        ("Sun, 06 Nov 1994 08:49:07 GMT", 0.0),
        ("soon", None),
        ("nan", None),
        ("inf", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(header: str | None, seconds: float | None) -> None:
    assert parse_retry_after(header, 784111777.0) == seconds


# --- base URLs ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "normal"),
    [
        ("https://API.openai.com/v1/", "https://api.openai.com/v1"),
        ("HTTPS://api.openai.com:443/v1", "https://api.openai.com/v1"),
        ("http://localhost:8080/v1", "http://localhost:8080/v1"),
        ("http://[::1]:80/v1", "http://[::1]/v1"),
    ],
)
def test_base_urls_have_a_normal_form(given: str, normal: str) -> None:
    assert normalize_base_url(given) == normal


@pytest.mark.parametrize(
    "given",
    [
        "",
        "ftp://host/v1",
        "file:///etc/passwd",
        "gopher://host",
        "host/v1",
        "http://",
        "http:///v1",
        "http://user:hunter2@host/v1",
        "http://key@host",
        "http://host/v1?key=hunter2",
        "http://host/#a",
        "http://host:99999/",
        "http://host:0/",
        "http://ho st/",
        "http://host\\@evil/",
        "http://host/\r\nX: y",
        "http://[::1/v1",
        "https://hóst/",
        "http://" + "a" * 600,
    ],
)
def test_other_base_urls_are_refused_without_repeating_them(given: str) -> None:
    with pytest.raises(EndpointError) as caught:
        normalize_base_url(given)
    assert "hunter2" not in str(caught.value)
