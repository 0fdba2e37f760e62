"""The spans of one trace → the calls that a person took part in, each once."""

from collections import Counter
from collections.abc import Mapping

from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.messages import has_text
from datasets_app.domain.traces.rebuild import after_question, list_spoken
from datasets_app.domain.traces.records import Call, Message, Span

MAX_ANCESTORS = 200


class _Tree:
    def __init__(self, spans: list[Span]) -> None:
        self.by_id = {span.id: span for span in spans if span.id}

    def ancestors(self, span: Span) -> list[Span]:
        """Nearest first; ends where the file does not have the parent, or where the parents run in a
        circle."""
        found: list[Span] = []
        parent = self.by_id.get(span.parent)
        while parent is not None and parent not in found and len(found) < MAX_ANCESTORS:
            found.append(parent)
            parent = self.by_id.get(parent.parent)
        return found


def select_calls(spans: list[Span]) -> tuple[list[Call], Counter[str]]:
    """The calls of one trace in the order of time, and how many spans were left out for which reason."""
    spans = _merge_same(spans)
    tree = _Tree(spans)
    left_out: Counter[str] = Counter()
    talking = [span for span in spans if span.input or span.output]
    left_out[reasons.OTHER_SPANS] += sum(span.kind != "root" for span in spans) - sum(
        span.kind in ("model", "agent") for span in talking
    )
    left_out[reasons.NO_CONTENT] += (
        silent := sum(span.kind == "model" and not (span.input or span.output) for span in spans)
    )
    left_out[reasons.OTHER_SPANS] -= silent
    models = _select_models([span for span in talking if span.kind == "model"], tree, left_out)
    outer = _select_outer(talking, models, tree)
    if outer:
        chosen = _choose(outer, models)
        if chosen is outer:
            left_out[reasons.DUPLICATES] += len(models)
    else:
        chosen = models or [span for span in talking if has_text(span.output, "assistant")][:1]
        left_out[reasons.UNANSWERED] += 0 if chosen else sum(span.kind == "root" for span in talking)
    chosen = [_complete(span, models, tree) for span in chosen]
    facts = _merge_facts(spans)
    return [_make_call(span, tree, spans, facts) for span in sorted(chosen, key=_order)], +left_out


def _order(span: Span) -> tuple[float, float, int]:
    return span.start, span.end, span.line


def _merge_same(spans: list[Span]) -> list[Span]:
    """A span that came in pieces (its events as records of their own, its end in another file) as one."""
    by_id: dict[str, Span] = {}
    others: list[Span] = []
    for span in spans:
        known = by_id.get(span.id) if span.id else None
        if not span.id:
            others.append(span)
        elif known is None:
            by_id[span.id] = span
        else:
            by_id[span.id] = _merge_two(known, span)
    return [*by_id.values(), *others]


def _merge_two(one: Span, two: Span) -> Span:
    rank = {"model": 4, "agent": 3, "tool": 2, "root": 1}
    kinds = sorted((one.kind, two.kind), key=lambda kind: rank.get(kind, 0))
    return one._replace(
        parent=one.parent or two.parent,
        kind=kinds[-1],
        start=min(filter(None, (one.start, two.start)), default=0.0),
        end=max(one.end, two.end),
        conversation=one.conversation or two.conversation,
        input=_merge_messages(one.input, two.input),
        output=_merge_messages(one.output, two.output),
        explicit=one.explicit or two.explicit,
        metadata={**one.metadata, **two.metadata},
        facts={**one.facts, **two.facts},
    )


def _merge_messages(one: list[Message], two: list[Message]) -> list[Message]:
    """Messages that came one at a time are put together; of two versions of a list the longer one counts."""
    if not one or not two or one[0] == two[0]:
        return max(one, two, key=len)
    return [*one, *two]


def _select_models(models: list[Span], tree: _Tree, left_out: Counter[str]) -> list[Span]:
    """The innermost spans of each call, without those of sub-agents and tools."""
    wrapping = {id(outer) for span in models for outer in tree.ancestors(span) if outer.kind == "model"}
    found = [span for span in models if id(span) not in wrapping or not _is_covered(span, models, tree)]
    left_out[reasons.DUPLICATES] += len(models) - len(found)
    own = [span for span in found if not any(outer.kind == "tool" for outer in tree.ancestors(span))]
    depths = {id(span): sum(outer.kind == "agent" for outer in tree.ancestors(span)) for span in own}
    top = min((depths[id(span)] for span in own if has_text(span.output, "assistant")), default=0)
    own = [span for span in own if depths[id(span)] <= top]
    left_out[reasons.SUB_AGENTS] += len(found) - len(own)
    failed = [span for span in own if not span.output and "error" in span.metadata]
    if len(failed) < len(own) or not any(has_text(span.input, "user") for span in failed):
        own = [span for span in own if span not in failed]
        left_out[reasons.FAILED] += len(failed)
    return sorted(_drop_twins(own, left_out), key=_order)


def _is_covered(outer: Span, models: list[Span], tree: _Tree) -> bool:
    """Whether the calls within a call say all that it says."""
    inner = [span for span in models if span is not outer and outer in tree.ancestors(span)]
    return not has_text(outer.output, "assistant") or any(
        has_text(span.output, "assistant") for span in inner
    )


def _drop_twins(models: list[Span], left_out: Counter[str]) -> list[Span]:
    """Two instrumentations that saw the same call, side by side."""
    found: list[Span] = []
    seen: list[tuple[list[tuple[str, str]], list[tuple[str, str]], Span]] = []
    for span in sorted(models, key=_order):
        given, produced = list_spoken(span.input), list_spoken(span.output)
        twin = produced and any(
            given == other_given and produced == other_produced and span.start <= other.end
            for other_given, other_produced, other in seen
        )
        if twin:
            left_out[reasons.DUPLICATES] += 1
            continue
        seen.append((given, produced, span))
        found.append(span)
    return found


def _select_outer(talking: list[Span], models: list[Span], tree: _Tree) -> list[Span]:
    """The outermost agents, or the root, if they hold a person's words and the answer."""
    for kind in ("agent", "root", "other"):
        found = [span for span in talking if span.kind == kind and _is_exchange(span)]
        if kind == "other":
            found = [span for span in found if not tree.ancestors(span) and (span.explicit or not models)]
        inside = {id(span) for span in found if any(outer in found for outer in tree.ancestors(span))}
        tools = {id(span) for span in found if any(outer.kind == "tool" for outer in tree.ancestors(span))}
        found = [span for span in found if id(span) not in inside | tools]
        if found:
            return found
    return []


def _is_exchange(span: Span) -> bool:
    return has_text(span.input, "user") and has_text(span.output, "assistant")


def _choose(outer: list[Span], models: list[Span]) -> list[Span]:
    """The outer spans, unless a call within says the same and knows more of what came before."""
    last = list_spoken([*outer[-1].input, *outer[-1].output])
    for model in reversed(models):
        spoken = list_spoken([*model.input, *model.output])
        if len(spoken) > len(last) and _count_answers(model.input) > _count_answers(outer[-1].input):
            before = len(spoken) - 2
            answered = before >= 1 and spoken[-1] == last[-1] and ("user", last[-2][1]) in spoken[-3:]
            if answered and spoken[before - 1][0] == "assistant":
                return [model]
    return outer


def _count_answers(messages: list[Message]) -> int:
    """Answers before the last question."""
    spoken = list_spoken(messages)
    while spoken and spoken[-1][0] != "user":
        spoken.pop()
    return sum(role == "assistant" for role, _ in spoken)


def _complete(span: Span, models: list[Span], tree: _Tree) -> Span:
    """An outer span with what only the calls within it know: the model, tokens, tools."""
    if span.kind == "model" or span in models:
        return span
    inner = [model for model in models if span in tree.ancestors(model)] or models
    metadata = {**_add_up(inner), **span.metadata}
    steps = [
        message._replace(text="")
        for model in inner
        for message in [*after_question(model.input), *model.output]
        if message.role in ("assistant", "tool") and message.details
    ]
    system = [message for model in inner[:1] for message in model.input if message.role == "system"]
    if any(message.role == "system" for message in span.input):
        system = []
    output = _strip_repeated(span.input, span.output)
    before = span.output[: len(span.output) - len(output)]
    given = before if len(list_spoken(before)) > len(list_spoken(span.input)) else span.input
    return span._replace(input=[*system, *given, *steps], output=output, metadata=metadata)


def _strip_repeated(given: list[Message], produced: list[Message]) -> list[Message]:
    """The state of LangGraph and others: the output begins with the input."""
    spoken = [(message.role, message.text) for message in given if message.role in ("user", "assistant")]
    start = 0
    for number, message in enumerate(produced):
        if spoken and (message.role, message.text) == spoken[0]:
            spoken.pop(0)
            start = number + 1
    return produced[start:] if not spoken else produced


def _add_up(models: list[Span]) -> dict[str, object]:
    found: dict[str, object] = {}
    for model in models:
        for key, value in model.metadata.items():
            if key in ("input_tokens", "output_tokens", "cost") and isinstance(value, int | float):
                known = found.get(key, 0)
                found[key] = known + value if isinstance(known, int | float) else value
            else:
                found[key] = value
    return found


def _merge_facts(spans: list[Span]) -> dict[str, object]:
    facts: dict[str, object] = {}
    for span in sorted(spans, key=_order, reverse=True):
        for key, value in span.facts.items():
            known = facts.get(key)
            if isinstance(known, dict) and isinstance(value, dict):
                value = {**known, **value}
            facts[key] = value
    return facts


def _make_call(span: Span, tree: _Tree, spans: list[Span], facts: dict[str, object]) -> Call:
    conversation = span.conversation or next(
        (outer.conversation for outer in tree.ancestors(span) if outer.conversation), ""
    )
    if not conversation:
        named = {other.conversation for other in spans if other.conversation}
        conversation = next(iter(named)) if len(named) == 1 else ""
    metadata = dict(span.metadata)
    if span.end > span.start:
        metadata["latency_ms"] = round((span.end - span.start) * 1000)
    output = _strip_repeated(span.input, span.output)
    before = span.output[: len(span.output) - len(output)]
    if len(list_spoken(before)) > len(list_spoken(span.input)):  # a state that knows what was said earlier
        system = [message for message in span.input if message.role == "system"]
        span = span._replace(input=[*system, *before])
    span = span._replace(input=_drop_answer(span.input, output))
    stamped = [_stamp(message, span.start, {}) for message in span.input]
    answers = [number for number, message in enumerate(output) if message.role == "assistant"]
    produced = [
        _stamp(message, span.end, metadata if answers and number == answers[-1] else {})
        for number, message in enumerate(output)
    ]
    return Call(conversation, span.trace, span.start, stamped, produced, facts, span.line)


def _drop_answer(given: list[Message], produced: list[Message]) -> list[Message]:
    """The input without the answer, which some frameworks write there too."""
    if given and given[-1].role == "assistant" and list_spoken(given[-1:]) == list_spoken(produced) != []:
        return given[:-1]
    return given


def _stamp(message: Message, time: float, metadata: Mapping[str, object]) -> Message:
    stamp = {"timestamp": time} if time else {}
    return message._replace(details={**stamp, **message.details, **metadata})
