"""Who gave a label: a person, a version of a model, or a file."""

import re
from enum import StrEnum
from typing import NamedTuple

MAX_NAME_CHARACTERS = 200
_DIGEST_PATTERN = re.compile(r"[0-9a-f]{64}")


class RaterKind(StrEnum):
    PERSON = "person"
    MODEL = "model"
    IMPORT = "import"


class InvalidRater(Exception):
    """A rater that names nobody; the message says what is missing."""


class Rater(NamedTuple):
    """Made by :func:`make_rater`. Equal ones are the same rater: a model is never a person of its name, and
    with another version or prompt it is another one."""

    kind: RaterKind
    name: str | None
    version: str = ""
    prompt_digest: str = ""


def make_rater(kind: RaterKind, name: str | None, version: str = "", prompt_digest: str = "") -> Rater:
    """Only an import may have no name, and only a model has a version and a prompt. Raises
    :class:`InvalidRater`."""
    if name is not None and not 0 < len(name) <= MAX_NAME_CHARACTERS:
        raise InvalidRater(f"The name of a rater has 1 to {MAX_NAME_CHARACTERS} characters.")
    if name is None and kind != RaterKind.IMPORT:
        raise InvalidRater(f"A {kind} needs a name.")
    if kind != RaterKind.MODEL and (version or prompt_digest):
        raise InvalidRater("Only a model has a version and a prompt.")
    if kind == RaterKind.MODEL and not (version and _DIGEST_PATTERN.fullmatch(prompt_digest)):
        raise InvalidRater("A model needs a version and the SHA-256 digest of its prompt.")
    return Rater(kind, name, version, prompt_digest)
