"""Two files of conversations: what has become of each session, turn and field."""

import random
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.domain.conversations.jsonl import encode_line
from datasets_app.domain.releases.changelog import (
    compare_schemas,
    draft_entry,
    propose_bump,
    redact_erased,
    redact_session_ids,
)
from datasets_app.domain.releases.comparison import MAX_SESSIONS_LISTED, Difference, compare_files

SAME = compare_schemas([], [])


def turn(session: str, index: int = 1, **fields: Any) -> dict[str, Any]:
    return {"session_id": session, "turn_index": index, "role": "user", "text": "hello", **fields}


def difference(before: Sequence[Any], after: Sequence[Any]) -> Difference:
    def lines(turns: Sequence[Any]) -> Callable[[], list[bytes]]:
        return lambda: [encode_line(item) for item in turns]

    return compare_files(lines(before), lines(after))


def test_what_is_the_same_is_no_difference() -> None:
    turns = [turn("a"), turn("a", 2), turn("b")]
    found = difference(turns, turns)
    assert found == Difference(sessions_same=2)
    assert propose_bump(found, SAME) is None


def test_each_change_is_told_by_session_turn_and_field() -> None:
    before = [turn("a"), turn("b"), turn("b", 2, metadata={"model": "x", "n": 1}), turn("c")]
    after = [turn("b"), turn("b", 2, metadata={"model": "y", "n": 1}), turn("b", 3), turn("c", text="bye")]
    after += [turn("d"), turn("d", 2)]
    found = difference(before, after)
    assert (found.added, found.removed) == (["d"], ["a"])
    assert (found.turns_added, found.turns_removed, found.turns_changed) == (3, 1, 2)
    changed = [
        (one.session_id, field.name) for one in found.changes for turn in one.turns for field in turn.fields
    ]
    assert changed == [("b", "metadata.model"), ("c", "text")]
    model = found.changes[0].turns[0].fields[0]
    assert (model.before, model.after) == ("x", "y")
    assert found.changes[0].turns[1].kind == "added"
    assert propose_bump(found, SAME) == "minor"


def test_true_is_not_one_and_order_of_keys_is_nothing() -> None:
    assert difference([turn("a", extra=[1])], [turn("a", extra=[True])]).fields == {"extra": 1}
    one, other = turn("a", x=1, y=2), turn("a", y=2, x=1)
    assert difference([one], [other]) == Difference(sessions_same=1)


def test_ids_with_quotes_and_letters_of_all_scripts_are_told_as_they_are() -> None:
    odd = 'a "quoted", {id} \\ ü\u2028'
    assert difference([], [turn(odd)]).added == [odd]


def test_totals_are_complete_where_lists_are_not() -> None:
    count = MAX_SESSIONS_LISTED + 7
    before = [turn(f"s{number}") for number in range(count)]
    found = difference(before, [{**item, "text": "other"} for item in before])
    assert (found.sessions_changed, len(found.changes), found.fields["text"]) == (
        count,
        MAX_SESSIONS_LISTED,
        count,
    )


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_it_says_what_a_plain_comparison_of_all_says(data: Any) -> None:
    """Against sets and dicts of everything, whatever order the sessions stand in."""
    texts = st.dictionaries(
        st.sampled_from("abcdefgh"), st.lists(st.sampled_from("xy"), min_size=1, max_size=3)
    )
    old, new = data.draw(texts), data.draw(texts)
    chance = random.Random(data.draw(st.integers(0, 99)))

    def lines(sessions: dict[str, list[str]]) -> list[dict[str, Any]]:
        names = list(sessions)
        chance.shuffle(names)
        return [turn(name, n, text=text) for name in names for n, text in enumerate(sessions[name], 1)]

    found = difference(lines(old), lines(new))
    assert set(found.added) == new.keys() - old.keys()
    assert set(found.removed) == old.keys() - new.keys()
    assert {change.session_id for change in found.changes} == {
        name for name in old.keys() & new.keys() if old[name] != new[name]
    }


def test_the_proposal_follows_the_greatest_change() -> None:
    corrected = difference([turn("a")], [turn("a", text="bye")])
    assert propose_bump(corrected, SAME) == "patch"
    assert propose_bump(corrected, compare_schemas(["text"], ["text", "timestamp"])) == "major"
    assert propose_bump(difference([turn("a")], []), SAME) == "minor"
    assert propose_bump(Difference(), SAME, metadata_changed=True) == "patch"


def test_the_draft_says_it_in_words() -> None:
    before = [turn("session-03", 4), turn("gone")]
    after = [turn("session-03", 4, text="bye"), *(turn(f"n{number}") for number in range(20))]
    text = draft_entry(difference(before, after), compare_schemas(["x"], ["y"]), ["Licence: MIT"])
    assert text == (
        "### Added\n\n- 20 sessions\n- Field `y`\n\n"
        "### Changed\n\n- `session-03` turn 4: text\n- Licence: MIT\n\n"
        "### Removed\n\n- 1 session\n- Field `x`"
    )


def test_an_id_that_holds_personal_data_is_not_named() -> None:
    text = draft_entry(difference([turn("ana@example.com")], []), SAME)
    assert "ana" not in text
    assert "1 session" in text


def test_once_ids_are_hashed_earlier_entries_name_no_other() -> None:
    hashed = "ab" * 32
    entry = f"### Added\n\n- 2 sessions: `{hashed}`, `ana-7`\n- Field `x`\n- `call 7` turn 1: text"
    left = f"### Added\n\n- 2 sessions: `{hashed}`, [session]\n- Field `x`\n- [session] turn 1: text"
    assert redact_session_ids(entry) == left


def test_what_was_erased_is_named_no_more() -> None:
    text = "- `call 7` turn 1: text\n- `s1`, `s10`\nSee s1, and call 7."
    left = redact_erased(text, lambda name: name == "s1", {"call 7"})
    assert left == "- [erased] turn 1: text\n- [erased], `s10`\nSee [erased], and [erased]."
