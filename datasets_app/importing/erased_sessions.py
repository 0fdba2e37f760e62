"""Keeps erased sessions out of an import."""

from collections.abc import Sequence
from typing import Any

from datasets_app.catalog.tombstones import ErasedSessions, list_problems
from datasets_app.core.errors import UserError
from datasets_app.domain.quality.survey import Survey
from datasets_app.models import Dataset


def leave_out_erased(
    dataset: Dataset,
    files: Sequence[tuple[str, ErasedSessions, Survey]],
    *,
    quarantine: bool,
    actor: Any,
    override: str,
) -> set[str]:
    """The ids of erased sessions to leave out; none if ``override`` brings them back.

    Raises UserError, with their lines, unless problems are to be quarantined. Their lines are not: they
    must not be kept. Also raises it if a session was erased after the files were compared.
    """
    if files and files[0][1].is_outdated():
        raise UserError("A session was erased while the file was read, so nothing was imported. Try again.")
    if not any(erased.found for _, erased, _ in files):
        return set()
    try:
        for _, erased, _ in files:
            erased.enforce(dataset, actor=actor, override=override)
    except UserError as refusal:
        if quarantine and not override:
            return {session_id for _, erased, _ in files for session_id in erased.found}
        problems = [
            problem
            for name, erased, survey in files
            for problem in list_problems(
                (
                    erased.make_finding(session.session_id, session.line)
                    for session in survey.sessions()
                    if session.session_id in erased.found
                ),
                name,
            )["problems"]
        ]
        details = {"problems": problems, "problem_total": sum(len(erased.found) for _, erased, _ in files)}
        raise UserError(refusal.message, details, remedy=refusal.remedy) from None
    return set()
