"""Sentences of our own with slots, filled with names of many countries.

``{first}``, ``{last}``, ``{full}`` and ``{name}`` (any form) are people; ``{city}``, ``{company}``,
``{brand}``, ``{month}`` and all others are not. The same openings and endings go round the sentences
of both lists, so that it is not they that tell a name from none.
"""

import re
from collections.abc import Iterator

from scripts.name_model.corpora import NAME, ORGANIZATION, PLACE, Span, Text
from scripts.name_model.fillers import Fillers, read_list

_SLOT_PATTERN = re.compile(r"\{\{|\}\}|\{(\w+)\}")
_SLOT_LABELS = {
    **dict.fromkeys(("name", "first", "last", "full"), NAME),
    "city": PLACE,
    **dict.fromkeys(("company", "brand"), ORGANIZATION),
}
_OPENING_SHARE = _ENDING_SHARE = 0.3  # of the sentences


def generate_sentences(fillers: Fillers, with_people: int, without_people: int) -> Iterator[Text]:
    """That many texts with people in them and without."""
    # Blanks at the ends of openings and endings are written as underscores in their lists.
    before, after = ([line.replace("_", " ") for line in read_list(name)] for name in ("before", "after"))
    for count, name in ((with_people, "people"), (without_people, "nobody")):
        templates = read_list(name)
        for number in range(count):
            template = templates[number % len(templates)]
            if fillers.random.random() < _OPENING_SHARE:
                template = fillers.random.choice(before) + template
            if fillers.random.random() < _ENDING_SHARE:
                template += fillers.random.choice(after)
            yield _fill_template(template.replace("\\n", "\n"), fillers)


def _fill_template(template: str, fillers: Fillers) -> Text:
    text, spans, place = "", [], 0
    for match in _SLOT_PATTERN.finditer(template):
        text += template[place : match.start()]
        place = match.end()
        if match[1] is None:
            text += match[0][0]
            continue
        value = fillers.fill(match[1])
        if match[1] in _SLOT_LABELS:
            spans.append(Span(len(text), len(text) + len(value), _SLOT_LABELS[match[1]]))
        text += value
    return Text(text + template[place:], tuple(spans))
