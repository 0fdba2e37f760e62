"""How often a dataset's texts match custom patterns, before a scrub replaces the matches."""

from collections.abc import Iterator, Sequence

from datasets_app.domain.pii.custom_patterns import CustomPatterns, ParsedPattern
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset, Turn

TEXTS_PER_CHUNK = 5_000


def describe_matches(dataset: Dataset, patterns: Sequence[ParsedPattern]) -> Iterator[str]:
    """A sentence for each pattern: its format, and its matches in the whole dataset."""
    if not patterns:
        return
    detectors = [CustomPatterns([(pattern.label, pattern.regex)]) for pattern in patterns]
    matches, texts = [0] * len(patterns), [0] * len(patterns)
    rows = Turn.objects.filter(dataset=dataset).values_list("text", flat=True)
    for text in rows.iterator(chunk_size=TEXTS_PER_CHUNK):
        for place, detector in enumerate(detectors):
            if found := len(detector.find(text)):
                matches[place] += found
                texts[place] += 1
    for pattern, found, containing in zip(patterns, matches, texts, strict=True):
        counted = f"{format_count(found, 'match', 'matches')} in {format_count(containing, 'text')}"
        yield f"{pattern.label} is {pattern.description or pattern.regex}: {counted}"
