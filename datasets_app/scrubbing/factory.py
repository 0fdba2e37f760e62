"""Creates scrubbers with the installation's key and personas."""

from alignmenter_site.keys.hash_key import hash_key
from datasets_app.catalog.personas import list_persona_terms
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.names.names import NameModelError
from datasets_app.domain.pii.policy import Policy, PolicyError
from datasets_app.domain.pii.scrubber import Scrubber
from datasets_app.models import ScrubMark


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
