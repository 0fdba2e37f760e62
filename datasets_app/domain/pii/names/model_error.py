"""What every model that finds names must have, and what says that one hasn't."""

PERSON_LABELS = frozenset({"PERSON", "PER"})


class NameModelError(Exception):
    """A name model that cannot be used, and what to do about it."""
