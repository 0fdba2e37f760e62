# ruff: noqa: E501, UP031
# fmt: off
"""One small export of each tool, by name, with the conversation of HI and HELLO, or of all four texts."""

import json
from typing import Any

from tests.traces.exports import HELLO as A
from tests.traces.exports import HI as H
from tests.traces.exports import MORE as M
from tests.traces.exports import SURE as S

T = "2024-05-01T10:00:0%dZ"
PLATFORMS: dict[str, Any] = {}
# Those with both questions and answers.
OF_FOUR_TURNS = {"dify", "weave", "cohere_v1"}
# Written as JSON lines.
IN_LINES = {"rasa_lines", "sillytavern", "oai_evals_log"}


def U(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def B(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


# Weave
PLATFORMS["weave"]=[{"id":"c1","project_id":"e/p","op_name":"weave:///e/p/op/openai.chat.completions.create:abc","trace_id":"t1","parent_id":None,"started_at":T % 1,"ended_at":T % 2,"attributes":{},"inputs":{"self":"<OpenAI>","model":"gpt-4o","messages":[U(H)]},"output":{"id":"x","choices":[{"index":0,"message":B(A),"finish_reason":"stop"}],"usage":{"total_tokens":3}},"summary":{"usage":{}}},
 {"id":"c2","project_id":"e/p","op_name":"weave:///e/p/op/openai.chat.completions.create:abc","trace_id":"t2","parent_id":None,"started_at":T % 3,"inputs":{"model":"gpt-4o","messages":[U(H),B(A),U(M)]},"output":{"choices":[{"message":B(S)}]}}]
# MLflow trace v3
PLATFORMS["mlflow3"]={"info":{"trace_id":"tr-1","trace_location":{"type":"MLFLOW_EXPERIMENT"},"request_time":T % 1,"state":"OK","trace_metadata":{"mlflow.trace.session":"s","mlflow.trace.user":"u"},"tags":{}},
 "data":{"spans":[{"trace_id":"dHI=","span_id":"c3A=","parent_span_id":None,"name":"Completions","start_time_unix_nano":1714557600000000000,"end_time_unix_nano":1714557601000000000,"status":{"code":"STATUS_CODE_OK"},"attributes":{"mlflow.traceRequestId":"\"tr-1\"","mlflow.spanType":"\"CHAT_MODEL\"","mlflow.spanInputs":json.dumps({"model":"gpt-4o","messages":[U(H)]}),"mlflow.spanOutputs":json.dumps({"choices":[{"message":B(A)}]})}}]}}
PLATFORMS["mlflow2"]={"info":{"request_id":"r1","timestamp_ms":1714557600000,"request_metadata":{},"tags":{}},"data":{"spans":[{"name":"predict","context":{"span_id":"0x1","trace_id":"0x2"},"parent_id":None,"start_time":1714557600000000000,"end_time":1714557600000000001,"attributes":{"mlflow.spanType":"\"CHAT_MODEL\"","mlflow.spanInputs":"{\"messages\": [{\"role\":\"user\",\"content\":\"%s\"}]}"%H,"mlflow.spanOutputs":"{\"choices\": [{\"message\": {\"role\": \"assistant\", \"content\": \"%s\"}}]}"%A}}],"request":"{}","response":"{}"}}
# Braintrust logs
PLATFORMS["braintrust"]=[{"id":"1","span_id":"s1","root_span_id":"s1","span_parents":None,"created":T % 1,"input":[U(H)],"output":[{"message":B(A),"finish_reason":"stop"}],"expected":None,"metadata":{"model":"gpt-4o"},"metrics":{"tokens":3},"span_attributes":{"name":"Chat Completion","type":"llm"},"project_id":"p","log_id":"g"}]
PLATFORMS["braintrust_tree"]=[{"id":"0","span_id":"r","root_span_id":"r","created":T % 1,"input":H,"output":A,"span_attributes":{"name":"chat","type":"task"}},{"id":"1","span_id":"s1","root_span_id":"r","span_parents":["r"],"created":T % 2,"input":[{"role":"system","content":"Be short."},U(H)],"output":[{"message":B(A)}],"span_attributes":{"name":"Chat Completion","type":"llm"}}]
# Helicone export
PLATFORMS["helicone"]=[{"response_id":"x","response_created_at":T % 2,"request_id":"r","request_created_at":T % 1,"request_body":{"model":"gpt-4o","messages":[U(H)]},"response_body":{"choices":[{"message":B(A)}]},"request_properties":{"Helicone-Session-Id":"s"},"request_user_id":"u"}]
PLATFORMS["portkey"]=[{"request":{"url":"x","method":"POST","body":{"messages":[U(H)],"model":"gpt"}},"response":{"status":200,"body":{"choices":[{"message":B(A)}]}},"metadata":{}}]
PLATFORMS["openrouter"]=[{"id":"gen-1","model":"m","messages":[U(H)],"completion":A}]
# promptfoo
PLATFORMS["promptfoo"]={"version":3,"results":{"version":3,"results":[{"id":"1","promptIdx":0,"testIdx":0,"provider":{"id":"openai:gpt"},"prompt":{"raw":json.dumps([U(H)]),"label":"p"},"vars":{"q":H},"response":{"output":A,"tokenUsage":{}},"success":True,"score":1,"gradingResult":{"pass":True}}],"prompts":[],"stats":{}},"config":{}}
PLATFORMS["promptfoo_text"]={"evalId":"e","results":{"version":3,"results":[{"prompt":{"raw":H,"label":H},"vars":{},"response":{"output":A},"success":True,"score":1}]}}
# deepeval
PLATFORMS["deepeval"]=[{"input":H,"actual_output":A,"expected_output":"Yes","retrieval_context":["x"],"name":"t"}]
PLATFORMS["deepeval_conv"]=[{"scenario":"x","turns":[{"role":"user","content":H},{"role":"assistant","content":A}],"chatbot_role":"shop"}]
PLATFORMS["ragas"]=[{"user_input":H,"retrieved_contexts":["Open nine to six."],"response":A,"reference":"Yes"}]
PLATFORMS["ragas_multi"]=[{"user_input":[{"content":H,"type":"human"},{"content":A,"type":"ai"}],"reference":"x"}]
PLATFORMS["oai_evals_log"]=[{"spec":{"completion_fns":["m"],"eval_name":"e"}},{"run_id":"r","event_id":0,"sample_id":"s.1","type":"sampling","data":{"prompt":[U(H)],"sampled":[A]},"created_at":T % 1}]
# assistants
PLATFORMS["assistants"]={"object":"list","data":[{"id":"msg_2","object":"thread.message","created_at":1714557602,"thread_id":"th","role":"assistant","content":[{"type":"text","text":{"value":A,"annotations":[]}}]},{"id":"msg_1","object":"thread.message","created_at":1714557601,"thread_id":"th","role":"user","content":[{"type":"text","text":{"value":H,"annotations":[]}}]}]}
# bedrock invocation logs
PLATFORMS["bedrock_invoke"]=[{"schemaType":"ModelInvocationLog","schemaVersion":"1.0","timestamp":T % 1,"accountId":"1","operation":"InvokeModel","modelId":"anthropic.claude","requestId":"r","input":{"inputContentType":"application/json","inputBodyJson":{"anthropic_version":"x","messages":[{"role":"user","content":[{"type":"text","text":H}]}]},"inputTokenCount":3},"output":{"outputContentType":"application/json","outputBodyJson":{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":A}]},"outputTokenCount":3}}]
PLATFORMS["bedrock_converse_log"]=[{"schemaType":"ModelInvocationLog","timestamp":T % 1,"operation":"Converse","modelId":"m","requestId":"r","input":{"inputBodyJson":{"messages":[{"role":"user","content":[{"text":H}]}]}},"output":{"outputBodyJson":{"output":{"message":{"role":"assistant","content":[{"text":A}]}},"stopReason":"end_turn"}}}]
PLATFORMS["bedrock_stream_log"]=[{"schemaType":"ModelInvocationLog","timestamp":T % 1,"operation":"InvokeModelWithResponseStream","modelId":"m","requestId":"r","input":{"inputBodyJson":{"messages":[{"role":"user","content":H}]}},"output":{"outputBodyJson":[{"type":"message_start","message":{"role":"assistant","content":[]}},{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Yes, "}},{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"until six."}},{"type":"message_stop"}]}}]
PLATFORMS["gemini_gc"]=[{"request":{"contents":[{"role":"user","parts":[{"text":H}]}],"systemInstruction":{"parts":[{"text":"Be short."}]}},"response":{"candidates":[{"content":{"role":"model","parts":[{"text":A}]},"finishReason":"STOP"}]}}]
PLATFORMS["gemini_batch"]=[{"key":"1","request":{"contents":[{"parts":[{"text":H}]}]},"response":{"candidates":[{"content":{"role":"model","parts":[{"text":A}]}}]}}]
PLATFORMS["mistral"]=[{"request":{"model":"mistral","messages":[U(H)]},"response":{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":A,"tool_calls":None,"prefix":False}}]}}]
PLATFORMS["mistral_conv"]={"object":"conversation.history","conversation_id":"c","entries":[{"object":"entry","type":"message.input","role":"user","content":H,"created_at":T % 1,"id":"1"},{"object":"entry","type":"message.output","role":"assistant","content":A,"created_at":T % 2,"id":"2"}]}
PLATFORMS["cohere_v1"]=[{"request":{"message":M,"chat_history":[{"role":"USER","message":H},{"role":"CHATBOT","message":A}],"preamble":"Be short."},"response":{"text":S,"generation_id":"g","finish_reason":"COMPLETE"}}]
PLATFORMS["cohere_hist"]=[{"response_id":"r","text":A,"generation_id":"g","chat_history":[{"role":"USER","message":H},{"role":"CHATBOT","message":A}],"finish_reason":"COMPLETE"}]
PLATFORMS["cohere_v2"]=[{"request":{"messages":[U(H)]},"response":{"id":"x","finish_reason":"COMPLETE","message":{"role":"assistant","content":[{"type":"text","text":A}]}}}]
PLATFORMS["cohere_ft"]=[{"messages":[{"role":"System","content":"x"},{"role":"User","content":H},{"role":"Chatbot","content":A}]}]
PLATFORMS["ollama"]=[{"request":{"model":"llama3","messages":[U(H)]},"response":{"model":"llama3","created_at":T % 1,"message":B(A),"done":True}}]
PLATFORMS["ollama_gen"]=[{"request":{"model":"llama3","prompt":H},"response":{"model":"llama3","created_at":T % 1,"response":A,"done":True}}]
# chat apps
PLATFORMS["claude_ai"]=[{"uuid":"u","name":"Shop","created_at":T % 1,"updated_at":T % 2,"account":{"uuid":"a"},"chat_messages":[{"uuid":"1","text":H,"content":[{"type":"text","text":H}],"sender":"human","created_at":T % 1},{"uuid":"2","text":A,"content":[{"type":"text","text":A}],"sender":"assistant","created_at":T % 2}]}]
PLATFORMS["gemini_takeout"]=[{"header":"Gemini Apps","title":"Prompted "+H,"time":T % 1,"products":["Gemini Apps"],"safeHtmlItem":[{"html":"<p>"+A+"</p>"}]}]
PLATFORMS["aistudio"]={"runSettings":{"model":"models/gemini"},"systemInstruction":{},"chunkedPrompt":{"chunks":[{"text":H,"role":"user"},{"text":"Thinking","role":"model","isThought":True},{"text":A,"role":"model"}],"pendingInputs":[]}}
PLATFORMS["typingmind"]={"data":{"chats":[{"id":"c","chatTitle":"x","messages":[{"uuid":"1","role":"user","content":[{"type":"text","text":H}]},{"uuid":"2","role":"assistant","content":A}]}]}}
PLATFORMS["lmstudio"]={"name":"x","messages":[{"versions":[{"type":"singleStep","role":"user","content":[{"type":"text","text":H}]}],"currentlySelected":0},{"versions":[{"type":"multiStep","role":"assistant","steps":[{"type":"contentBlock","content":[{"type":"text","text":A}]}]}],"currentlySelected":0}]}
PLATFORMS["perplexity"]={"entries":[{"query_str":H,"answer":A,"uuid":"x"}]}
PLATFORMS["deepseek"]=[{"id":"c","title":"x","inserted_at":T % 1,"mapping":{"root":{"id":"root","parent":None,"children":["1"],"message":None},"1":{"id":"1","parent":"root","children":["2"],"message":{"files":[],"model":"deepseek","inserted_at":T % 1,"fragments":[{"type":"REQUEST","content":H}]}},"2":{"id":"2","parent":"1","children":[],"message":{"files":[],"model":"deepseek","inserted_at":T % 2,"fragments":[{"type":"THINK","content":"hm"},{"type":"RESPONSE","content":A}]}}}}]
PLATFORMS["grok"]={"conversations":[{"conversation":{"id":"c","title":"x","create_time":T % 1},"responses":[{"response":{"_id":"1","message":H,"sender":"human","create_time":T % 1}},{"response":{"_id":"2","message":A,"sender":"assistant","create_time":T % 2}}]}]}
PLATFORMS["copilot_csv"]=("Conversation,Time,Author,Message\nShop,2024-05-01T10:00:00,Human,\"%s\"\nShop,2024-05-01T10:00:01,AI,\"%s\"\n"%(H,A))
PLATFORMS["sillytavern"]=[{"user_name":"Anna","character_name":"Bot","create_date":"x","chat_metadata":{}},{"name":"Anna","is_user":True,"send_date":"May 1, 2024 10:00am","mes":H},{"name":"Bot","is_user":False,"send_date":"May 1, 2024","mes":A}]
PLATFORMS["chatbox"]={"chat-sessions":[{"id":"1","name":"x","type":"chat","messages":[{"id":"1","role":"user","contentParts":[{"type":"text","text":H}]},{"id":"2","role":"assistant","contentParts":[{"type":"text","text":A}]}]}]}
PLATFORMS["lobechat"]={"exportType":"all","state":{"sessions":[{"id":"s"}],"messages":[{"id":"1","role":"user","content":H,"sessionId":"s","createdAt":1714557600000},{"id":"2","role":"assistant","content":A,"sessionId":"s","createdAt":1714557601000,"parentId":"1"}],"topics":[]},"version":7}
PLATFORMS["vercel_ui5"]=[{"id":"c","messages":[{"id":"1","role":"user","parts":[{"type":"text","text":H}]},{"id":"2","role":"assistant","parts":[{"type":"step-start"},{"type":"tool-hours","toolCallId":"x","state":"output-available","input":{},"output":{"h":6}},{"type":"text","text":A,"state":"done"}]}]}]
# slack/teams/messenger
PLATFORMS["slack_user"]=[{"type":"message","user":"U1","text":H,"ts":"1714557600.000100","team":"T"},{"type":"message","subtype":"bot_message","bot_id":"B1","username":"bot","text":A,"ts":"1714557601.000100"}]
PLATFORMS["teams_graph"]={"@odata.context":"x","value":[{"id":"2","messageType":"message","createdDateTime":T % 2,"from":{"application":{"id":"b","displayName":"Bot"},"user":None},"body":{"contentType":"html","content":"<p>%s</p>"%A}},{"id":"1","messageType":"message","createdDateTime":T % 1,"from":{"user":{"id":"u","displayName":"Anna"}},"body":{"contentType":"text","content":H}},{"id":"0","messageType":"systemEventMessage","createdDateTime":T % 0,"from":None,"body":{"contentType":"html","content":"<systemEventMessage/>"}}]}
PLATFORMS["discord"]={"guild":{"id":"1"},"channel":{"id":"2"},"messages":[{"id":"1","type":"Default","timestamp":T % 1,"content":H,"author":{"id":"1","name":"anna","isBot":False}},{"id":"2","type":"Default","timestamp":T % 2,"content":A,"author":{"id":"2","name":"bot","isBot":True}}]}
PLATFORMS["instagram"]={"participants":[{"name":"Anna"},{"name":"Shop"}],"messages":[{"sender_name":"Shop","timestamp_ms":1714557602000,"content":A},{"sender_name":"Anna","timestamp_ms":1714557601000,"content":H}],"title":"Shop","thread_path":"inbox/x"}
PLATFORMS["signal"]=[{"conversationId":"c","type":"incoming","body":H,"sent_at":1714557600000},{"conversationId":"c","type":"outgoing","body":A,"sent_at":1714557601000}]
# tickets
PLATFORMS["crisp"]={"error":False,"reason":"listed","data":[{"session_id":"s","type":"text","from":"user","content":H,"timestamp":1714557600000,"fingerprint":1,"user":{"nickname":"Anna"}},{"session_id":"s","type":"text","from":"operator","content":A,"timestamp":1714557601000},{"session_id":"s","type":"note","from":"operator","content":"private","timestamp":1714557602000}]}
PLATFORMS["front"]={"_results":[{"id":"msg_1","type":"email","is_inbound":True,"created_at":1714557600.0,"text":H,"body":"<p>%s</p>"%H,"author":None},{"id":"msg_2","type":"email","is_inbound":False,"created_at":1714557601.0,"text":A,"body":"<p>%s</p>"%A,"author":{"username":"b"}}],"_pagination":{}}
PLATFORMS["hubspot"]={"results":[{"id":"2","type":"MESSAGE","createdAt":T % 2,"direction":"OUTGOING","text":A,"richText":"<p>%s</p>"%A,"senders":[{"actorId":"A-1"}],"conversationsThreadId":"7"},{"id":"1","type":"MESSAGE","createdAt":T % 1,"direction":"INCOMING","text":H,"senders":[{"actorId":"V-1"}],"conversationsThreadId":"7"},{"id":"0","type":"COMMENT","createdAt":T % 3,"text":"private","conversationsThreadId":"7"}]}
PLATFORMS["gorgias"]={"data":[{"id":1,"ticket_id":5,"public":True,"from_agent":False,"body_text":H,"created_datetime":T % 1},{"id":2,"ticket_id":5,"public":True,"from_agent":True,"body_text":A,"created_datetime":T % 2},{"id":3,"ticket_id":5,"public":False,"from_agent":True,"body_text":"private","created_datetime":T % 3}]}
PLATFORMS["gorgias_ticket"]={"id":5,"subject":"x","customer":{"id":1},"messages":[{"id":1,"public":True,"from_agent":False,"body_text":H,"body_html":"<p>x</p>","created_datetime":T % 1},{"id":2,"public":True,"from_agent":True,"body_text":A,"created_datetime":T % 2},{"id":3,"public":False,"from_agent":True,"body_text":"private","created_datetime":T % 3}]}
PLATFORMS["helpscout"]={"id":1,"subject":"x","_embedded":{"threads":[{"id":2,"type":"message","status":"active","body":A,"createdAt":T % 2,"createdBy":{"type":"user"}},{"id":1,"type":"customer","body":H,"createdAt":T % 1,"createdBy":{"type":"customer"}},{"id":3,"type":"note","body":"private","createdAt":T % 3,"createdBy":{"type":"user"}}]}}
PLATFORMS["drift"]={"data":{"messages":[{"id":1,"conversationId":7,"type":"chat","author":{"id":1,"type":"contact","bot":False},"body":H,"createdAt":1714557600000},{"id":2,"conversationId":7,"type":"chat","author":{"id":2,"type":"user","bot":False},"body":"<p>%s</p>"%A,"createdAt":1714557601000},{"id":3,"conversationId":7,"type":"private_note","author":{"type":"user"},"body":"private","createdAt":1714557602000}]}}
PLATFORMS["livechat"]={"chats":[{"id":"c","users":[{"id":"u1","type":"customer","name":"Anna"},{"id":"a@x","type":"agent"}],"thread":{"id":"t","created_at":T % 1,"events":[{"id":"1","type":"message","text":H,"author_id":"u1","created_at":T % 1,"visibility":"all"},{"id":"2","type":"message","text":A,"author_id":"a@x","created_at":T % 2,"visibility":"all"},{"id":"3","type":"message","text":"private","author_id":"a@x","created_at":T % 3,"visibility":"agents"}]}}]}
PLATFORMS["chatwoot"]={"payload":[{"id":1,"content":H,"message_type":0,"created_at":1714557600,"private":False,"conversation_id":3,"sender":{"type":"contact"}},{"id":2,"content":A,"message_type":1,"created_at":1714557601,"private":False,"conversation_id":3,"sender":{"type":"user"}},{"id":3,"content":"private","message_type":1,"private":True,"created_at":1714557602,"conversation_id":3}],"meta":{}}
# bots
PLATFORMS["rasa"]={"sender_id":"u","slots":{},"events":[{"event":"action","timestamp":1.0,"name":"action_listen"},{"event":"user","timestamp":2.0,"text":H,"parse_data":{"intent":{"name":"ask"}}},{"event":"action","timestamp":3.0,"name":"utter_open"},{"event":"bot","timestamp":4.0,"text":A,"data":{},"metadata":{}}]}
PLATFORMS["rasa_lines"]=[{"sender_id":"u","event":"user","timestamp":2.0,"text":H,"parse_data":{}},{"sender_id":"u","event":"bot","timestamp":4.0,"text":A,"data":{}}]
PLATFORMS["dialogflow_cx"]={"interactions":[{"name":"x","request":{"queryInput":{"text":{"text":H}}},"response":{"queryResult":{"text":H,"responseMessages":[{"text":{"text":[A]}}]}},"createTime":T % 1}],"name":"projects/p/conversations/c"}
PLATFORMS["dialogflow_es"]=[{"responseId":"r","session":"projects/p/agent/sessions/s","queryResult":{"queryText":H,"fulfillmentText":A,"intent":{"displayName":"x"}}}]
PLATFORMS["dialogflow_log"]=[{"insertId":"1","timestamp":T % 1,"labels":{"session_id":"s"},"jsonPayload":{"queryResult":{"text":H,"responseMessages":[{"text":{"text":[A]}}]},"responseId":"r"}}]
PLATFORMS["ccai"]={"name":"x","conversationId":"c","entries":[{"text":H,"user_id":1,"role":"CUSTOMER","start_timestamp_usec":1},{"text":A,"user_id":2,"role":"AGENT","start_timestamp_usec":2}],"transcript":{}}
PLATFORMS["botpress"]={"messages":[{"id":"2","conversationId":"c","userId":"b","direction":"outgoing","type":"text","payload":{"type":"text","text":A},"createdAt":T % 2},{"id":"1","conversationId":"c","userId":"u","direction":"incoming","type":"text","payload":{"text":H},"createdAt":T % 1}],"meta":{}}
PLATFORMS["voiceflow"]=[{"type":"launch","payload":{"type":"launch"},"startTime":T % 0,"format":"request","turnID":"0"},{"type":"request","format":"request","turnID":"1","payload":{"type":"text","payload":H},"startTime":T % 1},{"type":"text","format":"trace","turnID":"1","payload":{"type":"text","payload":{"message":A,"slate":{}}},"startTime":T % 2}]
PLATFORMS["botframework"]=[{"type":"message","id":"1","timestamp":T % 1,"channelId":"webchat","from":{"id":"u","name":"Anna","role":"user"},"conversation":{"id":"c"},"recipient":{"id":"b","role":"bot"},"text":H},{"type":"message","id":"2","timestamp":T % 2,"from":{"id":"b","role":"bot"},"conversation":{"id":"c"},"text":A,"replyToId":"1"}]
PLATFORMS["watson"]={"logs":[{"log_id":"1","request_timestamp":T % 1,"request":{"input":{"text":H},"context":{}},"response":{"output":{"generic":[{"response_type":"text","text":A}]},"context":{"conversation_id":"c"}}}]}
PLATFORMS["lex"]=[{"sessionId":"s","inputTranscript":H,"messages":[{"content":A,"contentType":"PlainText"}],"timestamp":T % 1,"botId":"b"}]
PLATFORMS["connect_lens"]={"Version":"1.1.0","Channel":"CHAT","Participants":[{"ParticipantId":"a","ParticipantRole":"CUSTOMER"},{"ParticipantId":"b","ParticipantRole":"AGENT"}],"CustomerMetadata":{"ContactId":"k"},"Transcript":[{"AbsoluteTime":T % 1,"Content":H,"ParticipantId":"a","Id":"1","Type":"MESSAGE","ParticipantRole":"CUSTOMER"},{"AbsoluteTime":T % 2,"Content":A,"ParticipantId":"b","Id":"2","Type":"MESSAGE","ParticipantRole":"AGENT"}]}
PLATFORMS["twilio"]={"messages":[{"sid":"1","conversation_sid":"C","author":"+1555","body":H,"index":0,"date_created":T % 1},{"sid":"2","conversation_sid":"C","author":"system","body":A,"index":1,"date_created":T % 2}],"meta":{}}
PLATFORMS["dify"]={"data":[{"id":"1","conversation_id":"c","inputs":{},"query":H,"answer":A,"created_at":1714557600,"feedback":{"rating":"like"}},{"id":"2","conversation_id":"c","query":M,"answer":S,"created_at":1714557700}],"limit":20,"has_more":False}
PLATFORMS["flowise"]=[{"id":"1","role":"userMessage","chatflowid":"f","content":H,"chatId":"c","createdDate":T % 1,"sessionId":"c"},{"id":"2","role":"apiMessage","chatflowid":"f","content":A,"chatId":"c","createdDate":T % 2,"sessionId":"c"}]
PLATFORMS["langflow"]=[{"id":"1","timestamp":T % 1,"sender":"User","sender_name":"User","session_id":"s","text":H},{"id":"2","timestamp":T % 2,"sender":"Machine","sender_name":"AI","session_id":"s","text":A}]
PLATFORMS["n8n"]=[{"id":1,"sessionId":"s","message":{"type":"human","data":{"content":H}}},{"id":2,"sessionId":"s","message":{"type":"ai","data":{"content":A}}}]
PLATFORMS["haystack"]=[{"messages":[{"_role":"user","_content":[{"text":H}],"_name":None,"_meta":{}},{"_role":"assistant","_content":[{"text":A}],"_meta":{}}]}]
PLATFORMS["haystack2"]=[{"messages":[{"role":"user","content":[{"text":H}],"name":None,"meta":{}},{"role":"assistant","content":[{"text":A}],"meta":{}}]}]
PLATFORMS["autogen"]=[{"source":"user","models_usage":None,"content":H,"type":"TextMessage"},{"source":"assistant","models_usage":{"prompt_tokens":1},"content":A,"type":"TextMessage"}]
PLATFORMS["openai_agents"]={"object":"list","data":[{"id":"msg_2","type":"message","role":"assistant","content":[{"type":"output_text","text":A}]},{"id":"msg_1","type":"message","role":"user","content":[{"type":"input_text","text":H}]}]}
PLATFORMS["dspy"]=[{"prompt":None,"messages":[U(H)],"kwargs":{},"response":{"choices":[{"message":B(A)}]},"outputs":[A],"usage":{},"cost":None,"timestamp":T % 1,"uuid":"u","model":"m"}]
PLATFORMS["opik"]=[{"id":"t","project_id":"p","name":"chat","start_time":T % 1,"end_time":T % 2,"input":{"messages":[U(H)]},"output":{"choices":[{"message":B(A)}]},"thread_id":"th","metadata":{},"tags":[]}]
PLATFORMS["opik_spans"]=[{"id":"s","trace_id":"t","parent_span_id":None,"name":"chat_completion_create","type":"llm","start_time":T % 1,"input":{"messages":[U(H)]},"output":{"choices":[{"message":B(A)}]},"model":"m","provider":"openai","usage":{"total_tokens":2}}]
PLATFORMS["humanloop"]=[{"id":"data_1","prompt":{"model":"m"},"messages":[U(H)],"output":A,"output_message":B(A),"session_id":"s","created_at":T % 1}]
PLATFORMS["parea"]=[{"trace_id":"t","llm_configuration":{"model":"m","messages":[U(H)]},"output":A,"start_timestamp":T % 1}]
PLATFORMS["galileo"]=[{"type":"trace","input":H,"output":A,"spans":[{"type":"llm","input":[U(H)],"output":B(A),"metrics":{}}]}]
PLATFORMS["datadog"]={"data":[{"id":"1","type":"span","attributes":{"trace_id":"t","span_id":"s","parent_id":"undefined","ml_app":"a","name":"chat","span_kind":"llm","start_ns":1714557600000000000,"input":{"messages":[U(H)]},"output":{"messages":[B(A)]}}}]}
PLATFORMS["posthog"]=[{"event":"$ai_generation","timestamp":T % 1,"distinct_id":"u","properties":{"$ai_trace_id":"t","$ai_model":"m","$ai_input":[U(H)],"$ai_output_choices":[B(A)],"$ai_input_tokens":3}}]
PLATFORMS["lunary"]=[{"id":"r","type":"llm","createdAt":T % 1,"input":[U(H)],"output":B(A),"name":"gpt-4o","tokens":{}}]
PLATFORMS["pezzo"]=[{"request":{"body":{"messages":[U(H)]}},"response":{"body":{"choices":[{"message":B(A)}]}}}]
PLATFORMS["litellm_spend"]=[{"request_id":"1","call_type":"acompletion","model":"m","messages":[U(H)],"response":{"choices":[{"message":B(A)}]},"session_id":"s","startTime":T % 1}]
PLATFORMS["vllm_text"]=[{"prompt":H,"output":A}]
PLATFORMS["anthropic_batch_in_out"]=[{"custom_id":"1","params":{"model":"c","messages":[U(H)]}},{"custom_id":"1","result":{"type":"succeeded","message":{"role":"assistant","content":[{"type":"text","text":A}]}}}]
PLATFORMS["lmsys"]=[{"conversation_id":"c","model":"vicuna","conversation":[U(H),B(A)],"turn":1,"language":"English"}]
PLATFORMS["wildchat"]=[{"conversation_hash":"h","model":"gpt","conversation":[{"content":H,"role":"user","language":"English"},{"content":A,"role":"assistant"}],"turn":1}]
PLATFORMS["dolly"]=[{"instruction":H,"context":"","response":A,"category":"x"}]
PLATFORMS["sgd"]=[{"dialogue_id":"1","services":[],"turns":[{"speaker":"USER","utterance":H,"frames":[]},{"speaker":"SYSTEM","utterance":A,"frames":[]}]}]
PLATFORMS["vapi"]={"id":"c","type":"webCall","messages":[{"role":"system","message":"Be short."},{"role":"user","message":H,"time":1},{"role":"bot","message":A,"time":2}],"transcript":"User: x\nAI: y"}
PLATFORMS["retell"]={"call_id":"c","transcript":"User: %s\nAgent: %s\n"%(H,A),"transcript_object":[{"role":"user","content":H,"words":[]},{"role":"agent","content":A,"words":[]}]}
PLATFORMS["elevenlabs"]={"agent_id":"a","conversation_id":"c","status":"done","transcript":[{"role":"user","message":H,"time_in_call_secs":1},{"role":"agent","message":A,"time_in_call_secs":2}]}
PLATFORMS["copilotstudio"]={"activities":[{"type":"message","id":"1","timestamp":1714557600,"from":{"id":"u","role":1},"text":H},{"type":"message","timestamp":1714557601,"from":{"id":"b","role":0},"text":A}]}
