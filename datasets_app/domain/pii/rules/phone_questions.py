"""Questions for a telephone number, language after language: "¿Un teléfono?", "Mag ik uw nummer?"."""

import re

from datasets_app.domain.pii.rules import account_words
from datasets_app.domain.pii.rules.phone_cues import NUMBER_WORDS, OTHERS, VERBS

_SENTENCE = re.compile(r"[^.!?\n;]+[.!?\n;]*")
_WORD = re.compile(r"[^\W_]+")
_MAX_CHARACTERS, _MAX_WORDS, _MAX_WORDS_WITH_NUMBER = 240, 16, 6
_LAST_SENTENCES = 2
# What words for telephones, and for reaching somebody by one, begin with.
_TELEPHONES = tuple(
    """
    phone telephone telef teléf téléph telepho mobile mobil móvil movil cellphone celul cellul handy puhelin
    komór gsm whatsapp recapit portable landline festnetz rufnummer rückruf телеф мобил сотов tlf
    """.split()
)
_CALLS = tuple(
    """
    call reach text ring dial contact llam localiz comunic rappel appel joindre erreich anruf anrufen
    zurückruf bereik terugbel bellen richiam chiam contatt contat ligar ligamos zadzw dzwoni kontakt zavol
    volat når nå arayabil ulaş soitta позвон звон связа
    """.split()
)
_CALLS_YOU = re.compile(
    r"\b(?:call|text|reach|ring|phone|contact|get hold of|get (?:back )?to) (?:you|u|them|him|her)\b",
    re.IGNORECASE,
)
# Of the device itself, or of one that is none of theirs.
_OF_DEVICES = frozenset(
    """
    model brand make charge charger charging screen app restart reboot update updated working broken battery
    unlocked android iphone ios imei serial camera connected bluetooth plan contract our us
    """.split()
)


def asks_for_phone(question: str) -> bool:
    """Whether the end of a turn asks for a telephone number; a question of a few words needs no more."""
    sentences = _SENTENCE.findall(question[-_MAX_CHARACTERS:])
    return any(map(_is_question_for_phone, sentences[-_LAST_SENTENCES:]))


def _is_question_for_phone(sentence: str) -> bool:
    words = [word.lower() for word in _WORD.findall(sentence)]
    if not words or len(words) > _MAX_WORDS or not _OF_DEVICES.isdisjoint(words):
        return False
    is_of_phone = any(word.startswith(_TELEPHONES) for word in words)
    if is_of_phone or (sentence.rstrip().endswith("?") and _CALLS_YOU.search(sentence)):
        return True
    if NUMBER_WORDS.isdisjoint(word for word in words if word not in ("no", "num", "nr")):
        return False
    if any(word in VERBS or word.startswith(_CALLS) for word in words):
        return True
    return len(words) <= _MAX_WORDS_WITH_NUMBER and not any(
        word in OTHERS or word in account_words.SUBJECTS for word in words
    )
