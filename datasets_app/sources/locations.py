"""Where a source may read, by its kind."""

from datasets_app.core.errors import UserError


def check_location(kind: str, location: str) -> str:
    """The location as it is stored. Raises UserError if a source may not read there."""
    raise UserError("This version can't read from there yet.")
