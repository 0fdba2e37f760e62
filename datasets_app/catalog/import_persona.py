"""Imports a persona's YAML, which is stored byte for byte."""

import hashlib
from typing import Any, NamedTuple

from django.db import transaction

from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.personas.persona import PersonaError, check_persona, parse_persona
from datasets_app.models import Persona


class PersonaImport(NamedTuple):
    """``change`` is "created", "updated" or "unchanged"; ``findings`` are warnings only."""

    persona: Persona
    change: str
    findings: list[Finding]


def import_persona(
    text: str, *, strict: bool = False, file_name: str = "", actor: Any = None
) -> PersonaImport:
    """Create the persona, or update the one with the same id.

    Raises UserError if the text is invalid or would crash Alignmenter, with ``strict`` also for warnings; its
    ``details`` has "problems" with "file", "code", "field" and "message".
    """
    try:
        document = parse_persona(text)
    except PersonaError as error:
        problem = {"file": file_name, "code": "E700", "field": error.field, "message": str(error)}
        raise UserError(
            f"{file_name or 'The text'} is not a valid persona: {error}.",
            {"problems": [problem], "problem_total": 1},
        ) from None
    findings = check_persona(document)
    if strict or any(finding.code.startswith("E") for finding in findings):
        _refuse_findings(findings, file_name or document.id)
    values = {"display_name": document.display_name, "description": document.description, "yaml": text}
    with transaction.atomic():
        persona, created = Persona.objects.select_for_update().get_or_create(
            persona_id=document.id, defaults=values
        )
        if not created and persona.yaml == text:
            return PersonaImport(persona, "unchanged", findings)
        for name, value in values.items():
            setattr(persona, name, value)
        persona.save()
        change = "created" if created else "updated"
        record_persona_import(persona, change, actor)
    return PersonaImport(persona, change, findings)


def record_persona_import(persona: Persona, change: str, actor: Any) -> None:
    """Record the digest, so that the log shows which text a persona had when."""
    digest = hashlib.sha256(persona.yaml.encode()).hexdigest()
    audit.record("import_persona", actor=actor, persona_id=persona.persona_id, change=change, sha256=digest)


def _refuse_findings(findings: list[Finding], file_name: str) -> None:
    if findings:
        problems = [
            {"file": file_name, "code": item.code, "field": item.field, "message": item.message}
            for item in findings
        ]
        raise UserError(
            f"{file_name} was not saved; see {'the finding' if len(findings) == 1 else 'the findings'}.",
            {"problems": problems, "problem_total": len(problems)},
        )
