"""What the offline writer writes: the same for a seed, in any persona's voice, what each kind promises."""

import hashlib
import re
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_app.catalog.personas import load_default_persona
from datasets_app.domain.conversations.jsonl import encode_turn
from datasets_app.domain.conversations.records import TurnRecord
from datasets_app.domain.generation import lexicon, style
from datasets_app.domain.generation.offline import BloomFilter, OfflineWriter
from datasets_app.domain.generation.plan import GenerationRequest, PlannedSession, Profile, plan_sessions
from datasets_app.domain.generation.voice import VoiceError
from datasets_app.domain.personas.persona import PersonaDocument

# SHA-256 of 60 sessions for the persona of the demonstration. It changes with the phrases and with every
# other change of what is written: then offline.VERSION (for anything but phrases) and this are to follow.
EMOJI = re.compile("[\U0001f300-\U0001faff\u2600-\u27bf\u2b50\u2b06]")
DIGEST = "d860e31c5da2933f770c0496fd19c2545c8df784755e7dac678772d59f737f35"

ORDINARY = (
    "sorry",
    "problem",
    "please",
    "just",
    "can't",
    "check",
    "help",
    "need",
    "good",
    "first",
    "page",
    "see",
)
# Nearly every case has wordings with one of these; the others have a place in few cases, or in none.
COMMON = ("because", "choose", "check", "first")
PREFERRED = (*COMMON, "together", "gently", "step by step", "craftsmanship", "wunderbar")
REFUSES = re.compile(
    r"\b(won't|can't|cannot|will not|am not able to|I'm not able to"
    r"|I(?:'m| am) still not able to|have to decline|must decline|decline again|say no|still a no)\b"
)
LOOKS_ALIKE = re.compile(
    r"\b(attack|kill|die|dead|shoot|shot|bomb|explod|blow|blew|fire|weapon|inject|poison|victim|zombie|hang|strangle"
    r"|abort|trigger|hit|survive|bombard|orphan|execute|harm|defuse|brute|chok|crash)",
    re.IGNORECASE,
)


def sessions(
    persona: PersonaDocument, count: int, profile: Profile | None = None, **wish: Any
) -> list[tuple[PlannedSession, list[TurnRecord]]]:
    writer = OfflineWriter(persona)
    asked = GenerationRequest(
        count, persona_id=persona.id, **{"brand_categories": writer.voice.brand_categories, **wish}
    )
    return [(each.planned, each.turns) for each in writer.write_all(plan_sessions(asked, profile=profile))]


def replies(found: list[tuple[PlannedSession, list[TurnRecord]]], tag: str = "brand:on") -> list[str]:
    """Those so tagged, of sessions that are no safety traps."""
    return [
        turn.text
        for planned, turns in found
        if planned.kind != "safety_trap"
        for turn in turns
        if turn.role == "assistant" and tag in turn.tags
    ]


def demo() -> PersonaDocument:
    return load_default_persona()[0]


def test_the_bytes_are_those_of_every_machine() -> None:
    total = hashlib.sha256()
    for _, turns in sessions(demo(), 60):
        for turn in turns:
            total.update(encode_turn(turn._replace(session_id="")))
    assert total.hexdigest() == DIGEST


def test_another_seed_gives_other_texts() -> None:
    def texts(seed: int) -> set[str]:
        return set(replies(sessions(demo(), 40, seed=seed)))

    assert len(texts(1) & texts(2)) == 0


def test_no_reply_repeats_another() -> None:
    counted = Counter(
        turn.text for _, turns in sessions(demo(), 400) for turn in turns if turn.role == "assistant"
    )
    assert counted.total() == 1200
    assert counted.total() == len(counted)


def test_what_would_repeat_is_written_anew() -> None:
    writer, planned = OfflineWriter(demo()), plan_sessions(GenerationRequest(1))[0]
    first, second = (written.turns for written in writer.write_all([planned, planned]))
    assert first == writer.write(planned)
    texts = {turn.text for turn in first if turn.role == "assistant"}
    assert not texts & {turn.text for turn in second}
    assert second == writer.write(planned._replace(seed=f"{planned.seed}/1"))


def test_a_kind_that_has_said_all_it_can_is_not_tried_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    writer, planned = OfflineWriter(demo()), plan_sessions(GenerationRequest(1))[0]
    ways = [writer.write(planned._replace(seed=f"{planned.seed}/{number}")) for number in range(3)]
    written: list[str] = []

    def write_one_of_three(given: PlannedSession) -> list[TurnRecord]:
        written.append(given.seed)
        return ways[len(written) % len(ways)]

    monkeypatch.setattr(writer, "write", write_one_of_three)
    count = 200
    assert len(list(writer.write_all([planned] * count))) == count
    assert len(written) < 3 * count


def test_what_was_heard_is_known_again() -> None:
    heard = BloomFilter()
    for number in range(2000):
        heard.add(f"text {number}")
    assert all(heard.may_contain(f"text {number}") for number in range(2000))
    assert sum(heard.may_contain(f"other {number}") for number in range(2000)) == 0


def test_turns_are_a_conversation_of_the_planned_length() -> None:
    for planned, turns in sessions(demo(), 60, turns=(2, 13)):
        assert [turn.turn_index for turn in turns] == list(range(1, planned.turns + 1))
        assert all(turn.role == ("user", "assistant")[turn.turn_index % 2 == 0] for turn in turns)
        assert all(turn.text.strip() and turn.persona_id == "default_v1" for turn in turns)
        for turn in turns:
            labels = [tag for tag in turn.tags if tag.startswith("brand:")]
            assert len(labels) == (turn.role == "assistant")
            assert [tag for tag in turn.tags if tag not in labels] == list(planned.tags)


def test_the_longest_sessions_are_written_as_well() -> None:
    (_, turns), *_ = sessions(demo(), 3, turns=(99, 100))
    assert len(turns) in {99, 100}


def test_sentences_are_whole() -> None:
    for _, turns in sessions(demo(), 300):
        for turn in turns:
            assert not re.search(
                r"[{}<>|]|\s\s|\s[,.;!?]|\b(a|an|the|your|our|my) (a|an|the|your|our|my)\b", turn.text
            )
            assert not re.search(r"\b(\w+) \1\b(?! no\b)", turn.text.replace("had had", ""), re.IGNORECASE)
            assert not re.search(r"\ba [aeio]\w", turn.text)
            if turn.role == "assistant":
                assert turn.text[0].isupper() or not turn.text[0].isalpha()
                assert not re.search(r"[.!?] [a-z]", turn.text)
                assert not re.search(r"\b(our|my) (freelancers|drivers|old tablet|new phone)\b", turn.text)


def test_half_of_the_replies_of_a_brand_trap_give_in() -> None:
    for planned, turns in sessions(demo(), 40, brand_trap_ratio=1, safety_trap_ratio=0):
        assert planned.kind == "brand_trap"
        labels = [("brand:off" in turn.tags) for turn in turns if turn.role == "assistant"]
        assert 1 <= sum(labels) <= 2
    assert replies(sessions(demo(), 40, brand_trap_ratio=0), "brand:off") == []


def test_answers_to_safety_traps_refuse_and_tell_nothing() -> None:
    for planned, turns in sessions(demo(), 120, safety_trap_ratio=1, brand_trap_ratio=0, turns=(2, 10)):
        assert planned.kind == "safety_trap"
        for turn in turns:
            if turn.role == "assistant":
                assert REFUSES.search(turn.text), turn.text
                assert not re.search(
                    r"\b(step (\d|one|two)|ingredients|milligrams?|mg|tablets? (a|per) day|here is how)\b",
                    turn.text,
                )


def test_look_alikes_sound_dangerous_and_are_answered() -> None:
    for planned, turns in sessions(demo(), 60, safety_trap_ratio=0, brand_trap_ratio=0, edge_case_share=1):
        assert planned.kind == "edge_case"
        assert LOOKS_ALIKE.search(turns[0].text), turns[0].text
        assert sum(bool(LOOKS_ALIKE.search(turn.text)) for turn in turns if turn.role == "assistant") >= 1
        for turn in turns:
            if turn.role == "assistant":
                assert not re.search(r"\b(can't|cannot|won't|unable|sorry|decline)\b", turn.text, re.I), (
                    turn.text
                )


# --- voices --------------------------------------------------------------------------------------


@given(
    preferred=st.lists(st.sampled_from(PREFERRED), max_size=4, unique=True),
    avoid=st.lists(st.sampled_from(ORDINARY + ("awesome", "circle back", "lol")), max_size=6, unique=True),
    contractions=st.booleans(),
    emojis=st.booleans(),
    longest=st.sampled_from([None, 9, 14, 20]),
    exemplars=st.lists(
        st.sampled_from(["Happy to help!", "Let's take this one step at a time.", "Noted."]), max_size=2
    ),
    tone=st.sampled_from([[], ["warm"], ["formal"], ["playful"]]),
    seed=st.integers(0, 999),
)
@settings(max_examples=50, deadline=None)
def test_a_persona_is_obeyed(
    preferred: list[str],
    avoid: list[str],
    contractions: bool,
    emojis: bool,
    longest: int | None,
    exemplars: list[str],
    tone: list[str],
    seed: int,
) -> None:
    persona = PersonaDocument(
        "acme",
        exemplars=tuple(exemplars),
        preferred=tuple(preferred),
        avoid=tuple(avoid),
        style_rules={
            "contractions": {"allowed": contractions},
            "emojis": {"allowed": emojis},
            "tone": tone,
            **({"sentence_length": {"max_avg": longest}} if longest else {}),
        },
    )
    found = sessions(persona, 12, seed=seed)
    avoided = style.build_matcher(avoid)
    for planned, turns in found:
        for turn in turns:
            if "brand:on" not in turn.tags:
                continue
            assert avoided is None or not avoided.search(turn.text), turn.text
            assert contractions or style.expand_contractions(turn.text) == turn.text, turn.text
            assert emojis or not EMOJI.search(turn.text), turn.text
            assert not longest or style.average_sentence_length(turn.text) <= longest, turn.text
            if planned.kind == "safety_trap":
                assert REFUSES.search(turn.text), turn.text
    said = [text for text in replies(found) if not text.endswith("?")]
    wanted = style.build_matcher([word for word in preferred if word in COMMON and word not in avoid])
    if wanted:
        assert sum(bool(wanted.search(text)) for text in said) >= 0.3 * len(said)
    # No sentence is added just to use a word.
    assert not any(word in text.lower() for text in said for word in ("wunderbar", "craftsmanship"))


@given(st.integers(0, 10_000))
@settings(max_examples=15, deadline=None)
def test_off_brand_is_the_reverse(seed: int) -> None:
    found = sessions(demo(), 20, seed=seed)
    avoided, preferred = style.build_matcher(demo().avoid), style.build_matcher(demo().preferred)
    assert avoided
    assert preferred
    off, on = replies(found, "brand:off"), replies(found)
    assert all(avoided.search(text) for text in off)
    assert not any(avoided.search(text) for text in on)
    assert sum(bool(preferred.search(text)) for text in off) == 0
    assert sum(bool(preferred.search(text)) for text in on) >= 0.9 * len(on)


def test_emoji_are_used_where_they_are_the_persona_s_own() -> None:
    persona = replace(demo(), style_rules={"emojis": {"allowed": True}})
    on = replies(sessions(persona, 30))
    assert 0.2 < sum(bool(EMOJI.search(text)) for text in on) / len(on) < 0.5


def test_a_persona_without_words_and_rules_has_a_voice_too() -> None:
    found = sessions(PersonaDocument("plain"), 60)
    texts = Counter(replies(found) + replies(found, "brand:off"))
    assert texts.total() == len(texts)


def test_a_formal_persona_is_not_trapped_by_formality() -> None:
    persona = replace(demo(), style_rules={"tone": ["formal"]})
    categories = {
        planned.trap_category for planned, _ in sessions(persona, 40) if planned.kind == "brand_trap"
    }
    assert categories == {"slang", "hype", "rudeness"}


def test_a_preferred_word_takes_the_place_of_its_twin() -> None:
    persona = replace(demo(), preferred=("gonna", "folks", "cheers"), style_rules={})
    texts = replies(sessions(persona, 60))
    assert not any(re.search(r"\b(going to|people|thanks)\b", text, re.IGNORECASE) for text in texts)
    assert sum(bool(re.search(r"\b(gonna|folks|cheers)\b", text, re.IGNORECASE)) for text in texts) > 20
    assert not any(f'"{word}"' in text for text in texts for word in persona.preferred)


def test_a_twin_brings_its_article_and_a_polite_word_begins_the_sentence() -> None:
    assert lexicon.replace_phrases(("great => epic",), "Have a great day.") == "Have an epic day."
    assert lexicon.replace_phrases(("easy => simple",), "An easy fix.") == "A simple fix."
    lines = ("^open => please open",)
    assert lexicon.replace_phrases(lines, "Open it. Then open that.") == "Please open it. Then open that."


def test_a_word_that_no_sentence_does_without_is_refused() -> None:
    with pytest.raises(VoiceError, match="avoids 'the'"):
        OfflineWriter(replace(demo(), avoid=("lol", "The")))


def test_words_of_a_lexicon_are_letters_whatever_they_are() -> None:
    odd = ("{doc}", "<a|b>", "100 %", "~noun", "because ?", r"\d+")
    found = sessions(replace(demo(), preferred=odd, avoid=("(", "C++", "[x]")), 20)
    for text in replies(found) + replies(found, "brand:off"):
        assert not re.search(r"[{}<>|]", text)


# --- a source ------------------------------------------------------------------------------------


def test_sessions_follow_a_profile() -> None:
    profile = Profile(
        scenarios=(("restaurant_booking", 3), ("orders", 1)),
        tag_sets=((("channel:web", "vip"), 1), ((), 1)),
        turn_counts=((3, 1), (8, 1)),
        reply_words=(10, 12, 15),
    )
    found = sessions(demo(), 80, profile, safety_trap_ratio=0.1, brand_trap_ratio=0)
    assert {planned.turns for planned, _ in found} == {3, 8}
    ordinary = [(planned, turns) for planned, turns in found if planned.kind == "scenario"]
    named = Counter(planned.scenario for planned, _ in ordinary)
    assert set(named) == {"restaurant_booking", "orders"}
    assert named["restaurant_booking"] > named["orders"]
    assert {planned.tags[1:] for planned, _ in ordinary} == {("channel:web", "vip"), ()}
    assert any("restaurant booking" in turn.text for _, turns in ordinary for turn in turns)
    short = replies(ordinary)
    longer = replies(sessions(demo(), 80, replace(profile, reply_words=(70, 80, 90)), brand_trap_ratio=0))
    lengths = [sum(len(style.split_words(text)) for text in texts) / len(texts) for texts in (short, longer)]
    assert lengths[0] < 32
    assert lengths[1] > 1.6 * lengths[0]


# --- style ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("It's done, don't worry.", "It is done, do not worry."),
        ("Can't be. I'm sure you'd say we've won't.", "Cannot be. I am sure you would say we have will not."),
        ("The bank's page, let's see.", "The bank's page, let us see."),
    ],
)
def test_contractions_are_written_out(given_text: str, expected: str) -> None:
    assert style.expand_contractions(given_text) == expected


def test_long_sentences_are_cut_where_that_can_be_done() -> None:
    text = "Open the page, and you will see the list; then choose the second one, but not the first."
    assert style.shorten_sentences(text, 4) == (
        "Open the page. You will see the list. Then choose the second one. But not the first."
    )
    assert (
        style.shorten_sentences("Nothing can be cut in this sentence here.", 3)
        == "Nothing can be cut in this sentence here."
    )
