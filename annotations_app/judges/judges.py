"""Judges by name, and their versions."""

from typing import Any, NamedTuple

from annotations_app.criteria.versions import save_version
from annotations_app.domain.judging.judge_document import (
    OFFLINE,
    InvalidJudge,
    JudgeDocument,
    parse_judge,
    write_judge,
)
from annotations_app.models import Judge
from annotations_app.models.querysets import find_version
from datasets_app.core.errors import UserError

# Needs no endpoint, and exists without being imported.
_BUILT_IN = JudgeDocument(OFFLINE, "The persona's lexicon and style rules, without a model.")


class JudgeImport(NamedTuple):
    """``change`` is "created", "updated" or "unchanged"."""

    judge: Judge
    change: str


def import_judge(text: str, *, file_name: str = "") -> JudgeImport:
    """Save YAML as the first or the next version of the judge that it names. Raises UserError."""
    try:
        content = parse_judge(text)
    except InvalidJudge as error:
        raise UserError(f"{file_name or 'The text'} is not a valid judge: {error}.") from None
    if content.name == OFFLINE:
        raise UserError(f"{OFFLINE!r} is the built-in judge; choose another name.")
    return save_judge(content)


def save_judge(content: JudgeDocument, *, actor: Any = None) -> JudgeImport:
    """Nothing is saved if the latest version says the same. Other prices or another description, which
    change no judgment, are not a new version."""
    document = write_judge(content)
    return JudgeImport(*save_version(Judge, "judge", content, document, in_place=True, actor=actor))


def get_judge(name: str) -> Judge:
    """The latest version of a name, or that of ``NAME@VERSION``. Raises UserError."""
    judge: Judge | None = find_version(Judge.objects.all(), name)
    if judge is None and name == OFFLINE:
        return save_judge(_BUILT_IN).judge
    if judge is None:
        raise UserError(f"There is no judge {name[:120]!r}; import it from YAML with import_judge.")
    return judge
