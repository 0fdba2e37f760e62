# ruff: noqa: E501
"""More exports, in the same form as :mod:`tests.traces.exports`."""

from typing import Any

from tests.traces.exports import GIVEN, GROWN, HELLO, HI, MORE, ONE, SURE, T1, T2, TWO, lc
from tests.traces.reading import otlp

REPLY = {"role": "assistant", "content": HELLO}
STRANDS = otlp(
    {"name": "invoke_agent", "spanId": "1" * 16, "attributes": {"gen_ai.operation.name": "invoke_agent"}, "events": [
        {"name": "gen_ai.user.message", "content": [{"text": HI}]}, {"name": "gen_ai.choice", "message": HELLO, "finish_reason": "end_turn"}]},
    {"name": "chat", "spanId": "2" * 16, "parentSpanId": "1" * 16, "start": 2, "attributes": {"gen_ai.operation.name": "chat"}, "events": [
        {"name": "gen_ai.user.message", "content": [{"text": HI}]},
        {"name": "gen_ai.choice", "message": [{"text": "Let me see."}, {"toolUse": {"toolUseId": "t", "name": "hours", "input": {}}}]}]},
)  # fmt: skip
AZURE = otlp(
    {"attributes": {"gen_ai.operation.name": "chat", "gen_ai.system": "az.ai.inference"}, "events": [
        {"name": "gen_ai.system.message", "gen_ai.event.content": {"role": "system", "content": "Be short."}},
        {"name": "gen_ai.user.message", "gen_ai.event.content": {"role": "user", "content": HI}},
        {"name": "gen_ai.choice", "gen_ai.event.content": {"message": {"content": HELLO}, "finish_reason": "stop", "index": 0}}]},
)  # fmt: skip
PYDANTIC = otlp(
    {"name": "agent run", "spanId": "1" * 16, "attributes": {"gen_ai.agent.name": "a", "gen_ai.operation.name": "invoke_agent", "final_result": HELLO,
     "pydantic_ai.all_messages": [{"role": "user", "parts": [{"type": "text", "content": HI}]}, {"role": "assistant", "parts": [{"type": "text", "content": HELLO}]}]}},
)  # fmt: skip
TRACELOOP = otlp(
    {"name": "flow.workflow", "spanId": "1" * 16, "attributes": {"traceloop.span.kind": "workflow",
     "traceloop.entity.input": {"inputs": {"messages": [lc("HumanMessage", HI)]}, "tags": [], "kwargs": {}},
     "traceloop.entity.output": {"outputs": {"messages": [lc("HumanMessage", HI), lc("AIMessage", HELLO)]}}}},
    {"name": "embed", "spanId": "2" * 16, "parentSpanId": "1" * 16, "start": 2, "attributes": {"llm.request.type": "embedding", "gen_ai.prompt.0.content": HI}},
)  # fmt: skip
EMBEDDINGS = otlp(
    {"attributes": {"openinference.span.kind": "EMBEDDING", "input.value": HI, "output.value": "[0.1]"}}
)
COMPLETION = otlp(
    {
        "attributes": {
            "openinference.span.kind": "LLM",
            "llm.prompts.0.prompt.text": HI,
            "llm.choices.0.completion.text": HELLO,
        }
    }
)
RETRIED = otlp(
    {"spanId": "1" * 16, "start": 1, "status": {"code": 2, "message": "overloaded"}, "attributes": {"gen_ai.operation.name": "chat",
     "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": HI}]}]}},
    {"spanId": "2" * 16, "start": 2, "attributes": {"gen_ai.operation.name": "chat",
     "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": HI}]}],
     "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": HELLO}], "finish_reason": "stop"}]}},
)  # fmt: skip
NO_HISTORY = otlp(
    *({"traceId": f"{n}" * 32, "spanId": f"{n}" * 16, "start": n, "attributes": {"gen_ai.operation.name": "chat", "session.id": "s",
       "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": question}]}],
       "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": answer}]}]}}
      for n, question, answer in ((2, MORE, SURE), (1, HI, HELLO)))
)  # fmt: skip
LANGFUSE_ADK = {"id": "t", "timestamp": T1, "sessionId": None, "userId": None, "input": None, "output": None, "observations": [
    {"id": "g", "traceId": "t", "type": "GENERATION", "startTime": T1, "endTime": T2, "model": "gemini",
     "input": {"model": "gemini", "config": {"system_instruction": "Be short."}, "contents": [{"parts": [{"text": HI}], "role": "user"}]},
     "output": {"content": {"parts": [{"text": HELLO}], "role": "model"}, "finish_reason": "STOP"}}]}  # fmt: skip
LANGSMITH_ANTHROPIC = {"post": [{"id": "r", "trace_id": "r", "dotted_order": "20240501T100000000000Zr", "run_type": "llm", "name": "ChatAnthropic",
    "start_time": T1, "inputs": {"model": "m", "system": "Be short.", "messages": GIVEN}}],
    "patch": [{"id": "r", "trace_id": "r", "dotted_order": "20240501T100000000000Zr", "end_time": T2,
    "outputs": {"id": "msg", "type": "message", "role": "assistant", "content": [{"type": "text", "text": HELLO}], "stop_reason": "end_turn"}}]}  # fmt: skip
GEMINI_STREAM = [
    {"candidates": [{"content": {"parts": [{"text": piece}], "role": "model"}}], "modelVersion": "m", "responseId": "r", "usageMetadata": {}}
    for piece in ("Yes, ", "until six.")
]  # fmt: skip
SDK_STREAM = [{"type": "stream-start", "warnings": []}, {"type": "response-metadata", "id": "r", "modelId": "m"}, {"type": "text-start", "id": "0"},
              {"type": "text-delta", "id": "0", "delta": "Yes, "}, {"type": "text-delta", "id": "0", "delta": "until six."}, {"type": "finish"}]  # fmt: skip
CONVERSE = [{"request": {"modelId": "m", "messages": [{"role": "user", "content": [{"text": HI}]}]},
             "response": {"output": {"message": {"role": "assistant", "content": [{"text": HELLO}]}}, "stopReason": "end_turn"}}]  # fmt: skip
THREAD = {"object": "list", "data": [
    {"id": "m2", "object": "thread.message", "created_at": 1714557660, "role": "assistant", "content": [{"type": "text", "text": {"value": HELLO, "annotations": []}}]},
    {"id": "m1", "object": "thread.message", "created_at": 1714557600, "role": "user", "content": [{"type": "text", "text": {"value": HI, "annotations": []}}]}]}  # fmt: skip
TUNE_PREFERENCE = [
    {
        "input": {"messages": GIVEN, "tools": []},
        "preferred_output": [REPLY],
        "non_preferred_output": [{"role": "assistant", "content": "No."}],
    }
]
STATES = [
    {"values": {"messages": [lc("HumanMessage", text) if n % 2 == 0 else lc("AIMessage", text) for n, text in enumerate(TWO[0][:size])]},
     "next": [], "config": {"configurable": {"thread_id": "t"}}, "created_at": T1}
    for size in (4, 3, 2, 1)
]  # fmt: skip
MEMORY = {
    "token_limit": 3000,
    "chat_store": {
        "store": {"chat_history": [{"role": "user", "content": HI}, REPLY]},
        "class_name": "SimpleChatStore",
    },
    "chat_store_key": "chat_history",
}
PROMPT_VALUE = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain", "prompts", "chat", "ChatPromptValue"],
    "kwargs": {"messages": [lc("HumanMessage", HI), lc("AIMessage", HELLO)]},
}
CHATML = [
    {
        "text": f"<|im_start|>system\nBe short.<|im_end|>\n<|im_start|>user\n{HI}<|im_end|>\n<|im_start|>assistant\n{HELLO}<|im_end|>\n"
    }
]
GUANACO = [{"text": f"### Human: {HI}### Assistant: {HELLO}"}]
BY_NAME = {"c1": [*GIVEN, REPLY], "c2": [*GROWN, {"role": "assistant", "content": SURE}]}
CHAT_TASK = [{"id": 1, "data": {"title": "x"}, "annotations": [{"id": 1, "completed_by": 1, "was_cancelled": False, "result": [
    {"type": "chatmessage", "from_name": "chat", "value": {"chatmessage": {"role": "user", "content": HI}}},
    {"type": "chatmessage", "from_name": "chat", "value": {"chatmessage": {"role": "assistant", "content": HELLO}}}]}]}]  # fmt: skip
PIECES = [{"id": n, "data": {"chat": [{"role": "user" if i % 2 == 0 else "assistant", "content": text} for i, text in enumerate(TWO[0][:n])]},
           "annotations": [{"completed_by": 1, "result": [{"from_name": "tone", "type": "choices", "value": {"choices": ["good"]}}]}]} for n in (2, 4)]  # fmt: skip
JSON_MIN = [
    {
        "id": 1,
        "dialogue": [{"speaker": "Anna", "text": HI}, {"speaker": "Bot", "text": HELLO}],
        "tone": "good",
        "annotator": 1,
        "annotation_id": 2,
        "lead_time": 3.1,
    }
]
HUB = [
    {
        "id": "1",
        "prompt": HI,
        "response": HELLO,
        "tone.responses": ["good", "bad"],
        "tone.responses.users": ["u", "v"],
        "tone.responses.status": ["submitted", "submitted"],
    }
]
PARTS = [{"type": "conversation_part", "id": str(n), "conversation_id": "7", "part_type": "comment", "body": f"<p>{text}</p>", "created_at": 1714557600 + n,
          "author": {"type": who}} for n, who, text in ((2, "admin", HELLO), (1, "user", HI))]  # fmt: skip
AUDITS = {"ticket": {"id": 3, "requester_id": 11}, "audits": [
    {"created_at": T1, "author_id": 11, "events": [{"type": "Comment", "body": HI, "public": True, "author_id": 11}, {"type": "Create"}]},
    {"created_at": T2, "author_id": 22, "events": [{"type": "Comment", "body": HELLO, "public": True, "author_id": 22}]}]}  # fmt: skip
SUNSHINE = {"messages": [{"id": "1", "received": T1, "author": {"type": "user"}, "content": {"type": "text", "text": HI}},
                         {"id": "2", "received": T2, "author": {"type": "business"}, "content": {"type": "text", "text": HELLO}}]}  # fmt: skip
CHAT_EVENTS = [{"id": "z", "visitor": {"name": "Anna"}, "type": "chat", "history": [
    {"type": "chat.memberjoin", "timestamp": T1}, {"type": "chat.msg", "name": "Anna", "sender_type": "Visitor", "msg": HI, "timestamp": T1},
    {"type": "chat.msg", "name": "Ben", "sender_type": "Agent", "msg": HELLO, "timestamp": T2}]}]  # fmt: skip
AMERICAN = f"5/1/24, 10:00 AM - Messages and calls are end-to-end encrypted. No one outside can read them.\n5/1/24, 10:00 AM - Anna: {HI}\n5/13/24, 9:05\u202fPM - Shop: {HELLO}\n"
GERMAN = f"01.05.24, 10:00 - Anna: {HI}\n01.05.24, 10:01 - Shop: {HELLO}\n01.05.24, 10:02 - Anna: <Medien ausgeschlossen>\n"
TURN_ARRAY = [
    {"session_id": "s", "turn_index": n, "role": role, "text": text}
    for n, role, text in ((1, "user", HI), (2, "assistant", HELLO))
]
CODEX = [{"timestamp": T1, "type": "session_meta", "payload": {"id": "cx"}},
    {"timestamp": T1, "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<environment_context>\ncwd\n</environment_context>"}]}},
    {"timestamp": T1, "type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": HI}]}},
    {"timestamp": T1, "type": "response_item", "payload": {"type": "function_call", "name": "shell", "arguments": "{}", "call_id": "c"}},
    {"timestamp": T1, "type": "response_item", "payload": {"type": "function_call_output", "call_id": "c", "output": "ok"}},
    {"timestamp": T2, "type": "response_item", "payload": {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": HELLO}]}}]  # fmt: skip
SEMICOLONS = f'Datum;Absender;Nachricht\n"1";"Anna";"{HI}"\n'

STATE_SPAN = otlp(
    {
        "attributes": {
            "openinference.span.kind": "CHAIN",
            "input.value": {"messages": [{"type": "human", "content": MORE}]},
            "output.value": {
                "messages": [
                    {"type": "human" if n % 2 == 0 else "ai", "content": text}
                    for n, text in enumerate(TWO[0])
                ]
            },
        }
    }
)

MORE_EXPORTS: list[tuple[str, str, Any, str, list[list[str]]]] = [
    ("Strands", "x.json", STRANDS, "otel", ONE),
    ("Azure AI inference", "x.json", AZURE, "otel", ONE),
    ("Pydantic AI", "x.json", PYDANTIC, "otel", ONE),
    ("workflow of LangChain", "x.json", TRACELOOP, "otel", ONE),
    ("embeddings", "x.json", EMBEDDINGS, "openinference", []),
    ("text completion", "x.json", COMPLETION, "openinference", ONE),
    ("retried call", "x.json", RETRIED, "otel", ONE),
    ("no history, by session", "x.json", NO_HISTORY, "otel", TWO),
    ("Langfuse with Gemini", "x.json", LANGFUSE_ADK, "langfuse", ONE),
    ("LangSmith with Anthropic", "x.json", LANGSMITH_ANTHROPIC, "langsmith", ONE),
    ("Converse", "x.jsonl", CONVERSE, "calls", ONE),
    ("thread of an assistant", "x.json", THREAD, "messages", ONE),
    ("preference tuning", "x.jsonl", TUNE_PREFERENCE, "messages", ONE),
    ("states of a thread", "x.json", STATES, "messages", TWO),
    ("LlamaIndex memory", "x.json", MEMORY, "messages", ONE),
    ("LangChain prompt", "x.json", PROMPT_VALUE, "messages", ONE),
    ("ChatML", "x.jsonl", CHATML, "messages", ONE),
    ("Guanaco", "x.jsonl", GUANACO, "messages", ONE),
    (
        "embeddings and a chat",
        "x.jsonl",
        [
            {"request": {"input": HI, "model": "e"}, "response": {"object": "list", "data": [{"object": "embedding", "embedding": [0.1]}]}},
            {"request": {"input": HI}, "response": {"id": "modr-1", "results": [{"flagged": False}]}},
            {"request": {"messages": GIVEN}, "response": {"choices": [{"message": REPLY}]}},
        ],
        "calls",
        ONE,
    ),
    ("list of conversations", "x.json", {"conversations": [{"id": "a", "messages": [*GIVEN, REPLY]}, {"id": "b", "messages": [*GIVEN, REPLY]}]}, "messages", [*ONE, *ONE]),
    ("conversations by name", "x.json", {"a": {"title": "x", "messages": [*GIVEN, REPLY]}}, "messages", ONE),
    ("rows of the hub", "x.json", {"features": [], "rows": [{"row_idx": 0, "row": {"messages": [*GIVEN, REPLY]}}]}, "messages", ONE),
    ("Gradio", "x.json", {"chat_history": [[HI, HELLO], [MORE, SURE]]}, "messages", TWO),
    ("state with history", "x.json", STATE_SPAN, "openinference", TWO),
    ("by name", "x.json", BY_NAME, "messages", [*ONE, *TWO]),
    ("Label Studio chat", "x.json", CHAT_TASK, "labelstudio", ONE),
    ("Label Studio pieces", "x.json", PIECES, "labelstudio", TWO),
    ("Label Studio JSON_MIN", "x.json", JSON_MIN, "labelstudio", ONE),
    ("Argilla on the hub", "x.jsonl", HUB, "argilla", ONE),
    ("Intercom parts", "x.jsonl", PARTS, "intercom", ONE),
    ("Zendesk audits", "x.json", AUDITS, "zendesk", ONE),
    ("Zendesk messaging", "x.json", SUNSHINE, "messages", ONE),
    ("Zendesk chat", "x.jsonl", CHAT_EVENTS, "zendesk", ONE),
    ("WhatsApp, American", "x.txt", AMERICAN, "whatsapp", ONE),
    ("WhatsApp, German", "x.txt", GERMAN, "whatsapp", ONE),
    ("turns in an array", "x.json", TURN_ARRAY, "messages", ONE),
    ("Codex", "x.jsonl", CODEX, "agentlog", ONE),
]  # fmt: skip
STREAMS = [("Gemini", GEMINI_STREAM), ("AI SDK", SDK_STREAM)]
