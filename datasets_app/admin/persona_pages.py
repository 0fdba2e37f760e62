"""What stands beside a persona's YAML: what is wrong with it, what would change, how it sounds."""

import hashlib
from difflib import unified_diff
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from datasets_app import hooks
from datasets_app.core.errors import Refused
from datasets_app.domain.conversations.records import Finding
from datasets_app.domain.personas.persona import PersonaDocument, PersonaError, check_persona, parse_persona
from datasets_app.domain.personas.wording import in_words, rules_in_words
from datasets_app.generating.preview import sample_voices
from datasets_app.models import Persona

# A comparison of longer texts would take longer than somebody waits.
LINES_COMPARED, DIFF_LINES_SHOWN = 1_000, 200
ENTRIES_SHOWN = 200
_KINDS = {"+": "added", "-": "removed", "@": "place"}


@require_POST
def beside(request: HttpRequest) -> HttpResponse:
    """For the YAML as it stands in the form; ``?persona=`` is the one being changed. Nothing is saved."""
    if not any(request.user.has_perm(f"datasets_app.{verb}_persona") for verb in ("add", "change")):
        raise PermissionDenied
    wanted = request.GET.get("persona", "")
    is_number = wanted.isascii() and wanted.isdigit() and len(wanted) < 19
    persona = get_object_or_404(Persona, pk=int(wanted)) if is_number else None
    context = {**about(request.POST.get("yaml", ""), persona, request.user), "is_news": True}
    response = render(request, "datasets_app/_persona_beside.html", context)
    response["Cache-Control"] = "no-store"
    return response


def about(text: str, persona: Persona | None, user: Any) -> dict[str, Any]:
    """What there is to say of a text that is, or may become, that of ``persona`` (None for a new one)."""
    stored = persona.yaml if persona else ""
    text = stored if _lines(text) == _lines(stored) else text.replace("\r\n", "\n")
    told = {
        **_checked(text),
        "persona": persona,
        "changes": _changes(stored, text) if persona else [],
        "may_generate": persona is not None and user.has_perm("datasets_app.generate_dataset"),
    }
    if persona and persona.digest != hashlib.sha256(text.encode(errors="replace")).hexdigest():
        told["stale_labels"] = sum(count(persona) for count in hooks.labels_under)
    return told


def _checked(text: str) -> dict[str, Any]:
    try:
        document = parse_persona(text)
    except PersonaError as error:
        return {"unreadable": error}
    findings = check_persona(document)
    return {
        "findings": findings[:ENTRIES_SHOWN],
        "finding_count": len(findings),
        "will_be_refused": any(map(_is_error, findings)),
        "voice": _voice(document),
    }


def _is_error(finding: Finding) -> bool:
    return finding.code.startswith("E")


def _voice(document: PersonaDocument) -> dict[str, Any]:
    """The two sides. ``pairs`` are the offline writer's; where it can't write, ``no_samples`` says why."""
    told: dict[str, Any] = {
        "description": document.description,
        "exemplars": document.exemplars[:ENTRIES_SHOWN],
        "preferred": [in_words(entry) for entry in document.preferred[:ENTRIES_SHOWN]],
        "avoid": [in_words(entry) for entry in document.avoid[:ENTRIES_SHOWN]],
        "rules": list(rules_in_words(document.style_rules))[:ENTRIES_SHOWN],
        "never": list(document.safety_rules.get("disallowed_topics") or [])[:ENTRIES_SHOWN],
        "brand_notes": in_words(document.safety_rules.get("brand_notes") or ""),
    }
    try:
        return {**told, "pairs": sample_voices(document)}
    except Refused as refused:
        return {**told, "no_samples": refused.message}


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").split("\n")


def _changes(stored: str, text: str) -> list[tuple[str, str]]:
    """(kind, line) of what differs, with two lines around it; kinds are added, removed, same, place."""
    before, after = _lines(stored), _lines(text)
    if before == after:
        return []
    if max(len(before), len(after)) > LINES_COMPARED:
        return [("place", "The text is too long to be compared here.")]
    lines = list(unified_diff(before, after, n=2, lineterm=""))[2:]
    told = [(_KINDS.get(line[:1], "same"), line) for line in lines[:DIFF_LINES_SHOWN]]
    more = len(lines) - DIFF_LINES_SHOWN
    return [*told, ("place", f"… and {more:,} lines more")] if more > 0 else told
