"""The formats of our own, as lists show them."""

FORMAT_LABELS = {
    "turns": "Conversation JSONL, one turn a line",
    "openai": "OpenAI chat JSONL, one session a line",
    "sharegpt": "ShareGPT JSONL, one session a line",
}
