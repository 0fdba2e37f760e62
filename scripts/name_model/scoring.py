"""How much of the names of a corpus would be left standing, and how much else would go."""

import re
from collections.abc import Iterator, Sequence

from datasets_app.domain.pii.detector import Match
from datasets_app.domain.pii.names.name_network import FastTagger
from datasets_app.domain.pii.names.name_spans import find_name_spans
from datasets_app.domain.pii.names.name_words import NAME_COLUMNS, place_words
from scripts.name_model.corpora import NAME, Text

_NAME_WORD = re.compile(r"[^\W\d_]{2,}")
_ANY_WORD = re.compile(r"\w+")


def find_names(tagger: FastTagger, texts: Sequence[str]) -> Iterator[list[Match]]:
    """The names that the model finds alone, as it is before it is joined with the network."""
    for text, scores in zip(texts, tagger.score_many(texts), strict=True):
        likely = scores[:, NAME_COLUMNS].sum(axis=1).tolist()
        yield find_name_spans(text, *place_words(text), likely)


def score_corpus(tagger: FastTagger, corpus: Sequence[Text]) -> dict[str, float]:
    """In percent. ``leak``: names of which a word still stands; ``precision``: findings that touch a
    name; ``over``: words outside all that is marked which were taken; ``rows``: texts without a
    name that were changed."""
    names = leaked = found = right = outside = taken = clean = changed = 0
    for text, matches in zip(corpus, find_names(tagger, [text.text for text in corpus]), strict=True):
        covered = {place for match in matches for place in range(match.start, match.end)}
        people = [span for span in text.spans if span.label == NAME]
        names += len(people)
        leaked += sum(_is_leaked(text.text, span.start, span.end, covered) for span in people)
        found += len(matches)
        right += sum(any(m.start < span.end and m.end > span.start for span in people) for m in matches)
        marked = {place for span in text.spans for place in range(span.start, span.end)}
        for word in _ANY_WORD.finditer(text.text):
            if word.start() not in marked:
                outside += 1
                taken += word.start() in covered
        clean += not people
        changed += bool(matches) and not people
    return {
        "names": names,
        "leak": _percent(leaked, names),
        "precision": _percent(right, found),
        "over": _percent(taken, outside),
        "rows": _percent(changed, clean),
    }


def _is_leaked(text: str, start: int, end: int, covered: set[int]) -> bool:
    found = list(_NAME_WORD.finditer(text, start, end))
    return any(not covered.issuperset(range(word.start(), word.end())) for word in found)


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2) if whole else 0.0


def format_scores(scores: dict[str, dict[str, float]]) -> str:
    """One line a corpus."""
    columns = ("names", "leak", "precision", "over", "rows")
    lines = [f"{'corpus':28}" + "".join(f"{column:>11}" for column in columns)]
    for corpus, values in scores.items():
        lines.append(f"{corpus:28}" + "".join(f"{values[column]:>11}" for column in columns))
    return "\n".join(lines)
