"""What of a dataset is no personal data although a detector finds it: one answer for every door."""

from datasets_app.catalog.personas import list_persona_terms
from datasets_app.catalog.text_scans import list_exemptions
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.quality.kept_terms import KeptTerms
from datasets_app.models import Dataset, ScrubRun


def load_kept_terms(dataset: Dataset) -> KeptTerms:
    """The exemptions of people, the brands of the last verified scrub, and the terms of its personas."""
    exemptions = list_exemptions(dataset)
    names = [exemption.term for exemption in exemptions if not exemption.kind]
    scrub = ScrubRun.objects.filter(dataset=dataset).exclude(verified_at=None).first()
    if scrub is not None:
        names += [brand.term for brand in Policy.from_json(scrub.policy).brands or ()]
    personas = tuple(list_persona_terms(dataset))
    return KeptTerms(
        tuple(exemption.term for exemption in exemptions if exemption.kind),
        tuple(names),
        personas,
        keeps_things=bool(personas),
    )
