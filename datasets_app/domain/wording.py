"""Words that pages, commands and documents share."""


def format_count(count: int, singular: str, plural: str | None = None) -> str:
    """``1 session``, ``1,200 sessions``; give the ``plural`` where it takes more than an "s"."""
    return f"{count:,} {singular if count == 1 else plural or f'{singular}s'}"
