"""Whether words or signs around a number say that it is a thing's."""

import re

from datasets_app.domain.pii.word_lists import read_word_lists

# Right before a number they leave no doubt.
_OTHER_WORDS = read_word_lists(__file__)["things"]
# print(42150373126)
_CALL = re.compile(r"\w\(\Z")
# "product_id": "9832717871": what a key says is for rules, here as in metadata.
_JSON_KEY = re.compile(r"\"\s?:\s?\"?\Z")
_MAX_NEAR_CHARACTERS = 200


def is_of_thing(text: str, start: int, end: int) -> bool:
    """Without any word, in code, JSON or an address of the web, or up to three words behind one such as
    "order"."""
    if text[end : end + 1] == ")" and _CALL.search(text, max(0, start - 2), start):
        return True
    before = text[max(0, start - _MAX_NEAR_CHARACTERS) : start]
    if _JSON_KEY.search(before[-4:]):
        return True
    after = text[end : end + _MAX_NEAR_CHARACTERS]
    if not any(map(str.isalpha, before + after)):
        return True
    return follows_other_word(text, start, 3) or ("://" in before and "://" in before.split()[-1])


def follows_other_word(text: str, start: int, reach: int) -> bool:
    """Whether one of the last ``reach`` words before a number is that of another: "order no. 63202"."""
    words = text[max(0, start - 24) : start].lower().replace(":", " ").split()
    return not _OTHER_WORDS.isdisjoint(words[-reach:])
