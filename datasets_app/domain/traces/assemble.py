"""Spans, calls and conversations in any order → conversations in the order of time, in bounded memory.

Spans are sorted by trace and reduced to calls; calls are sorted by conversation and put together; what names
no conversation continues an earlier one if it begins with all of it, an answer included.
"""

from collections.abc import Iterable, Iterator
from hashlib import blake2b

from datasets_app.domain.conversations.records import LineError
from datasets_app.domain.spool import Spool
from datasets_app.domain.traces import reasons
from datasets_app.domain.traces.rebuild import Spoken, drop_answer, list_spoken, rebuild_conversation
from datasets_app.domain.traces.records import Call, Conversation, LabeledText, Message, Remark, Span
from datasets_app.domain.traces.report import Report
from datasets_app.domain.traces.select_calls import select_calls

Record = Span | Call | Conversation | LabeledText | Remark | LineError


def assemble(records: Iterable[Record], report: Report, *, labeled_texts: bool) -> Iterator[Conversation]:
    """Conversations of the file come at once; those of calls once all of it has been read. Reports what it
    reads and leaves out. With ``labeled_texts``, a labeled text becomes a conversation of one reply, which
    names the place of the text."""
    spans: Spool[Span] = Spool(Span)
    calls: Spool[Call] = Spool(Call)
    for record in records:
        if type(record) is Conversation:
            yield record
        elif type(record) is Span:
            spans.add(record.trace or f"\0{record.line}", record.start, record)
        elif type(record) is Call:
            _add_call(calls, record, report)
        elif type(record) is LineError:
            report.add_problem(record)
        elif type(record) is LabeledText:
            if labeled_texts:
                yield _make_reply(record)
            else:
                report.left_out[reasons.NOT_CONVERSATIONS].add(count=max(1, len(record.labels)))
        elif type(record) is Remark and record.total:
            notes = report.remarks if record.what in reasons.REMEDIES else report.left_out
            notes[record.what].add(record.line, count=record.total)
    for group in spans.groups():
        report.traces += 1
        found, left_out = select_calls(group)
        for reason, count in left_out.items():
            report.left_out[reason].add(count=count)
        for call in found:
            _add_call(calls, call, report)
    yield from _chain(_rebuild(calls))


def _add_call(calls: Spool[Call], call: Call, report: Report) -> None:
    report.calls += 1
    if not call.separate and all(message.role in ("system", "assistant") for message in call.input):
        report.remarks[reasons.NO_QUESTION].add(call.line)
    if not call.output and (not call.input or call.input[-1].role != "assistant"):
        report.remarks[reasons.NO_REPLY].add(call.line)
    key = f"c{call.conversation}" if call.conversation else f"t{call.trace or f'{chr(0)}{call.line}'}"
    calls.add(key, call.start, drop_answer(call))


def _make_reply(record: LabeledText) -> Conversation:
    details = {"labels": record.labels, "place": record.place}
    return Conversation("", [Message("assistant", record.text, details)], {}, record.line)


def _rebuild(calls: Spool[Call]) -> Iterator[tuple[float, bool, Conversation]]:
    """(start, whether it has an id of its own, conversation)."""
    for group in calls.groups():
        first = group[0]
        facts = {key: value for call in reversed(group) for key, value in call.facts.items()}
        if first.trace:
            facts["trace_ids"] = list(dict.fromkeys(call.trace for call in group))
        name, messages = first.conversation or first.trace, rebuild_conversation(group)
        conversation = Conversation(name, messages, facts, first.line, first.separate)
        yield first.start, bool(first.conversation), conversation


def _chain(found: Iterator[tuple[float, bool, Conversation]]) -> Iterator[Conversation]:
    in_time: Spool[tuple[bool, Conversation]] = Spool(tuple[bool, Conversation])
    for start, named, conversation in found:
        in_time.add("", start, (named, conversation))
    chains: Spool[Conversation] = Spool(Conversation)
    waiting: dict[int, list[int]] = {}
    count = 0
    for named, conversation in in_time.values():
        number = None
        if not named:
            digests = _digest_prefixes(list_spoken(conversation.messages))
            number = _find_chain(waiting, [digest for digest, _ in digests[:-1]])
            if digests and digests[-1][1]:
                waiting.setdefault(digests[-1][0], []).append(count if number is None else number)
        if number is None:
            number = count
            count += 1
        chains.add(f"{number:012d}", 0, conversation)
    for group in chains.groups():
        yield _merge_chain(group)


def _merge_chain(group: list[Conversation]) -> Conversation:
    """The last one has it all; what the earlier ones know of their answers is kept."""
    messages = group[0].messages
    for later in group[1:]:
        messages = rebuild_conversation([Call("", "", 0, [], messages), Call("", "", 0, later.messages, [])])
    facts = {key: value for conversation in reversed(group) for key, value in conversation.facts.items()}
    traces = [trace for conversation in group for trace in conversation.facts.get("trace_ids", ())]
    if traces:
        facts["trace_ids"] = traces
    return group[0]._replace(messages=messages, facts=facts)


def _digest_prefixes(spoken: Spoken) -> list[tuple[int, bool]]:
    """(digest, whether it ends with an answer) of what was said up to each answer, and of all."""
    digest = blake2b(digest_size=8)
    found: list[tuple[int, bool]] = []
    for number, (role, text) in enumerate(spoken):
        digest.update(f"{role}\0{text}\0".encode(errors="surrogatepass"))
        if role == "assistant" or number == len(spoken) - 1:
            found.append((int.from_bytes(digest.digest(), "little"), role == "assistant"))
    return found


def _find_chain(waiting: dict[int, list[int]], digests: list[int]) -> int | None:
    """The chain that the longest beginning ends, which then no longer waits for its continuation."""
    for digest in reversed(digests):
        if chains := waiting.get(digest):
            number = chains.pop()
            if not chains:
                del waiting[digest]
            return number
    return None
