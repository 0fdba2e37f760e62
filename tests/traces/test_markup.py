"""Conversations in one text, in the markup of chat templates."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.traces.describe import list_warnings
from tests.terminal import run_in_process
from tests.traces.exports import HELLO, HI, MORE
from tests.traces.reading import convert, texts, write

SYSTEM, CALL, RESULT, SURE = (
    "Be short.",
    '{"name": "hours", "arguments": {"day": "Friday"}}',
    '{"open": true}',
    "Sure.",
)
QUESTION = [("user", HI), ("assistant", HELLO), ("user", MORE), ("assistant", SURE)]


def chatml(role: str, text: str, sep: str = "\n") -> str:
    return f"<|im_start|>{role}{sep}{text}<|im_end|>\n"


def llama3(role: str, text: str, end: str = "<|eot_id|>") -> str:
    return f"<|start_header_id|>{role}<|end_header_id|>\n\n{text}{end}"


def gemma(role: str, text: str) -> str:
    return f"<start_of_turn>{role}\n{text}<end_of_turn>\n"


def phi(role: str, text: str, end: str = "<|end|>") -> str:
    return f"<|{role}|>\n{text}{end}\n"


def harmony(role: str, text: str, channel: str = "", end: str = "<|end|>") -> str:
    return f"<|start|>{role}{f'<|channel|>{channel}' if channel else ''}<|message|>{text}{end}"


def turns(write_turn: Any, system: str = "system", user: str = "user", assistant: str = "assistant") -> str:
    said = [(system, SYSTEM)] if system else []
    said += [(user, HI), (assistant, HELLO), (user, MORE), (assistant, SURE)]
    return "".join(write_turn(role, text) for role, text in said)


BELOW = "Below is an instruction that describes a task. Write a response that completes it."
VICUNA = "A chat between a curious user and an assistant."
WITH_SYSTEM = {
    "ChatML": turns(chatml),
    "ChatML with the end of the text": turns(chatml) + "<|endoftext|>",
    "ChatML to go on": turns(chatml) + "<|im_start|>assistant\n",
    "ChatML of Phi 4": turns(lambda role, text: f"<|im_start|>{role}<|im_sep|>{text}<|im_end|>"),
    "ChatML in one line": turns(lambda role, text: f"<|im_start|>{role} {text}<|im_end|> "),
    "ChatML without ends": turns(lambda role, text: f"<|im_start|>{role}\n{text}\n"),
    "ChatML of Windows": turns(chatml).replace("\n", "\r\n"),
    "Kimi": turns(lambda role, text: f"<|im_{role}|>{role}<|im_middle|>{text}<|im_end|>"),
    "Llama 3": f"<|begin_of_text|>{turns(llama3)}",
    "Llama 3 with the end of the text": f"<|begin_of_text|>{turns(llama3)}<|end_of_text|>",
    "Llama 4": turns(lambda role, text: f"<|header_start|>{role}<|header_end|>\n\n{text}<|eot|>"),
    "Granite": turns(lambda role, text: f"<|start_of_role|>{role}<|end_of_role|>{text}<|end_of_text|>\n"),
    "Llama 2": f"<s>[INST] <<SYS>>\n{SYSTEM}\n<</SYS>>\n\n{HI} [/INST] {HELLO} </s><s>[INST] {MORE} [/INST] "
               f"{SURE} </s>",
    "Llama 2 without ends": f"[INST] <<SYS>>{SYSTEM}<</SYS>> {HI} [/INST] {HELLO} [INST] {MORE} "
                            f"[/INST] {SURE}",
    "Mistral": f"<s>[SYSTEM_PROMPT]{SYSTEM}[/SYSTEM_PROMPT][INST]{HI}[/INST]{HELLO}</s>"
               f"[INST]{MORE}[/INST]{SURE}</s>",
    "Gemma": "<bos>" + turns(gemma, assistant="model"),
    "Phi 3": turns(phi) + "<|endoftext|>",
    "Zephyr": turns(lambda role, text: phi(role, text, "</s>")),
    "Tulu": turns(lambda role, text: f"<|{role}|>\n{text}\n"),
    "GLM": f"[gMASK]<sop>{turns(lambda role, text: f'<|{role}|>{chr(10)}{text}')}",
    "StableLM": f"<|SYSTEM|>{SYSTEM}<|USER|>{HI}<|ASSISTANT|>{HELLO}<|USER|>{MORE}<|ASSISTANT|>{SURE}",
    "EXAONE": turns(lambda role, text: f"[|{role}|]{text}[|endofturn|]\n"),
    "Command R": "<BOS_TOKEN>" + turns(
        lambda role, text: f"<|START_OF_TURN_TOKEN|><|{role}_TOKEN|>{text}<|END_OF_TURN_TOKEN|>",
        "SYSTEM", "USER", "CHATBOT"),
    "DeepSeek": f"<｜begin▁of▁sentence｜>{SYSTEM}<｜User｜>{HI}<｜Assistant｜>{HELLO}<｜end▁of▁sentence｜>"
                f"<｜User｜>{MORE}<｜Assistant｜>{SURE}<｜end▁of▁sentence｜>",
    "Harmony": turns(lambda role, text: harmony(role, text, "final" if role == "assistant" else "")),
    "Vicuna": f"{SYSTEM} USER: {HI} ASSISTANT: {HELLO}</s>USER: {MORE} ASSISTANT: {SURE}</s>",
    "Vicuna in lines": f"{SYSTEM}\n\nUSER: {HI}\nASSISTANT: {HELLO}\nUSER: {MORE}\nASSISTANT: {SURE}",
    "Alpaca": f"{SYSTEM}\n\n### Instruction:\n{HI}\n\n### Response:\n{HELLO}\n\n### Instruction:\n{MORE}\n\n"
              f"### Response:\n{SURE}</s>",
    "Solar": turns(lambda role, text: f"### {role.title()}:\n{text}\n\n"),
    "Anthropic": f"{SYSTEM}\n\nHuman: {HI}\n\nAssistant: {HELLO}\n\nHuman: {MORE}\n\nAssistant: {SURE}",
}  # fmt: skip
WITHOUT_SYSTEM = {
    "Guanaco": f"### Human: {HI}### Assistant: {HELLO}### Human: {MORE}### Assistant: {SURE}",
    "OpenAssistant": turns(lambda role, text: f"<|{role}|>{text}<|endoftext|>", "", "prompter"),
    "OpenChat": f"GPT4 Correct User: {HI}<|end_of_turn|>GPT4 Correct Assistant: {HELLO}<|end_of_turn|>"
                f"GPT4 Correct User: {MORE}<|end_of_turn|>GPT4 Correct Assistant: {SURE}<|end_of_turn|>",
    "OpenChatKit": f"<human>: {HI}\n<bot>: {HELLO}\n<human>: {MORE}\n<bot>: {SURE}",
    "hh-rlhf": f"\n\nHuman: {HI}\n\nAssistant: {HELLO}\n\nHuman: {MORE}\n\nAssistant: {SURE}",
    "Gemma": turns(gemma, "", assistant="model"),
    "lines": f"User: {HI}\nAssistant: {HELLO}\nUser: {MORE}\nAssistant: {SURE}",
}  # fmt: skip
TEMPLATES = [(name, text, SYSTEM) for name, text in WITH_SYSTEM.items()]
TEMPLATES += [(name, text, None) for name, text in WITHOUT_SYSTEM.items()]


def make_table(*rows: dict[str, str]) -> str:
    out = io.StringIO()
    table = csv.DictWriter(out, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    return out.getvalue()


FILES: dict[str, tuple[str, Any]] = {
    "text": ("a.jsonl", lambda text: [{"text": text}]),
    "content": ("a.jsonl", lambda text: [{"id": 7, "content": text}]),
    "conversation": ("a.json", lambda text: [{"conversation": text}]),
    "session": ("a.jsonl", lambda text: [{"session_id": "q", "text": text}]),
    "one object": ("a.json", lambda text: {"text": text}),
    "texts": ("a.json", lambda text: [text]),
    "column": ("a.csv", lambda text: make_table({"text": text})),
    "columns": ("a.csv", lambda text: make_table({"id": "7", "type": "chat", "text": text})),
    "plain": ("a.txt", lambda text: text),
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize(("name", "text", "system"), TEMPLATES, ids=[name for name, *_ in TEMPLATES])
def test_a_text_in_a_chat_template_is_a_conversation(
    name: str, text: str, system: str | None, kind: str, tmp_path: Path
) -> None:
    file, make = FILES[kind]
    found, report = convert(write(tmp_path, make(text), file))
    assert [texts(said) for said in found.values()] == [QUESTION]
    [said] = found.values()
    assert (said[0].metadata or {}).get("system_prompt") == system
    assert not report.problem_total


PROMPTS = [
    (f"{chatml('user', HI)}<|im_start|>assistant\n", f"{HELLO}<|im_end|>"),
    (chatml("user", HI), chatml("assistant", HELLO)),
    (chatml("user", HI), HELLO),
    (f"<s>[INST] {HI} [/INST]", f" {HELLO}</s>"),
    (f"<bos>{gemma('user', HI)}<start_of_turn>model\n", f"{HELLO}<end_of_turn>"),
    (f"{llama3('user', HI)}<|start_header_id|>assistant<|end_header_id|>\n\n", f"{HELLO}<|eot_id|>"),
    (f"{harmony('user', HI)}<|start|>assistant", f"<|channel|>final<|message|>{HELLO}<|return|>"),
    (f"<|user|>\n{HI}<|end|>\n<|assistant|>\n", f"{HELLO}<|end|>"),
    (f"{BELOW}\n\n### Instruction:\n{HI}\n\n### Response:", HELLO),
    (f"{VICUNA} USER: {HI} ASSISTANT:", f" {HELLO}</s>"),
    (f"\n\nHuman: {HI}\n\nAssistant:", f" {HELLO}"),
    (f"User: {HI}\nAssistant:", f" {HELLO}"),
    (chatml("user", HI), chatml("user", HI) + chatml("assistant", HELLO)),
    (HI, f"{HELLO}<|endoftext|>"),
]  # fmt: skip


@pytest.mark.parametrize("keys", [("prompt", "completion"), ("prompt", "chosen"), ("input", "output")])
@pytest.mark.parametrize(("prompt", "completion"), PROMPTS)
def test_a_completion_goes_on_with_its_prompt(
    prompt: str, completion: str, keys: tuple[str, str], tmp_path: Path
) -> None:
    found, _ = convert(write(tmp_path, [dict(zip(keys, (prompt, completion), strict=True))], "a.jsonl"))
    [said] = found.values()
    assert [(role, text.strip()) for role, text in texts(said)] == QUESTION[:2]


TOOLS = {
    "ChatML": chatml("user", HI) + chatml("assistant", f"<tool_call>\n{CALL}\n</tool_call>")
              + chatml("user", f"<tool_response>\n{RESULT}\n</tool_response>") + chatml("assistant", HELLO),
    "ChatML with a role": chatml("user", HI) + chatml("assistant to=functions.hours", '{"day": "Friday"}')
                          + chatml("tool", RESULT) + chatml("assistant", HELLO),
    "Llama 3": llama3("user", HI) + llama3("assistant", f"<|python_tag|>{CALL}", "<|eom_id|>")
               + llama3("ipython", RESULT) + llama3("assistant", HELLO),
    "Mistral": f"<s>[AVAILABLE_TOOLS] [{CALL}][/AVAILABLE_TOOLS][INST] {HI} [/INST][TOOL_CALLS] [{CALL}]</s>"
               f"[TOOL_RESULTS] {RESULT}[/TOOL_RESULTS] {HELLO}</s>",
    "Phi": phi("user", HI) + phi("assistant", f"<|tool_call|>[{CALL}]<|/tool_call|>") + phi("tool", RESULT)
           + phi("assistant", HELLO),
    "GLM": f"<|user|>\n{HI}<|assistant|>\n<tool_call>{CALL}</tool_call><|observation|>\n{RESULT}"
           f"<|assistant|>\n{HELLO}",
    "DeepSeek": f"<｜User｜>{HI}<｜Assistant｜><｜tool▁calls▁begin｜>{CALL}<｜tool▁calls▁end｜>"
                f"<｜end▁of▁sentence｜>"
                f"<｜tool▁outputs▁begin｜>{RESULT}<｜tool▁outputs▁end｜>{HELLO}<｜end▁of▁sentence｜>",
    "Harmony": harmony("user", HI) + harmony("assistant", "The user asks for hours.", "analysis")
               + harmony("assistant", '{"day": "Friday"}', "commentary to=functions.hours <|constrain|>json",
                         "<|call|>")
               + harmony("functions.hours to=assistant", RESULT, "commentary")
               + harmony("assistant", HELLO, "final", "<|return|>"),
    "Harmony, names first": harmony("user", HI)
               + harmony("assistant to=functions.hours", '{"day": "Friday"}', "commentary", "<|call|>")
               + harmony("functions.hours", RESULT, "commentary") + harmony("assistant", HELLO, "final"),
    "lines": f"User: {HI}\nTool response: {RESULT}\nAssistant: {HELLO}",
}  # fmt: skip


@pytest.mark.parametrize("name", TOOLS)
def test_calls_of_tools_and_thoughts_are_metadata(name: str, tmp_path: Path) -> None:
    found, report = convert(write(tmp_path, [{"text": TOOLS[name]}], "a.jsonl"))
    [said] = found.values()
    assert texts(said) == QUESTION[:2]
    metadata = json.dumps([turn.metadata for turn in said])
    assert "open" in metadata
    assert "Friday" in metadata or name == "lines"
    assert "asks for hours" in metadata or name != "Harmony"
    assert not report.problem_total


MENTIONS = [
    "What does <|im_start|>user mean?",
    "What is `<|im_end|>` for?",
    "Print:\n```\n<|im_start|>user\nx<|im_end|>\n<|im_start|>assistant\n```",
    'Is "<|im_end|>" a token?',
    "What do [INST] and [/INST] mean?",
    "Does <|user|> end with <|end|> or </s> here?",
    "How are <start_of_turn>model and <|eot_id|> used?",
    "<|assistant|> is a tag, isn't it?",
    "Say USER: first, or ### Response: later?",
    "I wrote:\nHuman: hello\nand it broke.",
]


@pytest.mark.parametrize("by", ["user", "assistant"])
@pytest.mark.parametrize("text", MENTIONS)
@pytest.mark.parametrize(
    "template", [chatml, llama3, phi, lambda role, text: phi(role, text, "</s>"), harmony]
)
def test_a_text_that_mentions_a_tag_stays_as_it_is(template: Any, text: str, by: str, tmp_path: Path) -> None:
    said = [("user", text if by == "user" else HI), ("assistant", text if by == "assistant" else HELLO)]
    value = "".join(template(role, words) for role, words in said)
    found, _ = convert(write(tmp_path, [{"text": value}], "a.jsonl"))
    assert [texts(turns) for turns in found.values()] == [said]
    plain = [{"messages": [{"role": role, "content": words} for role, words in said]}]
    found, _ = convert(write(tmp_path, plain, "b.json"))
    assert [texts(turns) for turns in found.values()] == [said]


@pytest.mark.parametrize("by", ["user", "assistant"])
@pytest.mark.parametrize(
    "text", ["Is `[INST]` a tag?", 'Is "[/INST]" a tag?', "```\n[INST] x [/INST]\n```", "See </s> there"]
)
def test_a_text_that_mentions_an_instruction_stays_as_it_is(text: str, by: str, tmp_path: Path) -> None:
    said = [("user", text if by == "user" else HI), ("assistant", text if by == "assistant" else HELLO)]
    value = f"<s>[INST] {said[0][1]} [/INST] {said[1][1]} </s><s>[INST] {MORE} [/INST] {SURE} </s>"
    found, _ = convert(write(tmp_path, [{"text": value}], "a.jsonl"))
    assert [texts(turns) for turns in found.values()] == [[*said, *QUESTION[2:]]]


UNREAD = [
    ("a.jsonl", [{"text": f"Answer this: {chatml('user', HI)}"}], "ChatML"),
    ("a.jsonl", [{"q": HI, "text": "<|user|> asks"}], "Phi or Zephyr"),
    ("a.csv", make_table({"id": "1", "text": f"Answer: [INST] {HI} [/INST]"}), "Llama 2 or Mistral"),
    ("a.txt", f"Answer this: {gemma('user', HI)}", "Gemma"),
    ("a.json", [{"prompt": f"Go on: {llama3('user', HI)}"}], "Llama 3"),
]


@pytest.mark.parametrize(("file", "value", "name"), UNREAD)
def test_markup_that_is_no_conversation_is_named(file: str, value: Any, name: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match=name) as refused:
        convert(write(tmp_path, value, file))
    assert HI not in str(refused.value)


def test_a_record_that_is_no_conversation_is_an_error_of_its_line(tmp_path: Path) -> None:
    found, report = convert(
        write(tmp_path, [{"text": turns(chatml)}, {"text": f"See {chatml('user', HI)}"}], "a.jsonl")
    )
    assert len(found) == 1
    assert [(problem.line, problem.code) for problem in report.problems] == [(2, "E110")]
    assert "ChatML" in report.problems[0].message


def test_what_is_part_of_no_turn_is_counted_and_kept(tmp_path: Path) -> None:
    text = f"{chatml('user', HI)}---\n{chatml('assistant', HELLO)}"
    found, report = convert(write(tmp_path, [{"text": text}], "a.jsonl"))
    [said] = found.values()
    assert texts(said) == QUESTION[:2]
    assert said[1].metadata == {"text_between_turns": ["---"]}
    assert list_warnings(report)[0].startswith("1 text between the turns of a chat template")


def test_a_role_that_nobody_knows_is_asked_about(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        [{"text": chatml("user", HI) + chatml("narrator", MORE) + chatml("assistant", HELLO)}],
        "a.jsonl",
    )
    found, report = convert(path)
    assert report.problem_total == 1
    found, report = convert(path, mapping={"sender:narrator": "user"})
    assert not report.problem_total
    assert ("user", MORE) in texts(next(iter(found.values())))


SEVERAL = [
    turns(chatml) + "\n" + turns(chatml),
    turns(llama3).join(["<|begin_of_text|>"] * 3).removesuffix("<|begin_of_text|>"),
    f"<s>[INST] {HI} [/INST] {HELLO}</s>\n<s>[INST] {HI} [/INST] {HELLO}</s>\n",
    f"USER: {HI} ASSISTANT: {HELLO}</s>\nUSER: {HI} ASSISTANT: {HELLO}</s>\n",
    f"{turns(phi, '')}<|endoftext|>\n{turns(phi, '')}<|endoftext|>\n",
    f"<s>[INST] <<SYS>>\n{SYSTEM}\n<</SYS>>\n\n{HI} [/INST] {HELLO} </s>\n" * 2,
]


@pytest.mark.parametrize("text", SEVERAL)
def test_a_plain_text_may_hold_several_conversations(text: str, tmp_path: Path) -> None:
    found, _ = convert(write(tmp_path, text, "a.txt"))
    [one, two] = map(texts, found.values())
    assert one == two == QUESTION[: len(one)]


def test_two_system_prompts_are_both_kept(tmp_path: Path) -> None:
    text = harmony("system", "You are a model.") + harmony("developer", SYSTEM) + harmony("user", HI)
    found, _ = convert(write(tmp_path, [{"text": text + harmony("assistant", HELLO, "final")}], "a.jsonl"))
    [said] = found.values()
    assert said[0].metadata == {"system_prompt": f"You are a model.\n\n{SYSTEM}"}


def test_the_command_converts_a_text_in_a_template(tmp_path: Path) -> None:
    write(tmp_path, [{"text": turns(chatml)}], "a.jsonl")
    done = run_in_process("convert_dataset", "--input", "a.jsonl", "--out", "-", cwd=tmp_path)
    assert done.returncode == 0
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == [text for _, text in QUESTION]
    write(tmp_path, [{"text": f"See {chatml('user', HI)}"}], "b.jsonl")
    done = run_in_process("convert_dataset", "--input", "b.jsonl", "--out", "-", cwd=tmp_path)
    assert done.returncode == 2
    assert "ChatML" in str(done.stderr)
