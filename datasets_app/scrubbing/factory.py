"""Creates scrubbers with the installation's key and personas."""

from collections.abc import Iterator
from contextlib import suppress

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.core.errors import UserError
from datasets_app.domain.personas.persona import PersonaError, parse_persona
from datasets_app.domain.pii import persona_terms
from datasets_app.domain.pii.names.names import NameModelError
from datasets_app.domain.pii.policy import Policy, PolicyError
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.models import Persona, ScrubMark


def make_scrubber(policy: Policy) -> Scrubber:
    """For a dataset. Raises UserError if this installation can't apply the policy."""
    marks = ScrubMark.objects.filter(pk__in=policy.exempt_marks).exclude(kind="")
    try:
        return Scrubber(
            policy.with_exempt_terms(marks.values_list("term", flat=True)),
            key=hash_key(),
            persona_terms=list_persona_terms(),
        )
    except (PolicyError, NameModelError) as error:
        raise UserError(str(error)) from None


def list_persona_terms() -> Iterator[str]:
    """Names, brands, lexicons and proper nouns of all personas, which are not personal data."""
    for persona in Persona.objects.all():
        yield from persona_terms.list_name_terms(persona.persona_id, persona.display_name)
        with suppress(PersonaError):
            yield from persona_terms.list_persona_terms(parse_persona(persona.yaml))
