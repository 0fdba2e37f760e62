# ruff: noqa: E501
"""Small exports of many tools, as those tools write them, each with the conversations that it holds.

(name, file name, content, format, conversations as lists of texts, the person's first)
"""

import json
from typing import Any

from tests.traces.reading import otlp

HI, HELLO, MORE, SURE = (
    "Hi, is the shop open?",
    "Yes, until six.",
    "And on Sunday?",
    "On Sunday it is closed.",
)
ONE = [[HI, HELLO]]
TWO = [[HI, HELLO, MORE, SURE]]
CALL = {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "hours", "arguments": "{}"}}]}
GIVEN = [{"role": "user", "content": HI}]
GROWN = [*GIVEN, {"role": "assistant", "content": HELLO}, {"role": "user", "content": MORE}]
T1, T2 = "2024-05-01T10:00:00Z", "2024-05-01T10:00:05Z"


def prompts(*messages: dict[str, str], reply: str) -> dict[str, Any]:
    """OpenLLMetry's attributes."""
    found = {
        "llm.request.type": "chat",
        "gen_ai.completion.0.content": reply,
        "gen_ai.completion.0.role": "assistant",
    }
    for number, message in enumerate(messages):
        found |= {f"gen_ai.prompt.{number}.{key}": value for key, value in message.items()}
    return found


def span(name: str, span_id: str, parent: str, start: int, **attributes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "spanId": span_id * 16,
        "parentSpanId": parent * 16,
        "start": start,
        "attributes": attributes,
    }


def flat(attributes: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value if isinstance(value, str | int) else json.dumps(value) for key, value in attributes.items()
    }


GROWING = otlp(
    {"traceId": "a" * 32, "spanId": "1" * 16, "start": 1, "attributes": prompts(*GIVEN, reply=HELLO)},
    {"traceId": "b" * 32, "spanId": "2" * 16, "start": 9, "attributes": prompts(*GROWN, reply=SURE)},
)
SDK = otlp(
    {**span("ai.generateText", "1", "", 1), "attributes": {"ai.operationId": "ai.generateText",
     "ai.prompt": {"system": "Be short.", "prompt": HI}, "ai.response.text": HELLO,
     "ai.telemetry.metadata.chatId": "c"}},
    {**span("ai.generateText.doGenerate", "2", "1", 2), "attributes": {"ai.operationId":
    "ai.generateText.doGenerate",
     "ai.prompt.messages": [{"role": "user", "content": [{"type": "text", "text": HI}]}],
     "ai.response.toolCalls": [{"toolCallId": "t", "toolName": "hours", "args": "{}"}],
     "ai.response.finishReason": "tool-calls"}},
    {**span("ai.toolCall", "3", "1", 3), "attributes": {"ai.operationId": "ai.toolCall", "ai.toolCall.name":
    "hours"}},
    {**span("ai.generateText.doGenerate", "4", "1", 4), "attributes": {"ai.operationId":
    "ai.generateText.doGenerate",
     "ai.prompt.messages": [{"role": "user", "content": [{"type": "text", "text": HI}]},
                            {"role": "assistant", "content": [{"type": "tool-call", "toolCallId": "t",
                             "toolName": "hours", "args": {}}]},
                            {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "t",
                             "toolName": "hours", "result": "9-18"}]}],
     "ai.response.text": HELLO, "ai.response.finishReason": "stop", "ai.usage.promptTokens": 9}},
    {**span("ai.embed", "5", "", 5), "attributes": {"ai.operationId": "ai.embed", "ai.value": "x"}},
)  # fmt: skip
SUB_AGENTS = otlp(
    {**span("invoke_agent shop", "1", "", 1), "attributes": {"gen_ai.operation.name": "invoke_agent"}},
    {**span("chat", "2", "1", 2), "attributes": {"gen_ai.operation.name": "chat", **prompts(*GIVEN,
    reply="")}},
    {**span("execute_tool", "3", "1", 3), "attributes": {"gen_ai.operation.name": "execute_tool"}},
    {**span("chat", "4", "3", 4), "attributes": {"gen_ai.operation.name": "chat", **prompts({"role": "user",
    "content": "Look it up."}, reply="9-18")}},
    {**span("chat", "5", "1", 5), "attributes": {"gen_ai.operation.name": "chat", **prompts(*GIVEN,
    reply=HELLO)}},
)  # fmt: skip
CONSOLE = "\n".join(
    json.dumps(
        {"name": "chat", "context": {"trace_id": "0xaa", "span_id": f"0x{number}"}, "kind":
         "SpanKind.CLIENT", "parent_id": None,
         "start_time": f"2024-05-01T10:00:0{number}.000000Z", "end_time":
         f"2024-05-01T10:00:0{number}.500000Z",
         "status": {"status_code": "UNSET"}, "attributes": flat({"gen_ai.operation.name": "chat",
         "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": question}]}],
         "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content":
         answer}]}]}), "events": []},
        indent=4,
    )
    for number, question, answer in ((1, HI, HELLO), (2, MORE, SURE))
)  # fmt: skip
LOGS = {
    "resourceLogs": [{"scopeLogs": [{"logRecords": [
        {"timeUnixNano": "1700000000000000000", "traceId": "ab" * 16, "spanId": "cd" * 8,
         "attributes": [{"key": "event.name", "value": {"stringValue": name}}],
         "body": {"kvlistValue": {"values": [{"key": key, "value": value} for key, value in body.items()]}}}
        for name, body in (
            ("gen_ai.user.message", {"content": {"stringValue": HI}}),
            ("gen_ai.choice", {"index": {"intValue": "0"}, "message": {"kvlistValue": {"values": [
                {"key": "content", "value": {"stringValue": HELLO}}, {"key": "role", "value":
                 {"stringValue": "assistant"}}]}}}),
        )
    ]}]}]
}  # fmt: skip
PHOENIX = {"data": [
    {"name": "ChatCompletion", "context": {"trace_id": "t1", "span_id": "s1"}, "span_kind": "LLM",
     "parent_id": None,
     "start_time": T1, "end_time": T2, "status_code": "OK", "events": [],
     "attributes": {"llm": {"model_name": "m", "input_messages": [{"message": {"role": "user", "content":
                    HI}}],
                            "output_messages": [{"message": {"role": "assistant", "content": HELLO}}]},
                    "openinference": {"span": {"kind": "LLM"}}, "session": {"id": "p1"}}}
]}  # fmt: skip
PHOENIX_ROWS = [
    {"name": "llm", "span_kind": "LLM", "parent_id": None, "start_time": 1714557600000, "end_time":
     1714557601000,
     "context.trace_id": "t1", "context.span_id": "s1", "attributes.llm.model_name": "m",
     "attributes.llm.input_messages": [{"message.role": "user", "message.content": HI}],
     "attributes.llm.output_messages": [{"message.role": "assistant", "message.content": HELLO}]}
]  # fmt: skip
ZIPKIN = [
    {"traceId": "aa", "id": "1", "name": "chat", "timestamp": 1714557600000000, "duration": 5000, "kind":
     "CLIENT",
     "tags": flat(prompts(*GIVEN, reply=HELLO))}
]  # fmt: skip
TEMPO = {"batches": [{"resource": {}, "instrumentationLibrarySpans": [
    {"spans": otlp({"attributes": prompts(*GIVEN,
    reply=HELLO)})["resourceSpans"][0]["scopeSpans"][0]["spans"]}]}]}  # fmt: skip
METRICS_FIRST = [{"resourceMetrics": []}, GROWING, {"resourceLogs": []}]

OBSERVATIONS = [
    {"id": f"g{number}", "trace_id": f"t{number}", "type": "GENERATION", "start_time": f"2024-05-01 10:00:0{number}.000",
     "end_time": f"2024-05-01 10:00:0{number}.900", "session_id": "s", "provided_model_name": "m",
     "input": json.dumps(given), "output": json.dumps({"role": "assistant", "content": reply}),
     "usage_details": {"input": 3}}
    for number, given, reply in ((1, GIVEN, HELLO), (2, GROWN, SURE))
]  # fmt: skip
INGESTION = {"batch": [
    {"id": "e1", "type": "trace-create", "timestamp": T1, "body": {"id": "t", "sessionId": "s", "userId":
     "u", "input": HI, "output": HELLO}},
    {"id": "e2", "type": "generation-create", "timestamp": T1, "body": {"id": "g", "traceId": "t", "input":
     GIVEN, "startTime": T1}},
    {"id": "e3", "type": "generation-update", "timestamp": T2, "body": {"id": "g", "output": {"role":
     "assistant", "content": HELLO}}},
]}  # fmt: skip
TRACES_ONLY = [
    {"id": "t1", "timestamp": T1, "name": "chat", "userId": "u", "sessionId": "s", "input": {"question":
     HI}, "output": {"answer": HELLO}},
    {"id": "t2", "timestamp": T2, "name": "chat", "userId": "u", "sessionId": "s", "input": {"question":
     MORE}, "output": {"answer": SURE}},
]  # fmt: skip


def lc(kind: str, content: str) -> dict[str, Any]:
    return {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", kind],
        "kwargs": {"content": content},
    }


RUNS = [
    {"id": "r1", "trace_id": "r1", "run_type": "chain", "name": "RunnableSequence", "start_time": T1,
     "end_time": T2,
     "inputs": {"input": HI}, "outputs": {"output": HELLO}, "parent_run_id": None, "child_runs": [
        {"id": "r2", "trace_id": "r1", "run_type": "llm", "parent_run_id": "r1", "start_time": T1,
         "end_time": T2,
         "inputs": {"messages": [[lc("SystemMessage", "Be short."), lc("HumanMessage", HI)]]},
         "outputs": {"generations": [[{"text": HELLO, "generation_info": {"finish_reason": "stop"},
                     "message": lc("AIMessage", HELLO)}]],
                     "llm_output": {"token_usage": {"prompt_tokens": 3, "completion_tokens": 2}}}}]}
]  # fmt: skip

BATCH = [
    {"custom_id": "a", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages":
     GIVEN}},
    {"id": "b1", "custom_id": "a", "error": None, "response": {"status_code": 200, "body": {
        "object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": HELLO}}]}}},
]  # fmt: skip
ANTHROPIC_BATCH = [
    {"custom_id": "a", "params": {"model": "m", "system": "Be short.", "messages": GIVEN}},
    {"custom_id": "a", "result": {"type": "succeeded", "message": {"type": "message", "role": "assistant",
     "stop_reason": "end_turn",
                                                                    "content": [{"type": "text", "text":
                                                                    HELLO}]}}},
]  # fmt: skip
RESPONSES = [
    {"request": {"model": "m", "input": question, **({"previous_response_id": previous} if previous else {})},
     "response": {"id": name, "object": "response", "created_at": time, "output": [
         {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Look."}]},
         {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": answer}]}]}}
    for name, previous, time, question, answer in (("r1", None, 1714557600, HI, HELLO), ("r2", "r1",
    1714557660, MORE, SURE))
]  # fmt: skip
STORED = {"object": "list", "data": [
    {"object": "chat.completion", "id": "c1", "created": 1714557600, "model": "m", "messages": GIVEN,
     "choices": [{"index": 0, "message": {"role": "assistant", "content": HELLO}, "finish_reason":
     "stop"}]}]}  # fmt: skip
SSE = "".join(
    f"data: {json.dumps({'id': 'x', 'object': 'chat.completion.chunk', 'choices': [{'delta': {'content': piece}}]})}\n\n"
    for piece in ("Yes, ", "until ", "six.")
) + "data: [DONE]\n\n"  # fmt: skip
STREAMED = [{"request": {"model": "m", "messages": GIVEN, "stream": True}, "response": SSE}]
ERRORS = [
    {"request": {"messages": GIVEN}, "response": {"error": {"message": "overloaded"}}, "status": 529},
    {"request": {"messages": GIVEN}, "response": {"choices": [{"message": {"role": "assistant", "content":
     HELLO}}]}, "status": 200},
]  # fmt: skip
LITELLM = [{"id": "l", "call_type": "acompletion", "model": "m", "messages": GIVEN, "startTime": 1714557600.1,
            "response": {"choices": [{"message": {"role": "assistant", "content": HELLO}}]}}]  # fmt: skip
HELICONE = [{"request_id": "h", "request_body": json.dumps({"messages": GIVEN}), "request_created_at": T1,
             "response_body": json.dumps({"choices": [{"message": {"role": "assistant", "content":
             HELLO}}]})}]  # fmt: skip
GEMINI = {"contents": [{"role": "user", "parts": [{"text": HI}]}, {"role": "model", "parts": [
    {"functionCall": {"name": "hours", "args": {}}}]}, {"role": "user", "parts": [{"functionResponse":
     {"name": "hours", "response": {}}}]},
    {"role": "model", "parts": [{"text": HELLO}]}]}  # fmt: skip

LANGCHAIN = {"messages": [{"type": "human", "data": {"content": HI}}, {"type": "ai", "data": {"content":
             HELLO}},
                          {"type": "human", "data": {"content": MORE}}, {"type": "ai", "data": {"content":
                          SURE}}]}  # fmt: skip
CHECKPOINT = {
    "v": 1,
    "id": "cp",
    "channel_values": {"messages": [lc("HumanMessage", HI), lc("AIMessage", HELLO)]},
}
CHAT_STORE = {"store": {"anna": [{"role": "user", "content": HI, "additional_kwargs": {}},
                                 {"role": "assistant", "content": HELLO, "additional_kwargs": {}}]},
                                 "class_name": "SimpleChatStore"}  # fmt: skip
BLOCKS = {"chat_history": [{"role": "MessageRole.USER", "blocks": [{"block_type": "text", "text": HI}]},
                           {"role": "MessageRole.ASSISTANT", "blocks": [{"block_type": "text", "text":
                           HELLO}]}]}  # fmt: skip
UI_MESSAGES = {"id": "ui1", "messages": [
    {"id": "1", "role": "user", "parts": [{"type": "text", "text": HI}, {"type": "file", "mediaType":
     "image/png", "url": "data:"}]},
    {"id": "2", "role": "assistant", "parts": [{"type": "step-start"}, {"type": "reasoning", "text": "Look."},
        {"type": "tool-hours", "toolCallId": "t", "state": "output-available", "input": {}, "output": "9-18"},
        {"type": "text", "text": HELLO}]}]}  # fmt: skip
SHAREGPT = [{"id": "1", "conversations": [{"from": "human", "value": HI}, {"from": "gpt", "value": HELLO}]}]
HH = [{"chosen": f"\n\nHuman: {HI}\n\nAssistant: {HELLO}", "rejected": f"\n\nHuman: {HI}\n\nAssistant: No."}]
DPO = [{"prompt": HI, "chosen": HELLO, "rejected": "No."}]
DPO_MESSAGES = [
    {
        "prompt": HI,
        "chosen": [*GIVEN, {"role": "assistant", "content": HELLO}],
        "rejected": [*GIVEN, {"role": "assistant", "content": "No."}],
    }
]
ULTRACHAT = [{"id": "0", "data": [HI, HELLO, MORE, SURE]}]
OASST = [{"message_tree_id": "m", "tree_state": "ready_for_export", "prompt": {"message_id": "m", "text":
HI, "role": "prompter",
          "replies": [{"message_id": "n", "parent_id": "m", "text": HELLO, "role": "assistant", "rank": 0,
          "replies": []},
                      {"message_id": "o", "parent_id": "m", "text": "No.", "role": "assistant", "rank": 1,
                      "replies": []}]}}]  # fmt: skip
ALPACA = [{"instruction": HI, "input": "", "output": HELLO}]
BELLE = [{"conversation": [{"human": HI, "assistant": HELLO}, {"human": MORE, "assistant": SURE}]}]
CLAUDE_CODE = [
    {"type": "summary", "summary": "Shop", "leafUuid": "x"},
    {"type": "user", "sessionId": "s", "uuid": "1", "timestamp": T1, "isMeta": True, "message": {"role":
     "user", "content": "Caveat: …"}},
    {"type": "user", "sessionId": "s", "uuid": "2", "timestamp": T1, "message": {"role": "user", "content":
     HI}},
    {"type": "assistant", "sessionId": "s", "uuid": "3", "timestamp": T2, "message": {"role": "assistant",
     "model": "m",
     "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]}},
    {"type": "user", "sessionId": "s", "uuid": "4", "timestamp": T2, "message": {"role": "user",
     "content": [{"type": "tool_result", "tool_use_id": "t", "content": "9-18"}]}},
    {"type": "assistant", "sessionId": "s", "uuid": "5", "timestamp": T2, "message": {"role": "assistant",
     "content": [{"type": "text", "text": HELLO}]}},
    {"type": "user", "sessionId": "s", "uuid": "6", "isSidechain": True, "message": {"role": "user",
     "content": "Sub-task"}},
]  # fmt: skip


def node(name: str, parent: str | None, role: str, text: str, time: int, **more: Any) -> dict[str, Any]:
    message = {"id": name, "author": {"role": role}, "content": {"content_type": "text", "parts": [text]},
               "create_time": time,
               "metadata": {"model_slug": "m"}, "recipient": "all", **more}  # fmt: skip
    return {"id": name, "parent": parent, "children": [], "message": message}


CHATGPT = [{"title": "Shop", "conversation_id": "c1", "current_node": "4", "mapping": {
    "0": {"id": "0", "parent": None, "children": ["1"], "message": None},
    "1": node("1", "0", "user", HI, 1714557600), "2b": node("2b", "1", "assistant", "No idea.", 1714557601),
    "2": node("2", "1", "assistant", "search()", 1714557602, recipient="browser"),
    "3": node("3", "2", "tool", "Results", 1714557603), "4": node("4", "3", "assistant", HELLO,
    1714557604)}}]  # fmt: skip
OPEN_WEBUI = [{"id": "w1", "user_id": "u", "title": "Shop", "chat": {"title": "Shop", "models": ["m"],
"history": {"currentId": "3", "messages": {
    "1": {"id": "1", "parentId": None, "childrenIds": ["2", "3"], "role": "user", "content": HI,
    "timestamp": 1714557600},
    "2": {"id": "2", "parentId": "1", "role": "assistant", "content": "No.", "model": "m", "timestamp":
    1714557601},
    "3": {"id": "3", "parentId": "1", "role": "assistant", "content": HELLO, "model": "m", "timestamp":
    1714557602}}},
    "messages": []}}]  # fmt: skip
CLAUDE = [{"uuid": "cl", "name": "Shop", "chat_messages": [
    {"uuid": "1", "sender": "human", "text": HI, "content": [{"type": "text", "text": HI}], "created_at": T1},
    {"uuid": "2", "sender": "assistant", "text": HELLO, "content": [{"type": "text", "text": HELLO}],
    "created_at": T2}]}]  # fmt: skip
INTERCOM = {"type": "conversation", "id": "7", "created_at": 1714557600, "source": {"body": f"<p>{HI}</p>",
            "author": {"type": "user", "name": "Anna"}},
    "conversation_parts": {"type": "conversation_part.list", "conversation_parts": [
        {"part_type": "comment", "body": f"<p>{SURE}</p>", "created_at": 1714557900, "author": {"type":
         "admin"}},
        {"part_type": "comment", "body": f"<div>{MORE}</div>", "created_at": 1714557800, "author": {"type":
         "user"}},
        {"part_type": "note", "body": "<p>Annoying</p>", "created_at": 1714557750, "author": {"type":
         "admin"}},
        {"part_type": "close", "body": None, "created_at": 1714557950, "author": {"type": "admin"}},
        {"part_type": "comment", "body": f"<p>{HELLO}</p>", "created_at": 1714557700, "author": {"type":
        "bot"}}]}}  # fmt: skip
ZENDESK = [{"id": 3, "subject": "Hours", "requester_id": 11, "description": HI, "created_at": T1, "status":
"open", "comments": [
    {"id": 2, "author_id": 22, "public": True, "plain_body": HELLO, "created_at": T2},
    {"id": 4, "author_id": 22, "public": False, "plain_body": "internal", "created_at": T2},
    {"id": 1, "author_id": 11, "public": True, "plain_body": HI, "created_at": T1}]}]  # fmt: skip
FRESHDESK = [{"id": 5, "subject": "Hours", "description": f"<div>{HI}</div>", "description_text": HI,
"requester_id": 1, "created_at": T1,
    "conversations": [{"id": 2, "body_text": SURE, "incoming": False, "private": False, "created_at":
    "2024-05-01T10:03:00Z"},
        {"id": 1, "body_text": HELLO, "incoming": False, "private": False, "created_at":
         "2024-05-01T10:01:00Z"},
        {"id": 9, "body_text": "secret", "incoming": False, "private": True, "created_at":
         "2024-05-01T10:01:30Z"},
        {"id": 3, "body_text": MORE, "incoming": True, "private": False, "created_at":
        "2024-05-01T10:02:00Z"}]}]  # fmt: skip
IPHONE = (
    "\u200e[01.05.24, 10:00:01] Anna: \u200eMessages and calls are end-to-end encrypted.\n[01.05.24, 10:00:12] Anna: Hi, is the\nshop open?\n"
    "[01.05.24, 10:01:00] Shop: Yes, until six.\n\u200e[01.05.24, 10:02:00] Anna: \u200eimage omitted\n"
)
TELEGRAM = {"chats": {"list": [{"name": "Shop", "type": "personal_chat", "id": 9, "messages": [
    {"id": 1, "type": "service", "date": "2024-05-01T10:00:00", "action": "joined", "actor_id": "user1"},
    {"id": 2, "type": "message", "date": "2024-05-01T10:00:00", "from": "Anna", "from_id": "user1", "text":
     ["Hi, is ", {"type": "bold", "text": "the shop"}, " open?"]},
    {"id": 3, "type": "message", "date": "2024-05-01T10:01:00", "from": "Shop", "from_id": "user2", "text":
    HELLO}]}]}}  # fmt: skip
MESSENGER = {"participants": [{"name": "Anna"}, {"name": "Shop"}], "title": "Shop", "thread_path":
"inbox/shop_1", "messages": [
    {"sender_name": "Shop", "timestamp_ms": 1714557660000, "content": HELLO, "type": "Generic"},
    {"sender_name": "Anna", "timestamp_ms": 1714557600000, "content": HI, "type": "Generic"}]}  # fmt: skip
SLACK = [
    {"type": "message", "user": "U1", "text": HI, "ts": "1714557600.000100"},
    {"type": "message", "user": "U2", "text": HELLO, "ts": "1714557660.000100"},
]
DISCORD = {"guild": {"name": "g"}, "channel": {"id": "1", "name": "shop"}, "messages": [
    {"id": "1", "type": "Default", "timestamp": T1, "content": HI, "author": {"id": "7", "name": "anna",
     "isBot": False}},
    {"id": "2", "type": "Default", "timestamp": T2, "content": HELLO, "author": {"id": "8", "name":
    "shopbot", "isBot": True}}]}  # fmt: skip
TASKS = [{"id": 1, "data": {"dialogue": [{"author": "Anna", "text": HI}, {"author": "Bot", "text": HELLO}]},
"annotations": [
    {"id": 1, "completed_by": 4, "was_cancelled": True, "result": []},
    {"id": 2, "completed_by": {"email": "b@x.test"}, "was_cancelled": False, "result": [
        {"from_name": "tone", "to_name": "chat", "type": "choices", "value": {"choices": ["good"]}}]}]}]  # fmt: skip
ARGILLA = [
    {
        "id": "a1",
        "fields": {"chat": [*GIVEN, {"role": "assistant", "content": HELLO}]},
        "status": "completed",
        "responses": {"tone": [{"value": "good", "user_id": "u1"}, {"value": "bad", "user_id": "u2"}]},
    }
]
# fmt: skip
ARGILLA_1 = [{"id": "a1", "fields": {"prompt": HI, "response": HELLO}, "responses": [
    {"user_id": "u1", "status": "submitted", "values": {"tone": {"value": "good"}}}, {"user_id": "u2",
    "status": "discarded"}]}]  # fmt: skip
INSPECT = {"version": 2, "eval": {"run_id": "r", "model": "m"}, "samples": [
    {"id": 1, "epoch": 1, "input": HI, "target": "yes", "messages": [{"role": "user", "content": HI},
     {"role": "assistant", "content": HELLO}],
     "scores": {"match": {"value": "C"}}}]}  # fmt: skip
ROWS = f'ticket_id,created_at,author,body,channel\n1,{T2},agent,"{HELLO}",web\n1,{T1},customer,"{HI}",web\n'
NAMED_ROWS = (
    f"conversation_id;turn;speaker;text\n1;1;Anna;{HI.replace(',', '')}\n1;2;Bot;{HELLO.replace(',', '')}\n"
)
PAIRS = f'question,answer,rating\n"{HI}","{HELLO}",5\n'
LANGFUSE_CSV = (
    "id,timestamp,name,userId,sessionId,input,output\nt1,2024-05-01T10:00:00Z,chat,u,s,"
    '"{""messages"":[{""role"":""user"",""content"":""Hi, is the shop open?""}]}",'
    '"{""role"":""assistant"",""content"":""Yes, until six.""}"\n'
)

EXPORTS: list[tuple[str, str, Any, str, list[list[str]]]] = [
    ("growing history in two traces", "x.json", GROWING, "otel", TWO),
    ("AI SDK", "x.json", SDK, "otel", ONE),
    ("sub-agent under a tool", "x.json", SUB_AGENTS, "otel", ONE),
    ("console exporter", "x.json", CONSOLE, "otel", TWO),
    ("events as logs", "x.json", LOGS, "otel", ONE),
    ("Phoenix API", "x.json", PHOENIX, "openinference", ONE),
    ("Phoenix data frame", "x.jsonl", PHOENIX_ROWS, "openinference", ONE),
    ("Zipkin", "x.json", ZIPKIN, "otel", ONE),
    ("Tempo", "x.json", TEMPO, "otel", ONE),
    ("Tempo 2", "x.json", {"trace": GROWING}, "otel", TWO),
    ("collector file with metrics", "x.jsonl", METRICS_FIRST, "otel", TWO),
    ("Langfuse blob export", "x.jsonl", OBSERVATIONS, "langfuse", TWO),
    ("Langfuse ingestion", "x.json", INGESTION, "langfuse", ONE),
    ("Langfuse traces", "x.jsonl", TRACES_ONLY, "langfuse", TWO),
    ("Langfuse CSV", "x.csv", LANGFUSE_CSV, "csv", ONE),
    ("LangSmith runs", "x.json", RUNS, "langsmith", ONE),
    ("LangSmith run a line", "x.jsonl", [*RUNS, *RUNS], "langsmith", ONE),
    ("OpenAI batch", "x.jsonl", BATCH, "calls", ONE),
    ("Anthropic batch", "x.jsonl", ANTHROPIC_BATCH, "calls", ONE),
    ("Responses by id", "x.jsonl", RESPONSES, "calls", TWO),
    ("stored completions", "x.json", STORED, "calls", ONE),
    ("streamed reply", "x.jsonl", STREAMED, "calls", ONE),
    ("failed call", "x.jsonl", ERRORS, "calls", ONE),
    ("LiteLLM", "x.jsonl", LITELLM, "calls", ONE),
    ("Helicone", "x.jsonl", HELICONE, "calls", ONE),
    ("Gemini", "x.json", GEMINI, "messages", ONE),
    ("LangChain", "x.json", LANGCHAIN, "messages", TWO),
    ("LangGraph checkpoint", "x.json", CHECKPOINT, "messages", ONE),
    ("LlamaIndex chat store", "x.json", CHAT_STORE, "messages", ONE),
    ("LlamaIndex blocks", "x.json", BLOCKS, "messages", ONE),
    ("UI messages", "x.json", UI_MESSAGES, "messages", [[f"{HI}\n[image]", HELLO]]),
    ("ShareGPT array", "x.json", SHAREGPT, "messages", ONE),
    ("OpenAI array", "x.json", [{"messages": [*GROWN, {"role": "assistant", "content": SURE}]}], "messages",
     TWO),
    ("messages alone", "x.json", [*GROWN, {"role": "assistant", "content": SURE}], "messages", TWO),
    ("lists of messages", "x.json", [[*GROWN, {"role": "assistant", "content": SURE}]], "messages", TWO),
    ("hh-rlhf", "x.jsonl", HH, "messages", ONE),
    ("preferences", "x.jsonl", DPO, "messages", ONE),
    ("preferences with messages", "x.jsonl", DPO_MESSAGES, "messages", ONE),
    ("UltraChat", "x.jsonl", ULTRACHAT, "messages", TWO),
    ("OpenAssistant", "x.jsonl", OASST, "messages", ONE),
    ("Alpaca", "x.json", ALPACA, "messages", ONE),
    ("pairs in a list", "x.jsonl", BELLE, "messages", TWO),
    ("Claude Code", "x.jsonl", CLAUDE_CODE, "agentlog", ONE),
    ("ChatGPT", "conversations.json", CHATGPT, "chatgpt", ONE),
    ("Open WebUI", "x.json", OPEN_WEBUI, "openwebui", ONE),
    ("Claude", "x.json", CLAUDE, "claude", ONE),
    ("Intercom", "x.json", INTERCOM, "intercom", TWO),
    ("Intercom list", "x.json", {"type": "conversation.list", "conversations": [INTERCOM]}, "intercom", TWO),
    ("Zendesk", "x.jsonl", ZENDESK, "zendesk", ONE),
    ("Freshdesk", "x.json", FRESHDESK, "freshdesk", TWO),
    ("WhatsApp of an iPhone", "_chat.txt", IPHONE, "whatsapp", [[ "Hi, is the\nshop open?", HELLO]]),
    ("Telegram", "result.json", TELEGRAM, "telegram", ONE),
    ("Messenger", "message_1.json", MESSENGER, "messenger", ONE),
    ("Slack", "2024-05-01.json", SLACK, "messenger", ONE),
    ("Discord", "x.json", DISCORD, "messenger", ONE),
    ("Label Studio", "x.json", TASKS, "labelstudio", ONE),
    ("Argilla", "x.json", ARGILLA, "argilla", ONE),
    ("Argilla 1", "x.json", ARGILLA_1, "argilla", ONE),
    ("Inspect", "x.json", INSPECT, "inspect", ONE),
    ("CSV of messages", "x.csv", ROWS, "csv", ONE),
    ("CSV with names", "x.csv", NAMED_ROWS, "csv", [[text.replace(",", "") for text in ONE[0]]]),
    ("CSV of pairs", "x.csv", PAIRS, "csv", ONE),
]  # fmt: skip
