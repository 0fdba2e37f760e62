"""How large a table may be: the admin reads it while a person waits for the page."""

MAX_BYTES = 64 << 20
MAX_ROWS = 20_000
MAX_COLUMNS = 100


class TableFileError(ValueError):
    """A file can't be read or a table can't be written in this format; the message is for people."""
