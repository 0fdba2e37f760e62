"""What pages say someone can do about a problem of an import, by its code.

A code is missing where the message says it already.
"""

REMEDIES = {
    "E101": "Each line must be one JSON object. Is the file cut off, or of another kind?",
    "E102": "Choose the format yourself if the wrong one was detected.",
    "E103": "Rename the roles, or remove the turns of other roles.",
    "E107": "Keep one of the two.",
    "E201": "Select “Renumber turns” to fix this.",
    "E202": "Keep the right one of the two.",
    "E204": "Give the session one persona_id, or split it.",
    "E207": "Select “Skip sessions that are there already” if they are identical.",
}
