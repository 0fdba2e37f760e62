"""Messages that point to their parents: what was edited or answered again isn't said twice."""

from pathlib import Path
from typing import Any

import pytest

from datasets_app.domain.traces.reasons import OTHER_BRANCHES
from datasets_app.domain.traces.records import LEFT_OUT, NODE, Message
from datasets_app.domain.traces.trees import Node, choose_branch, leave_out_branches
from tests.traces.exports import HELLO, HI, MORE
from tests.traces.reading import convert, texts, write

PAIR = [("user", HI), ("assistant", HELLO)]
KEYS = [("id", "parent_id"), ("message_id", "parent_id"), ("uuid", "parent_message_uuid"), ("id", "parentId"),
        ("messageId", "parentMessageId"), ("uuid", "parentUuid"), ("id", "parent_message_id")]  # fmt: skip
# (id, parent, role, text): the first answer was regenerated, the first question edited in another tree.
REGENERATED = [("a", None, "user", HI), ("b", "a", "assistant", "Old one."), ("c", "a", "assistant", HELLO)]
EDITED = [("a", None, "user", "Hello?"), ("b", "a", "assistant", "Yes?"), ("c", "b", "user", "Old"),
          ("d", "c", "assistant", "Old one."), ("e", "b", "user", HI),
          ("f", "e", "assistant", HELLO)]  # fmt: skip


def make(nodes: list[tuple[Any, ...]], keys: tuple[str, str], **more: Any) -> list[dict[str, Any]]:
    return [
        {
            keys[0]: name,
            keys[1]: parent,
            "role": role,
            "content": text,
            "created_at": 1767607200 + place,
            **more,
        }
        for place, (name, parent, role, text) in enumerate(nodes)
    ]


@pytest.mark.parametrize("keys", KEYS, ids="/".join)
@pytest.mark.parametrize("in_rows", [True, False])
def test_an_answer_that_was_regenerated_is_counted(
    keys: tuple[str, str], in_rows: bool, tmp_path: Path
) -> None:
    for nodes, count in ((REGENERATED, 1), (EDITED, 2)):
        said = make(nodes, keys, **({"conversation_id": "q"} if in_rows else {}))
        value = said if in_rows else [{"conversation_id": "q", "title": "t", "messages": said}]
        found, report = convert(write(tmp_path, value, "a.json"))
        assert texts(found["q"])[-2:] == PAIR
        assert report.left_out[OTHER_BRANCHES].total == count
        assert not any("node" in (turn.metadata or {}) for turn in found["q"])


def test_a_first_question_that_was_edited_below_a_system_prompt_is_counted(tmp_path: Path) -> None:
    nodes = [("s", None, "system", "Be kind."), ("a", "s", "user", "Hello?"), ("b", "s", "user", HI),
             ("t", "b", "tool", "x"), ("c", "t", "assistant", HELLO)]  # fmt: skip
    said = make(nodes, ("id", "parent_id"), conversation_id="q")
    found, report = convert(write(tmp_path, said, "a.jsonl"))
    assert texts(found["q"]) == PAIR
    assert report.left_out[OTHER_BRANCHES].total == 1


def test_trees_one_message_a_line_are_conversations_of_their_own(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = []
    for tree in ("x", "y"):
        nodes = [
            (f"{tree}{name}", parent and f"{tree}{parent}", *said) for name, parent, *said in REGENERATED
        ]
        rows += make(nodes, ("message_id", "parent_id"), message_tree_id=tree)
    rows[4] |= {"rank": 0}
    rows[5] |= {"rank": 1}
    found, report = convert(write(tmp_path, rows, "a.jsonl"))
    assert texts(found["x"]) == PAIR
    assert texts(found["y"]) == [PAIR[0], ("assistant", "Old one.")]  # the better rank
    assert report.left_out[OTHER_BRANCHES].total == 2


def test_a_claude_export_counts_what_was_regenerated(tmp_path: Path) -> None:
    said = [
        {"uuid": name, "parent_message_uuid": parent or "00000000-0000-4000-8000-000000000000", "text": text,
         "sender": {"user": "human"}.get(role, role), "created_at": f"2026-01-05T10:00:0{place}Z"}
        for place, (name, parent, role, text) in enumerate(REGENERATED)
    ]  # fmt: skip
    found, report = convert(write(tmp_path, [{"uuid": "q", "name": "n", "chat_messages": said}], "a.json"))
    assert texts(found["q"]) == PAIR
    assert report.left_out[OTHER_BRANCHES].total == 1


@pytest.mark.parametrize(
    "parents", [[None, None, None], ["t", "t", "t"], [None, "a", "b"], ["x", "a", None]], ids=str
)
def test_messages_without_a_fork_stay(parents: list[str | None], tmp_path: Path) -> None:
    nodes = [
        (name, parent, role, text)
        for name, parent, (role, text) in zip("abc", parents, [*PAIR, ("user", MORE)], strict=True)
    ]
    said = make(nodes, ("id", "parent_id"), conversation_id="q")
    found, report = convert(write(tmp_path, said, "a.jsonl"))
    assert texts(found["q"]) == [*PAIR, ("user", MORE)]
    assert not report.left_out


# One message a letter, "id<parent": what is kept, and of what kind the tree is.
THREADS = {
    "a thread names its first message": ("1u 2a<1 3u<1 4a<1", "1 2 3 4"),
    "a thread that begins with the assistant": ("1a 2u<1 3a<1 4u<1", "1 2 3 4"),
    "a thread below a system prompt": ("s_ 1u<s 2a<1 3u<1 4a<1", "s 1 2 3 4"),
    "a thread with one reply to a reply": ("1u 2a<1 3u<1 4a<3", "1 2 3 4"),
    "an answer of a thread was regenerated": ("1u 2a<1 3u<1 4a<3 5a<3 6u<1", "1 2 3 5 6"),
    "a thread below a regenerated answer": ("0u 9a<0 1a<0 2u<1 3a<1 4u<1", "0 1 2 3 4"),
    "a thread below the other answer": ("0u 1a<0 2u<1 3a<1 9a<0 8u<9 7a<8", "0 9 8 7"),
    "results of parallel calls": ("1u 2a<1 t_<2 r_<2 3a<r", "1 2 t r 3"),
    "results of parallel calls, and a regenerated answer": ("1u 2a<1 t_<2 r_<2 3a<r 4u<3 5a<4 6a<4",
                                                            "1 2 t r 3 4 6"),
    "results of the other answer": ("1u 9a<1 t_<9 r_<9 2a<1 3u<2 4a<3", "1 2 3 4"),
    "the first of two results is answered": ("1u 2a<1 t_<2 r_<2 3a<t 4u<3 5a<4 6a<4", "1 2 t r 3 4 6"),
    "both results are answered": ("1u 2a<1 t_<2 r_<2 3a<t 4a<r 5u<4 6a<5 7a<5", "1 2 t r 3 4 5 7"),
    "regenerated twice": ("1u 2a<1 3a<1 4a<1", "1 4"),
    "regenerated, then edited": ("1u 2a<1 3a<1 4u<3 5u<3 6a<5", "1 3 5 6"),
    "a fork below the branch that is left": ("1u 2a<1 3u<2 4u<2 5a<1 6u<5 7a<6", "1 5 6 7"),
}  # fmt: skip


@pytest.mark.parametrize(("written", "kept"), THREADS.values(), ids=list(THREADS))
def test_threads_and_parallel_results_are_no_branches(written: str, kept: str) -> None:
    said = []
    for word in written.split():
        (name, role), _, parent = word[:2], *word[2:].partition("<")[1:]
        speaker = {"u": "user", "a": "assistant", "_": "system" if name == "s" else "tool"}[role]
        said.append(Message(speaker, name, {NODE: [name, parent, None]}))
    left = leave_out_branches(said)
    assert [message.text for message in left if message.role != LEFT_OUT] == kept.split()
    assert len(left) == len(said)


def test_messages_that_name_each_other_are_read(tmp_path: Path) -> None:
    nodes = [("a", "b", "user", HI), ("c", "a", "assistant", "Old."), ("b", "a", "assistant", HELLO)]
    found, _ = convert(write(tmp_path, make(nodes, ("id", "parent_id"), conversation_id="q"), "a.jsonl"))
    assert len(found["q"]) == 3


def test_a_tree_of_many_short_branches_is_read_once() -> None:
    """Climbed anew from each of its leaves, it would take minutes and gigabytes."""
    nodes = {"0": Node("0", "", 0.0, 0)}
    for number in range(1, 10_001):
        nodes[str(number)] = Node(str(number), str(number - 1), float(number), number)
        nodes[f"{number}b"] = Node(f"{number}b", str(number - 1), float(number), -number)
    shuffled = dict(sorted(nodes.items(), reverse=True))
    assert [node.value for node in choose_branch(shuffled)][:-1] == list(range(10_000))
