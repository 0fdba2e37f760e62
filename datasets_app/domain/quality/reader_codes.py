"""The codes of findings that are made while reading, before any check: code → title."""

READER_CODES = {
    "E100": "file can't be read",
    "E101": "not a line of JSON",
    "E102": "required field missing or wrong",
    "E103": "role is neither user nor assistant",
    "E104": "tags are not strings",
    "E105": "timestamp is not ISO 8601",
    "E106": "metadata is not an object",
    "E107": "key repeated within an object",
    "E108": "characters that can't be stored",
    "E109": "line too long",
    "E110": "line holds no conversation",
}

# Of an import into a dataset that has sessions already.
IMPORT_CODES = {"E207": "session already in the dataset", "E208": "session was erased"}
