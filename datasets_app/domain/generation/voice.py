"""Phrases replies in a persona's voice, or deliberately off-brand."""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from datasets_app.domain.generation import phrases, style
from datasets_app.domain.generation.filling import Filler, capitalize_sentences
from datasets_app.domain.generation.lexicon import Lexicon, fill_frame, replace_phrases
from datasets_app.domain.generation.plan import BRAND_CATEGORIES
from datasets_app.domain.personas.persona import PersonaDocument

WARM, FORMAL, PLAYFUL, NEUTRAL = "warm", "formal", "playful", "neutral"
_TONES = {
    WARM: "warm friendly empathetic empathic caring supportive kind reassuring encouraging gentle",
    FORMAL: "formal professional authoritative corporate precise serious",
    PLAYFUL: "playful fun witty humorous cheeky energetic casual quirky",
}
_ESSENTIAL_WORDS = frozenset({"the", "a", "an", "to", "and", "of", "is", "it", "in", "for", "on", "that"})
_REFUSAL_WORDS = re.compile(r"\b(won't|can't|cannot|will not|not able|don't|never|no|not)\b", re.IGNORECASE)
_COMMON_WORDS = """
won't can't cannot absolutely welcome course glad problem worries
a about after again all also an and any are as ask at be been before both but by can case check do
does don't done each everything find first for from get give go good got happy has have help here
how i i'd i'll i'm if in into is it it's just keep know let let's like look make me more my need
next no not now of ok okay on once one or our out over part please question ready right say see
share show so some start steps sure take tell than thank thanks that that's the them then there
there's they thing things this time to together too try two up us use want was way we we'll we're
what when where which while why will with work works yes yet you you'll you're your
"""
_COMMON_WORD_SET = frozenset(_COMMON_WORDS.split())
_ON_BRAND_EMOJI, _OFF_BRAND_EMOJI = ("🙂", "👍", "✨", "🙌", "✅"), ("🚀", "🔥", "😂", "😎", "🤪", "💯", "🙄")
_MAX_TRIES, _MAX_SHORT_SENTENCES = 6, 6
# Of so many drafts of a reply, the first with a word of the lexicon is taken.
_MAX_DRAFTS = 8
_MAX_EXEMPLAR_WORDS, _MAX_ENTRY_CHARACTERS = 12, 60


class VoiceError(ValueError):
    """The persona is unsupported; the message is a sentence for the user."""


def accept_all(text: str) -> bool:
    return False


class SentenceOptions(NamedTuple):
    """A sentence of a reply in several wordings; never left out if ``needed``. At the "opening" of a
    conversation an exemplar may take its place, at its "farewell" thanks that name what the persona names."""

    phrases: Sequence[str]
    needed: bool = False
    place: str = ""


class Voice:
    """A persona for the offline writer. Raises :class:`VoiceError`."""

    def __init__(self, persona: PersonaDocument) -> None:
        rules = persona.style_rules
        self.avoid = Lexicon(_filter_entries(persona.avoid))
        self.preferred = Lexicon(
            [word for word in _filter_entries(persona.preferred) if not self.avoid.count(word)]
        )
        if essential := sorted(_ESSENTIAL_WORDS & {entry.lower() for entry in self.avoid.entries}):
            raise VoiceError(
                f"The persona avoids {essential[0]!r}, which hardly a sentence does without; the offline "
                "writer can't write for it. Take the word out, or name a model."
            )
        self.allows_contractions = _read_allowed(rules.get("contractions"), True)
        self.allows_emojis = _read_allowed(rules.get("emojis"), False)
        self.max_average_words = _read_max_average(rules.get("sentence_length"))
        self.register = _read_register(rules)
        exemplars = [part for exemplar in persona.exemplars for part in style.split_sentences(exemplar)]
        usable = [part for part in exemplars if self._is_usable(part)]
        farewells = phrases.load_groups("common")["assistant"]["farewell proper"]
        names = [word for word in self.preferred.spoken if word != word.lower()]
        self._own_sentences = {
            "opening": tuple(part for part in usable if not _REFUSAL_WORDS.search(part)),
            "farewell": tuple(fill_frame(frame, name) for name in names for frame in farewells),
        }
        self.refusals = tuple(part for part in usable if re.search(r"\b(won't|can't|cannot) help\b", part))
        self._vocabulary = (
            frozenset(word for part in exemplars for word in style.split_words(part)) - _COMMON_WORD_SET
        )

    def count_unspoken(self) -> int:
        """Lexicon entries that no reply has, as they look like personal data."""
        return sum(len(each.entries) - len(each.spoken) for each in (self.preferred, self.avoid))

    @property
    def brand_categories(self) -> tuple[str, ...]:
        """The tones other than this persona's own."""
        own = {FORMAL: {"legalese"}, PLAYFUL: {"slang", "hype"}}.get(self.register, set())
        if not self.allows_contractions:
            own = own | {"legalese"}
        return tuple(category for category in BRAND_CATEGORIES if category not in own)

    # --- on-brand replies ----------------------------------------------------------------------

    def compose_reply(
        self,
        parts: Sequence[SentenceOptions],
        filler: Filler,
        *,
        with_words: bool = True,
        rejects: Callable[[str], bool] = accept_all,
    ) -> str:
        """Compose a reply of these parts. ``with_words`` prefers wordings with the persona's words (none is
        added where it wouldn't fit) and allows emoji. ``rejects`` tells which sentences to avoid."""
        rng = filler.rng
        drafts: list[tuple[bool, float, list[tuple[str, str]]]] = []
        for _ in range(_MAX_DRAFTS if with_words else 1):
            draft = [self._choose_sentence(part, filler, rejects) for part in parts]
            text = _join_sentences(draft)
            lacks_words = bool(self.preferred.entries) and not self.preferred.count(text)
            drafts.append((lacks_words, self._measure_excess(text), draft))
            if drafts[-1][:2] == (False, 0):
                break
        drafted = min(drafts, key=lambda each: each[:2])[2]
        for _, phrase in drafted:
            filler.mark_used(phrase)
        text = self._limit_length(_join_sentences(drafted), filler)
        if self.allows_emojis and with_words and rng.draw_bool(0.35):
            text += f" {rng.choice(_ON_BRAND_EMOJI)}"
        return text

    def _choose_sentence(
        self, part: SentenceOptions, filler: Filler, rejects: Callable[[str], bool]
    ) -> tuple[str, str]:
        """A sentence and the phrase it was made of; the sentence is "" if the persona can't say any."""
        own = self._own_sentences.get(part.place, ())
        options = own if own and filler.rng.draw_bool(0.3) else part.phrases
        best: tuple[tuple[int, int], str, str] | None = None
        for number in range(min(_MAX_TRIES, 2 * len(options))):
            phrase = filler.pick(options)
            text = self._apply_style(filler.vary(filler.fill(phrase, to_user=True)))
            rank = (self.avoid.count(text) + 9 * rejects(text), -self._score_likeness(text))
            if best is None or rank < best[0]:
                best = rank, text, phrase
            # Draft twice and keep the one closer to the exemplars.
            if number and not best[0][0]:
                break
        assert best is not None
        (refused, _), text, phrase = best
        if refused:
            text = self.avoid.replace_words(text)
            if (self.avoid.count(text) or rejects(text)) and not part.needed:
                return "", phrase
            text = self.avoid.remove_words(text)
        return text, phrase

    def _apply_style(self, text: str) -> str:
        text = self.preferred.prefer_words(capitalize_sentences(text))
        return text if self.allows_contractions else style.expand_contractions(text)

    def _score_likeness(self, text: str) -> int:
        """The number of words shared with the exemplars; for a persona of short sentences, brevity."""
        if self.max_average_words and self.max_average_words < 14:
            return -len(style.split_words(text))
        found = style.split_words(text)
        return sum(word in self._vocabulary for word in found) + 2 * bool(self.preferred.count(text))

    def _measure_excess(self, text: str) -> float:
        """By how many words the sentences are too long on average."""
        longest = self.max_average_words
        return max(style.average_sentence_length(text) - longest, 0) if longest else 0

    def _limit_length(self, text: str, filler: Filler) -> str:
        longest = self.max_average_words
        if not longest or not self._measure_excess(text):
            return text
        text = style.shorten_sentences(text, longest)
        short = filler.rng.shuffle_copy(phrases.load_groups("common")["assistant"]["short"])
        for phrase in short[:_MAX_SHORT_SENTENCES]:
            if style.average_sentence_length(text) <= longest:
                break
            sentence = self._apply_style(filler.vary(filler.fill(phrase, to_user=True)))
            if not self.avoid.count(sentence):
                text = f"{text} {sentence}"
        return text

    def _is_usable(self, sentence: str) -> bool:
        """Whether a sentence of an exemplar fits any conversation: short, about nothing specific."""
        found = style.split_words(sentence)
        if (
            not 2 <= len(found) <= _MAX_EXEMPLAR_WORDS
            or not sentence[0].isupper()
            or not sentence.endswith(".")
        ):
            return False
        if any(not word.isascii() or word.isdigit() for word in found) or self.avoid.count(sentence):
            return False
        return all(word in _COMMON_WORD_SET for word in found) and not re.search(r"[<>{}|;:]", sentence)

    # --- off-brand replies ---------------------------------------------------------------------

    def compose_off_brand_reply(
        self,
        category: str,
        filler: Filler,
        content: Sequence[SentenceOptions],
        *,
        kind: str,
    ) -> str:
        """Compose a reply in the tone of a brand trap, with avoided and without preferred words. ``content``
        are the sentences it shares with an on-brand reply, ``kind`` names the frames around them."""
        rng, frames = filler.rng, phrases.load_groups("brand")[category]
        before = [frames[f"{kind} before"]] if f"{kind} before" in frames else []
        after = [frames[f"{kind} after"]] if f"{kind} after" in frames and rng.draw_bool(0.75) else []
        said = [
            *(self._choose_off_brand_sentence(options, filler, True) for options in before),
            *(self._say_in_tone(part.phrases, category, filler) for part in content),
        ]
        for options in after:
            wanted = rng.draw_bool(0.6) or not any(map(self.avoid.count, said))
            said.append(self._choose_off_brand_sentence(options, filler, wanted))
        # Drop sentences that need a preferred word, unless nothing else remains.
        said = [text for text in said if not self.preferred.count(text)] or said[:1]
        text = self.avoid.prefer_words(" ".join(said))
        if self.avoid.entries and not self.avoid.count(text):
            asides = [
                capitalize_sentences(filler.fill(each, to_user=True))
                for each in self.avoid.build_asides(rng, category)
            ]
            text = f"{text} {min(asides, key=self.preferred.count)}" if asides else text
        if not self.allows_emojis and category in {"slang", "hype"} and rng.draw_bool(0.4):
            text += f" {rng.choice(_OFF_BRAND_EMOJI)}"
        return text

    def _say_in_tone(self, options: Sequence[str], category: str, filler: Filler) -> str:
        text = filler.vary(self._choose_off_brand_sentence(options, filler, False))
        if category == "legalese":
            text = style.expand_contractions(text)
        text = replace_phrases(phrases.load_groups("brand")[category]["wording"], text)
        if category == "hype":
            text = re.sub(r"\.$", "!", text)
        return text if not self.preferred.count(text) else self.preferred.replace_words(text)

    def _choose_off_brand_sentence(self, options: Sequence[str], filler: Filler, wanted: bool) -> str:
        """A sentence without preferred words; with one of those it avoids, if ``wanted``."""
        best: tuple[tuple[int, bool], str, str] | None = None
        for _ in range(_MAX_TRIES):
            phrase = filler.pick(options)
            text = capitalize_sentences(filler.fill(phrase, to_user=True))
            rank = (self.preferred.count(text), wanted and not self.avoid.count(text))
            if best is None or rank < best[0]:
                best = rank, text, phrase
            if rank == (0, False):
                break
        assert best is not None
        filler.mark_used(best[2])
        return best[1]


def _join_sentences(drafted: Sequence[tuple[str, str]]) -> str:
    return " ".join(sentence for sentence, _ in drafted if sentence)


def _filter_entries(entries: Sequence[Any]) -> list[str]:
    """Keep only texts; the persona check reports other values."""
    return [entry for entry in entries if isinstance(entry, str) and len(entry) <= _MAX_ENTRY_CHARACTERS]


def _read_allowed(rule: Any, default: bool) -> bool:
    value = rule.get("allowed", default) if isinstance(rule, dict) else rule
    return value if isinstance(value, bool) else default


def _read_max_average(rule: Any) -> float | None:
    value = rule.get("max_avg") if isinstance(rule, dict) else rule
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        return None
    return float(value)


def _read_register(rules: dict[str, Any]) -> str:
    tones = rules.get("tone") or ()
    told = {str(rules.get("formality") or "").lower(), *(str(tone).lower() for tone in tones)}
    for register in (FORMAL, PLAYFUL, WARM):
        if told & set(_TONES[register].split()):
            return register
    return NEUTRAL
