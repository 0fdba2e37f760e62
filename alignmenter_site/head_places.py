"""Places outside the database where heads of the audit log are recorded: ALIGNMENTER_AUDIT_HEADS."""

from typing import NamedTuple

from alignmenter_site import env
from alignmenter_site.web_address import split_address

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
    parts = split_address(word)
    if parts is None:
        raise env.EnvironmentVariableError(
            f"{ENV_VAR}: place {number} must be the path of a file, syslog, syslog:/path/of/socket, or an "
            "address like https://host/path, without user and password"
        )
    return HeadPlace("webhook", word, f"{parts.scheme}://{parts.netloc}"[:MAX_LABEL_LENGTH])
