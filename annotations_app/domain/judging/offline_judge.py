"""Judges whether a reply sounds like a persona by its lexicon and its style rules, without a model."""

from typing import Any

from annotations_app.domain.highlighting import AVOID, PREFERRED, highlight_words, list_highlighted_words
from annotations_app.domain.judging.judge_prompt import Judgment
from datasets_app.domain.generation.style import average_sentence_length, expand_contractions
from datasets_app.domain.personas.persona import PersonaDocument

# Points; a reply of 0 or more is on-brand.
_AVOIDED, _PREFERRED, _STYLE = -2, 1, -1
_MAX_PREFERRED_POINTS, _MAX_WORDS_NAMED = 1, 5


def judge_offline(key: str, text: str, persona: PersonaDocument) -> Judgment:
    """The answer to the yes/no criterion ``key``: 1 if the reply keeps to the persona."""
    pieces = highlight_words(text, persona.preferred, persona.avoid)
    avoided, preferred = (list_highlighted_words(pieces, kind) for kind in (AVOID, PREFERRED))
    broken = _find_broken_rules(text, persona.style_rules)
    points = _AVOIDED * len(avoided) + _STYLE * len(broken)
    points += min(_PREFERRED * len(preferred), _MAX_PREFERRED_POINTS)
    reasons = [f"avoided words: {', '.join(avoided[:_MAX_WORDS_NAMED])}"] if avoided else []
    reasons += broken
    reasons += [f"preferred words: {', '.join(preferred[:_MAX_WORDS_NAMED])}"] if preferred else []
    said = "; ".join(reasons) or "no avoided word, and every style rule is kept"
    return Judgment({key: int(points >= 0)}, f"{said[:1].upper()}{said[1:]}.")


def _find_broken_rules(text: str, rules: dict[str, Any]) -> list[str]:
    broken = []
    longest = _get(rules.get("sentence_length"), "max_avg")
    if type(longest) in (int, float) and average_sentence_length(text) > longest:
        broken.append(f"sentences of more than {longest:g} words on average")
    if _get(rules.get("contractions"), "allowed") is False and expand_contractions(text) != text:
        broken.append("contractions")
    if _get(rules.get("emojis"), "allowed") is False and any(map(_is_emoji, text)):
        broken.append("emoji")
    return broken


def _get(rule: Any, key: str) -> Any:
    return rule.get(key) if isinstance(rule, dict) else rule


def _is_emoji(character: str) -> bool:
    return "\U0001f300" <= character <= "\U0001faff" or "\u2600" <= character <= "\u27bf"
