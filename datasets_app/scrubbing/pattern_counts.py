"""How often a dataset's texts match custom patterns, before a scrub replaces the matches."""

import time
from collections.abc import Iterator, Sequence

from datasets_app.domain.pii.custom_patterns import CustomPatterns, ParsedPattern
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset, Turn

TEXTS_PER_CHUNK = 5_000
# A request waits for it, and a dataset may have millions of texts.
MAX_SECONDS = 3.0


def describe_matches(dataset: Dataset, patterns: Sequence[ParsedPattern]) -> Iterator[str]:
    """A sentence for each pattern: its format, and its matches in the dataset, or in as many of its texts
    as were searched in MAX_SECONDS."""
    if not patterns:
        return
    detectors = [CustomPatterns([(pattern.label, pattern.regex)]) for pattern in patterns]
    matches, texts = [0] * len(patterns), [0] * len(patterns)
    rows = Turn.objects.filter(dataset=dataset).values_list("text", flat=True)
    ends_at, reach = time.monotonic() + MAX_SECONDS, ""
    for searched, text in enumerate(rows.iterator(chunk_size=TEXTS_PER_CHUNK)):
        if time.monotonic() > ends_at:
            reach = f" of {searched:,}; the others weren't counted"
            break
        for place, detector in enumerate(detectors):
            if found := len(detector.find(text)):
                matches[place] += found
                texts[place] += 1
    for pattern, found, containing in zip(patterns, matches, texts, strict=True):
        counted = f"{format_count(found, 'match', 'matches')} in {format_count(containing, 'text')}"
        yield f"{pattern.label} is {pattern.description or pattern.regex}: {counted}{reach}"
