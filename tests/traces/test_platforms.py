"""Exports of many more tools, each with one conversation; private notes stay out."""

from pathlib import Path

from datasets_app.domain.traces.reasons import PRIVATE_NOTES
from tests.traces.exports import HELLO, HI, MORE, SURE
from tests.traces.platform_exports import IN_LINES, OF_FOUR_TURNS, PLATFORMS
from tests.traces.reading import convert, write

WITH_NOTES = {"crisp", "hubspot", "gorgias", "gorgias_ticket", "helpscout", "drift", "livechat", "chatwoot"}


def test_an_export_of_each_tool_becomes_its_conversation(tmp_path: Path) -> None:
    wrong = []
    for name, value in PLATFORMS.items():
        file = f"{name}.{'csv' if isinstance(value, str) else 'jsonl' if name in IN_LINES else 'json'}"
        sessions, report = convert(write(tmp_path, value, file))
        found = [[(turn.role, turn.text) for turn in turns] for turns in sessions.values()]
        expected = [("user", HI), ("assistant", HELLO), ("user", MORE), ("assistant", SURE)]
        notes = report.left_out[PRIVATE_NOTES].total
        if found != [expected if name in OF_FOUR_TURNS else expected[:2]] or notes != (name in WITH_NOTES):
            wrong.append((name, report.format, found, notes))
    assert wrong == []


def test_the_model_and_the_session_of_a_call_are_kept(tmp_path: Path) -> None:
    names = ("weave", "posthog", "bedrock_invoke", "braintrust_tree", "promptfoo", "deepseek")
    models = {}
    for name in names:
        sessions, _ = convert(write(tmp_path, PLATFORMS[name], f"{name}.json"))
        [turns] = sessions.values()
        models[name] = (turns[-1].metadata or {}).get("model")
    assert models == {
        "weave": "gpt-4o",
        "posthog": "m",
        "bedrock_invoke": "anthropic.claude",
        "braintrust_tree": None,
        "promptfoo": "openai:gpt",
        "deepseek": "deepseek",
    }
    sessions, _ = convert(write(tmp_path, PLATFORMS["opik"], "opik.json"))
    assert list(sessions) == ["th"]
