"""Sentences of our own with slots, filled with names of many countries.

``{first}``, ``{last}``, ``{full}`` and ``{name}`` (any form) are people; ``{city}``, ``{company}``,
``{brand}``, ``{month}`` and all others are not. The same openings and endings go round the sentences
of both lists, so that it is not they that tell a name from none.
"""

import re
from collections.abc import Iterator

from scripts.name_model.corpora import NAME, ORGANISATION, PLACE, Span, Text
from scripts.name_model.fillers import Fillers, listed

_SLOT = re.compile(r"\{\{|\}\}|\{(\w+)\}")
_LABELS = {
    **dict.fromkeys(("name", "first", "last", "full"), NAME),
    "city": PLACE,
    **dict.fromkeys(("company", "brand"), ORGANISATION),
}
_WITH_OPENING = _WITH_ENDING = 0.3  # of the sentences


def sentences(fillers: Fillers, people: int, nobody: int) -> Iterator[Text]:
    """That many texts with people in them and without."""
    # Blanks at the ends of openings and endings are written as underscores in their lists.
    before, after = ([line.replace("_", " ") for line in listed(name)] for name in ("before", "after"))
    for count, name in ((people, "people"), (nobody, "nobody")):
        templates = listed(name)
        for number in range(count):
            template = templates[number % len(templates)]
            if fillers.random.random() < _WITH_OPENING:
                template = fillers.random.choice(before) + template
            if fillers.random.random() < _WITH_ENDING:
                template += fillers.random.choice(after)
            yield _filled(template.replace("\\n", "\n"), fillers)


def _filled(template: str, fillers: Fillers) -> Text:
    text, spans, place = "", [], 0
    for match in _SLOT.finditer(template):
        text += template[place : match.start()]
        place = match.end()
        if match[1] is None:
            text += match[0][0]
            continue
        value = fillers.fill(match[1])
        if match[1] in _LABELS:
            spans.append(Span(len(text), len(text) + len(value), _LABELS[match[1]]))
        text += value
    return Text(text + template[place:], tuple(spans))
