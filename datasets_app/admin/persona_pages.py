"""The preview next to a persona's YAML: its findings, the changes and sample replies."""

import hashlib
from difflib import unified_diff
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST

from datasets_app import hooks
from datasets_app.admin.persona_forms import PersonaFields, PersonaForm
from datasets_app.core.errors import UserError
from datasets_app.core.web.pages import parse_pk, render_fragment
from datasets_app.domain.personas.persona import PersonaDocument, PersonaError, check_persona, parse_persona
from datasets_app.domain.personas.wording import describe_voice
from datasets_app.domain.wording import format_count
from datasets_app.generating.preview import sample_voices
from datasets_app.models import Persona

# Comparing longer texts takes longer than users wait.
MAX_LINES_COMPARED, MAX_DIFF_LINES_SHOWN = 1_000, 200
MAX_ENTRIES_SHOWN = 200
_DIFF_KINDS = {"+": "added", "-": "removed", "@": "place"}


@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """Preview the YAML in the form; ``?persona=`` is the persona being edited. Saves nothing.

    With ``?fields``, what was changed in the fields is written into the YAML, and the answer has it; else the
    answer has the fields of the YAML.
    """
    if not any(request.user.has_perm(f"datasets_app.{verb}_persona") for verb in ("add", "change")):
        raise PermissionDenied
    pk = parse_pk(request.GET.get("persona", ""))
    persona = get_object_or_404(Persona, pk=pk) if pk is not None else None
    text = request.POST.get("yaml", "").replace("\r\n", "\n")
    may_change_id, from_fields = persona is None, "fields" in request.GET
    if from_fields:
        text = PersonaFields(text, may_change_id=may_change_id, data=request.POST).apply(text)
    context = {
        **preview_context(text, persona, request.user),
        "is_live_update": True,
        "form": PersonaForm(initial={"yaml": text}) if from_fields else None,
        "fields": None if from_fields else PersonaFields(text, may_change_id=may_change_id),
    }
    return render_fragment(request, "datasets_app/_persona_preview.html", context)


def preview_context(text: str, persona: Persona | None, user: Any) -> dict[str, Any]:
    """Findings, changes and sample replies of ``text`` as the YAML of ``persona`` (None for a new one)."""
    stored = persona.yaml if persona else ""
    text = stored if _split_lines(text) == _split_lines(stored) else text.replace("\r\n", "\n")
    context = {
        **_check_context(text),
        "persona": persona,
        "changes": _diff_lines(stored, text) if persona else [],
        "may_generate": persona is not None and user.has_perm("datasets_app.generate_dataset"),
    }
    if persona and persona.digest != hashlib.sha256(text.encode(errors="replace")).hexdigest():
        context["stale_label_count"] = hooks.labels.count_labels_for_persona(persona)
    return context


def _check_context(text: str) -> dict[str, Any]:
    try:
        document = parse_persona(text)
    except PersonaError as error:
        return {"parse_error": error}
    findings = check_persona(document)
    return {
        "findings": findings[:MAX_ENTRIES_SHOWN],
        "finding_count": len(findings),
        "cannot_save": any(finding.code.startswith("E") for finding in findings),
        "voice": _voice_context(document),
    }


def _voice_context(document: PersonaDocument) -> dict[str, Any]:
    """How the persona sounds, with sample ``pairs`` of the offline writer or the ``sample_error``."""
    voice = {
        key: value[:MAX_ENTRIES_SHOWN] if isinstance(value, list) else value
        for key, value in describe_voice(document).items()
    }
    try:
        return {**voice, "pairs": sample_voices(document)}
    except UserError as error:
        return {**voice, "sample_error": error.message}


def _split_lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").split("\n")


def _diff_lines(stored: str, text: str) -> list[tuple[str, str]]:
    """(kind, line) of the changes, with two lines of context; kinds: added, removed, same, place."""
    before, after = _split_lines(stored), _split_lines(text)
    if before == after:
        return []
    if max(len(before), len(after)) > MAX_LINES_COMPARED:
        return [("place", "The text is too long to compare here.")]
    lines = list(unified_diff(before, after, n=2, lineterm=""))[2:]
    shown = [(_DIFF_KINDS.get(line[:1], "same"), line) for line in lines[:MAX_DIFF_LINES_SHOWN]]
    hidden = len(lines) - MAX_DIFF_LINES_SHOWN
    return [*shown, ("place", f"… and {format_count(hidden, 'more line')}")] if hidden > 0 else shown
