"""How to fix problems of an import, by code; without the codes whose message says so."""

REMEDIES = {
    "E101": "Each line must be one JSON object. Check that the file is complete and in the right format.",
    "E102": "Choose the format yourself if the wrong one was detected.",
    "E103": "Choose what each is under “Senders and roles”; without menus, rename roles in the file.",
    "E107": "Keep one of the two.",
    "E201": "Select “Renumber turns” to fix this.",
    "E202": "Keep the right one of the two.",
    "E204": "Give the session one persona_id, or split it.",
    "E207": "Select “Skip existing sessions” if they are identical.",
    "E208": "Remove it from the file, or choose to import only the valid sessions.",
}
