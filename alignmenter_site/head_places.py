"""Places outside the database where heads of the audit log are recorded: ALIGNMENTER_AUDIT_HEADS."""

from typing import NamedTuple
from urllib.parse import urlsplit

from alignmenter_site import env

ENV_VAR = "ALIGNMENTER_AUDIT_HEADS"
SYSLOG_SOCKET = "/dev/log"
MAX_LABEL_LENGTH = 200


class HeadPlace(NamedTuple):
    """``kind`` is file, syslog or webhook; ``target`` a path or an address; ``label`` has no secrets."""

    kind: str
    target: str
    label: str


def head_places() -> list[HeadPlace]:
    """The places of the setting; there is also the file in var."""
    words = dict.fromkeys(env.word_list(ENV_VAR, []))
    return [_parse(number, word) for number, word in enumerate(words, 1)]


def file_place(path: str) -> HeadPlace:
    return HeadPlace("file", path, path[-MAX_LABEL_LENGTH:])


def _parse(number: int, word: str) -> HeadPlace:
    if word.startswith("/"):
        return file_place(word)
    kind, _, path = word.partition(":")
    if kind == "syslog" and (not path or path.startswith("/")):
        return HeadPlace("syslog", path or SYSLOG_SOCKET, word[-MAX_LABEL_LENGTH:])
    try:
        parts = urlsplit(word)
        valid = parts.scheme in {"http", "https"} and parts.hostname and (parts.port or 1) > 0
    except ValueError:
        valid = False
    # Never repeat the address: a webhook's may contain a token.
    if not valid or "@" in parts.netloc:
        raise env.EnvironmentVariableError(
            f"{ENV_VAR}: place {number} must be the path of a file, syslog, syslog:/path/of/socket, or an "
            "address like https://host/path, without user and password"
        )
    return HeadPlace("webhook", word, f"{parts.scheme}://{parts.netloc}"[:MAX_LABEL_LENGTH])
