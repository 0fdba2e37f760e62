"""Judges for tests: what a model answers, and one that may be asked."""

import json
from typing import Any

from annotations_app.judges.judges import import_judge
from annotations_app.models import Judge
from datasets_app.catalog.edit import edit_dataset
from datasets_app.models import Dataset
from tests.llm_server import LlmServer, RecordedRequest

CANARY = "sk-planted-judge-5150"


def answer_on_brand(request: RecordedRequest) -> str:
    """Off-brand where the reply has an odd number of characters."""
    value = 1 - len(reply_in(request)) % 2
    return json.dumps({"rationale": f"It is {value}.", "answers": {"on_brand": value}})


def reply_in(request: RecordedRequest) -> str:
    """The reply that a request is about."""
    said = request.body["messages"][1]["content"]
    turns = json.loads(said[said.index("[") :])
    return str(turns[-1]["text"])


def make_judge(server: LlmServer, *, allow: Dataset | None = None, **document: Any) -> Judge:
    """It calls the server; ``allow`` is a dataset that may be sent there."""
    fields = {"judge": "brand", "model": "openai:tiny", "endpoint": server.url} | document
    if allow is not None:
        edit_dataset(allow.pk, {"judge_endpoints": [server.url]}, actor=None)
    return import_judge(json.dumps(fields)).judge
