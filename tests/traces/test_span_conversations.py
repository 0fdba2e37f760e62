"""What a receiver asks of a span is what its import will read; and no span stops the import of others."""

import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from datasets_app.domain.traces.attributes import CONVERSATION_ATTRIBUTES
from datasets_app.domain.traces.convert import Conversion
from datasets_app.domain.traces.formats.otlp import find_span_conversation, read_span
from datasets_app.domain.traces.reasons import TOO_DEEP
from tests.spans import make_span

OTHER_KEYS = (
    "gen_ai.operation.name gen_ai.input.messages gen_ai.output.messages gen_ai.prompt.0.content input.value "
    "output.value llm.input_messages.0.message.role events ai.prompt gcp.vertex.agent.llm_request user.id"
).split()
KEYS = st.sampled_from([*sorted(CONVERSATION_ATTRIBUTES), *OTHER_KEYS, "role", "content", "session_id"])
TEXTS = st.sampled_from(["", "c-1", " c-2 ", "00000000", "[]", "{", "user", "7"])
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(KEYS, inner, max_size=3)
        | st.dictionaries(KEYS, inner, max_size=3).map(json.dumps)
    ),
    max_leaves=8,
)
KINDS = st.sampled_from(["stringValue", "intValue", "arrayValue", "kvlistValue", "string_value"])
ATTRIBUTES = (
    st.lists(
        st.fixed_dictionaries({"key": KEYS, "value": st.dictionaries(KINDS, VALUES, max_size=2) | VALUES}),
        max_size=4,
    )
    | st.dictionaries(KEYS, VALUES, max_size=4)
    | VALUES
)
FIELDS = st.sampled_from(
    ["attributes", "tags", "events", "status", "startTimeUnixNano", "references", "context"]
)


@given(ATTRIBUTES, st.dictionaries(FIELDS, VALUES, max_size=2))
def test_the_conversation_of_a_span_is_the_one_that_is_read(attributes: Any, fields: dict[str, Any]) -> None:
    span = {"traceId": "1" * 32, "spanId": "1" * 16, "attributes": attributes, **fields}
    assert find_span_conversation(span) == read_span(span).conversation


def test_a_span_that_is_nested_too_deeply_is_left_out_and_counted(tmp_path: Path) -> None:
    deep = '[{"role": "user", "content": ' * 450 + '"x"' + "}]" * 450
    attribute = {"key": "gen_ai.input.messages", "value": {"stringValue": deep}}
    path = tmp_path / "spans.jsonl"
    spans = [make_span(1, 1, attributes=[attribute]), make_span(2, 1)]
    path.write_text("".join(json.dumps(span) + "\n" for span in spans))
    conversion = Conversion(path, format="otel")
    assert len(list(conversion.conversations())) == 1
    assert (conversion.report.left_out[TOO_DEEP].total, conversion.report.left_out[TOO_DEEP].lines) == (
        1,
        [1],
    )
