"""What stands beside a persona's YAML: what is wrong with it, what would change, how it sounds."""

import hashlib
from difflib import unified_diff
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from datasets_app import hooks
from datasets_app.core.errors import UserError
from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.personas.persona import PersonaDocument, PersonaError, check_persona, parse_persona
from datasets_app.domain.personas.wording import describe_rules, format_value
from datasets_app.generating.preview import sample_voices
from datasets_app.models import Persona

# A comparison of longer texts would take longer than somebody waits.
MAX_LINES_COMPARED, MAX_DIFF_LINES_SHOWN = 1_000, 200
MAX_ENTRIES_SHOWN = 200
_DIFF_KINDS = {"+": "added", "-": "removed", "@": "place"}


@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """For the YAML as it stands in the form; ``?persona=`` is the one being changed. Nothing is saved."""
    if not any(request.user.has_perm(f"datasets_app.{verb}_persona") for verb in ("add", "change")):
        raise PermissionDenied
    wanted = request.GET.get("persona", "")
    is_number = wanted.isascii() and wanted.isdigit() and len(wanted) < 19
    persona = get_object_or_404(Persona, pk=int(wanted)) if is_number else None
    context = {**preview_context(request.POST.get("yaml", ""), persona, request.user), "is_live_update": True}
    response = render(request, "datasets_app/_persona_beside.html", context)
    response["Cache-Control"] = "no-store"
    return response


def preview_context(text: str, persona: Persona | None, user: Any) -> dict[str, Any]:
    """What there is to say of a text that is, or may become, that of ``persona`` (None for a new one)."""
    stored = persona.yaml if persona else ""
    text = stored if _split_lines(text) == _split_lines(stored) else text.replace("\r\n", "\n")
    told = {
        **_check_context(text),
        "persona": persona,
        "changes": _diff_lines(stored, text) if persona else [],
        "may_generate": persona is not None and user.has_perm("datasets_app.generate_dataset"),
    }
    if persona and persona.digest != hashlib.sha256(text.encode(errors="replace")).hexdigest():
        told["stale_label_count"] = sum(count(persona) for count in hooks.label_counters)
    return told


def _check_context(text: str) -> dict[str, Any]:
    try:
        document = parse_persona(text)
    except PersonaError as error:
        return {"parse_error": error}
    findings = check_persona(document)
    return {
        "findings": findings[:MAX_ENTRIES_SHOWN],
        "finding_count": len(findings),
        "cannot_save": any(map(_is_error, findings)),
        "voice": _voice_context(document),
    }


def _is_error(finding: Finding) -> bool:
    return finding.code.startswith("E")


def _voice_context(document: PersonaDocument) -> dict[str, Any]:
    """The two sides. ``pairs`` are the offline writer's; where it can't write, ``sample_error`` says why."""
    told: dict[str, Any] = {
        "description": document.description,
        "exemplars": document.exemplars[:MAX_ENTRIES_SHOWN],
        "preferred": [format_value(entry) for entry in document.preferred[:MAX_ENTRIES_SHOWN]],
        "avoid": [format_value(entry) for entry in document.avoid[:MAX_ENTRIES_SHOWN]],
        "rules": list(describe_rules(document.style_rules))[:MAX_ENTRIES_SHOWN],
        "disallowed_topics": list(document.safety_rules.get("disallowed_topics") or [])[:MAX_ENTRIES_SHOWN],
        "brand_notes": format_value(document.safety_rules.get("brand_notes") or ""),
    }
    try:
        return {**told, "pairs": sample_voices(document)}
    except UserError as refused:
        return {**told, "sample_error": refused.message}


def _split_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").split("\n")


def _diff_lines(stored: str, text: str) -> list[tuple[str, str]]:
    """(kind, line) of what differs, with two lines around it; kinds are added, removed, same, place."""
    before, after = _split_lines(stored), _split_lines(text)
    if before == after:
        return []
    if max(len(before), len(after)) > MAX_LINES_COMPARED:
        return [("place", "The text is too long to be compared here.")]
    lines = list(unified_diff(before, after, n=2, lineterm=""))[2:]
    told = [(_DIFF_KINDS.get(line[:1], "same"), line) for line in lines[:MAX_DIFF_LINES_SHOWN]]
    more = len(lines) - MAX_DIFF_LINES_SHOWN
    return [*told, ("place", f"… and {more:,} lines more")] if more > 0 else told
