"""Chat templates: a conversation in one text, with tokens or words where each turn begins.

A template is a row of a table, and one function reads them all. Tokens in code or quotation marks are text.
"""

import re
from bisect import bisect
from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import NamedTuple

from datasets_app.domain import lazy_re
from datasets_app.domain.conversations.roles import (
    ASSISTANT,
    SYSTEM,
    TOOL,
    TOOL_CALL,
    UNKNOWN,
    USER,
    find_role,
)

# Roles of templates alone: what a model thinks, the tools it may call, and what goes on with a user's turn.
REASONING, TOOLS, MORE = "reasoning", "tools", "more"
_SILENCE = ""


class Markup(NamedTuple):
    """How a turn begins: a group that is found has the role, ``channel`` what else is said of it.

    ``roles`` are those that the word itself doesn't tell. ``spaced``: only the assistant's turns have an end,
    and the others a blank. ``preamble``: a system prompt may precede the first turn. ``words``: people write
    that too, so it takes a turn of each side.
    """

    name: str
    begin: re.Pattern[str]
    roles: Mapping[str, str] = {}
    spaced: bool = False
    preamble: bool = False
    words: bool = False


_INST = {
    "[INST]": USER, "[/INST]": ASSISTANT, "<<SYS>>": SYSTEM, "<</SYS>>": USER, "[SYSTEM_PROMPT]": SYSTEM,
    "[/SYSTEM_PROMPT]": _SILENCE, "[AVAILABLE_TOOLS]": TOOLS, "[/AVAILABLE_TOOLS]": _SILENCE,
    "[TOOL_CALLS]": TOOL_CALL, "[TOOL_RESULTS]": TOOL, "[/TOOL_RESULTS]": ASSISTANT, "[THINK]": REASONING,
    "[/THINK]": ASSISTANT,
}  # fmt: skip
_DEEPSEEK = {"tool▁calls▁begin": TOOL_CALL, "tool▁calls▁end": _SILENCE, "tool▁outputs▁begin": TOOL,
             "tool▁outputs▁end": ASSISTANT}  # fmt: skip
_TITLES = {"instruction": USER, "input": MORE, "response": ASSISTANT}
MARKUPS = (
    Markup("OpenAI Harmony", re.compile(
        r"(?=<\|(?:start|channel)\|>)(?:<\|start\|>([^<\n]{1,99}))?(?:<\|channel\|>(?P<channel>[^<\n]{1,99}))?"
        r"(?:<\|constrain\|>[^<\n]{1,99})?(?:<\|message\|>|\Z)"), {"": ASSISTANT}),
    Markup("ChatML", re.compile(
        r"<\|im_start\|>([\w.-]{1,60}(?:[ \t]+(?:name|to)=\S+)*)(?:<\|im_sep\|>|[ \t]*\n|[ \t]|\Z)")),
    Markup("Kimi", re.compile(r"<\|im_(?:user|assistant|system)\|>([^<\n]{1,60})<\|im_middle\|>")),
    Markup("Llama 3", re.compile(
        r"<\|(?:start_header_id|header_start|start_of_role)\|>([^<\n]{1,60})"
        r"<\|(?:end_header_id|header_end|end_of_role)\|>|(<\|python_tag\|>)"), {"<|python_tag|>": TOOL_CALL}),
    Markup("Gemma", re.compile(r"<start_of_turn>(\w{1,30})(?:\s|\Z)")),
    Markup("Command R", re.compile(r"<\|START_OF_TURN_TOKEN\|><\|(\w+)_TOKEN\|>")),
    Markup("DeepSeek", re.compile(r"<｜(User|Assistant|tool▁(?:calls|outputs)▁(?:begin|end))｜>"), _DEEPSEEK,
           spaced=True),
    Markup("Llama 2 or Mistral", re.compile(
        r"(\[/?(?:INST|TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT|THINK)\]|\[TOOL_CALLS\]|<</?SYS>>)"), _INST,
        spaced=True),
    Markup("Phi or Zephyr", re.compile(
        r"[<\[]\|(system|user|assistant|tool|observation|prompter|human|bot)\|[>\]]|<(human|bot)>:",
        re.IGNORECASE)),
    Markup("Alpaca", re.compile(
        r"#{2,3} ?(system|human|user|assistant|instruction|input|response):[ \t]*", re.IGNORECASE),
        _TITLES, preamble=True, words=True),
    Markup("Vicuna", re.compile(
        r"(?<![^\s>])(?:GPT4 Correct (User|Assistant)|(USER|ASSISTANT|SYSTEM)):[ \t]*"),
        spaced=True, preamble=True, words=True),
    Markup("Human and Assistant", re.compile(r"(?:(?<=\n\n)|\A)(System|Human|Assistant|AI):[ \t]*"),
           preamble=True, words=True),
    Markup("transcript", re.compile(
        r"^(system|user|assistant|human|ai|tool|developer|(?:function|tool)[ _]res(?:ponse|ult)): ?",
        re.IGNORECASE | re.MULTILINE), words=True),
)  # fmt: skip
# What ends a turn or a text, or precedes the first turn, in any template.
_END = (
    r"(?:<\|(?:im_end|endoftext|end_of_text|eot_id|eom_id|eot|end|return|call|end_of_turn|endofturn|eos|pad|"
    r"begin_of_text|END_OF_TURN_TOKEN)\|>|</?s>|<end_of_turn>|<(?:eos|bos|pad|unk|sop|BOS_TOKEN|EOS_TOKEN)>|"
    r"<｜(?:begin|end)▁of▁sentence｜>|\[\|endofturn\|\]|\[(?:gMASK|PAD)\])"
)
_LEAD = lazy_re.compile(rf"(?:\s|{_END})*")
_TEXT_END = re.compile(r"<\|(?:endoftext|end_of_text|begin_of_text)\|>|<(?:eos|bos)>")
_LAST_END = lazy_re.compile(rf"{_END}\s*\Z")
MAX_END_CHARACTERS = 60
_TOKENS = {
    markup.name: re.compile(rf"{_END}(?:[ \t]*{_END})*|{markup.begin.pattern}", markup.begin.flags)
    for markup in MARKUPS
}
_CODE = re.compile(r"```(?:(?!```).)*\n[ \t]*```(?!\w)|`[^`\n]+`", re.DOTALL)
_BLANK = re.compile(r"\s*")
_REST = re.compile(r"[ \t]*(\n|\Z)?")
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "‘": "’", "«": "»", "(": ")"}
_TO = re.compile(r"\bto=(?:functions\.)?([\w.-]+)")


class Part(NamedTuple):
    """What somebody says; ``word`` is the role as it is written, ``tool`` what is called or answers."""

    role: str
    text: str
    word: str = ""
    tool: str = ""
    start: int = 0


class Marked(NamedTuple):
    """``is_closed``: some turn has an end of its own. ``between`` are texts that belong to no turn."""

    markup: Markup
    parts: list[Part]
    is_closed: bool
    between: list[str]

    @property
    def sides(self) -> set[str]:
        return {part.role for part in self.parts} & {USER, ASSISTANT}

    @property
    def is_conversation(self) -> bool:
        """Whether this is more than a text that mentions a tag."""
        return len(self.sides) == 2 or bool(self.sides and self.is_closed and not self.markup.words)


def split_markup(text: str, *, preamble: bool = False) -> Marked | None:
    """The turns of a text that begins with one, or with a ``preamble`` if the template has any."""
    text = text.replace("\r\n", "\n")
    lead = _LEAD.match(text)
    at = lead.end() if lead else 0
    is_begun = bool(text[:at].strip())  # by a token, behind which a system prompt may follow
    found = None
    for markup in MARKUPS:
        takes_preamble = is_begun or (preamble and markup.preamble)
        if not (markup.begin.search if takes_preamble else markup.begin.match)(text, at):
            continue
        marked = _split(text, at, markup, takes_preamble)
        if marked and marked.is_conversation:
            return marked
        found = found or marked
    return found


def find_markup(text: str) -> str:
    """The name of the template whose tokens a text has, wherever they are; empty if it has none."""
    code = _list_code(text)
    for markup in MARKUPS[:-1]:
        if any(not _is_mention(text, match, code) for match in markup.begin.finditer(text)):
            return markup.name
    return ""


def split_texts(text: str) -> list[tuple[int, str]]:
    """The conversations of a plain text, each with its line: one each line; or each behind the end of a text,
    or behind a system prompt where the first begins with one."""
    lines = [line for line in enumerate(text.split("\n"), 1) if line[1].strip()]
    each = (split_markup(line, preamble=True) for _, line in lines)
    if len(lines) > 1 and all(marked and len(marked.sides) == 2 for marked in each):
        return lines
    whole = split_markup(text, preamble=True)
    said = [part for part in whole.parts if part.text] if whole else []
    if not whole or not said:
        return []
    turns = list(pairwise(said))
    ends = [bool(_TEXT_END.search(text, before.start, part.start)) for before, part in turns]
    if any(is_end and before.role == USER for is_end, (before, _) in zip(ends, turns, strict=True)):
        ends = [False] * len(turns)  # of each turn, not of a text
    starts = [
        _find_start(whole.parts, before)
        for is_end, (before, part) in zip(ends, turns, strict=True)
        if is_end or (said[0].role == part.role == SYSTEM and before.role == ASSISTANT)
    ]
    pieces = [text[start:end] for start, end in pairwise([0, *starts, len(text)])]
    numbers = accumulate((piece.count("\n") for piece in pieces), initial=1)
    return list(zip(numbers, pieces, strict=False))


def _find_start(parts: list[Part], before: Part) -> int:
    """Where the next part begins: tokens without a text may precede what is said."""
    return next(part.start for part in parts if part.start > before.start)


def strip_ends(text: str) -> str:
    """Without the tokens of an end that directly follow the last word."""
    end = len(text)
    while match := _LAST_END.search(text, max(0, end - MAX_END_CHARACTERS), end):
        end = match.start()
    before = text[:end][-1:]
    return text[:end] if before.strip("`\"'(“‘«").strip() else text


def _split(text: str, at: int, markup: Markup, takes_preamble: bool) -> Marked | None:
    code = _list_code(text)
    tokens = [
        match
        for match in _TOKENS[markup.name].finditer(text)
        if match.start() >= at
        and not _is_mention(text, match, code)
        and (match.lastindex or _is_end(text, match, markup))
    ]
    limit = len(text.rstrip())
    is_closed = any(not match.lastindex and match.end() < limit for match in tokens)
    parts = [Part(SYSTEM, "", start=at)]
    for match in tokens:
        last = parts[-1]
        role, word, tool = _read_begin(match, markup) if match.lastindex else (_SILENCE, "", "")
        if match.lastindex and not _is_begin(text, match, role, last, at, markup, is_closed):
            continue
        parts[-1] = last._replace(
            text=_join(last.text, text[at : match.start()]), word=MORE if role == MORE else last.word
        )
        if role != MORE:
            parts.append(Part(role, "", word, tool, match.start()))
        at = match.end()
    parts[-1] = parts[-1]._replace(text=_join(parts[-1].text, text[at:]))
    if len(parts) == 1 or (parts[0].text and not takes_preamble):
        return None
    between = [part.text for part in parts if not part.role and part.text]
    spoken = [part for part in parts[not parts[0].text :] if part.role]
    return Marked(markup, spoken, any(not match.lastindex for match in tokens), between)


def _join(before: str, said: str) -> str:
    return "\n\n".join(filter(None, (before, said.strip())))


def _read_begin(match: re.Match[str], markup: Markup) -> tuple[str, str, str]:
    """(role, word, tool) of the beginning of a turn."""
    named = match.re.groupindex.values()
    word = next(
        (match[group] for group in range(1, match.re.groups + 1) if match[group] and group not in named), ""
    )
    channel = match["channel"] or "" if named else ""
    plain = (word.split() or [""])[0]
    if (to := _TO.search(f"{word} {channel}")) and to[1] not in ("assistant", "all"):
        return TOOL_CALL, word, to[1]
    if plain.startswith("functions."):
        return TOOL, word, plain.removeprefix("functions.")
    if channel.split()[:1] in (["analysis"], ["commentary"]):
        return REASONING, word, ""
    role = markup.roles.get(plain, markup.roles.get(plain.lower()))
    return (find_role(plain) or UNKNOWN if role is None else role), word, ""


def _is_begin(
    text: str, match: re.Match[str], role: str, last: Part, at: int, markup: Markup, is_closed: bool
) -> bool:
    """Whether a turn begins here. Within a line, and behind a turn that has no end, it may be a mention."""
    if role == MORE:
        return last.role == USER and last.word != MORE
    start = match.start()
    before = start
    while before and text[before - 1] in " \t":
        before -= 1
    is_first = not before or text[before - 1] == "\n"
    if is_closed and not markup.spaced and not markup.words:  # a line of its own
        is_first &= "\n" in text[match.end() - 1 : match.end() + 1]
    blank = _BLANK.match(text, at)
    says_nothing = not last.text and blank is not None and blank.end() >= start
    if is_first or not last.role or (says_nothing and role not in (USER, ASSISTANT)):
        return True
    if role == last.role:
        return False
    if role == TOOL_CALL or not is_closed or not text[start - 1].isspace():
        return True
    return markup.spaced and last.role != ASSISTANT


def _is_end(text: str, match: re.Match[str], markup: Markup) -> bool:
    """Whether nothing follows on the line but the next turn."""
    rest = _REST.match(text, match.end())
    return bool(rest and (rest[1] is not None or markup.begin.match(text, rest.end())))


def _is_mention(text: str, match: re.Match[str], code: list[tuple[int, ...]]) -> bool:
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    if before and after == _QUOTES.get(before):
        return True
    place = bisect(code, (match.start(),)) - 1
    return place >= 0 and match.start() < code[place][1]


def _list_code(text: str) -> list[tuple[int, ...]]:
    return [match.span() for match in _CODE.finditer(text)] if "`" in text else []
