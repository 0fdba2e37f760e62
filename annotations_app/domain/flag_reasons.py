"""The reasons an annotator can give for flagging a reply."""

FLAG_REASONS: dict[str, str] = {
    "personal-data": "Personal data",
    "broken": "Broken or cut off",
    "no-context": "Not enough context",
    "wrong-persona": "Not for this persona",
    "other": "Other",
}


def describe_reason(reason: str, comment: str) -> str:
    """ "Personal data: a phone number in turn 3"."""
    return ": ".join(part for part in (FLAG_REASONS[reason], comment.strip()) if part)
