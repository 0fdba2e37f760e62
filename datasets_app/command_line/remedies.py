"""What a command line can do about a finding, by the code of its check. Pages word their own remedies."""

_OPTION_BY_CODE = {
    "E201": "--renumber repairs it on import",
    "E207": "--append skips identical sessions",
    "E208": "--on-error quarantine leaves it out",
}
# How the message about an unknown role begins to map it.
_MAPPING = "sender:ROLE="
# For a table that doesn't say which rows are one conversation.
SESSIONS_REMEDY = " Pass --map session_id=COLUMN, session_id=one-conversation or session_id=each-row."


def append_remedy(code: str, message: str) -> str:
    """``message`` with the option that helps, if one does."""
    if code == "E103":  # where roles can be mapped, the message says so
        return message.replace(_MAPPING, f"--map {_MAPPING}")
    remedy = _OPTION_BY_CODE.get(code)
    return f"{message}; {remedy}" if remedy else message
