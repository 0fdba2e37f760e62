"""Whether the labels of a dataset for a persona are ready for Alignmenter's calibration."""

from collections import Counter
from collections.abc import Iterator

from django.db.models import F, Q

from annotations_app.agreement.measure import measure_agreement
from annotations_app.domain.calibration_sets import (
    PARTS,
    Finding,
    Readiness,
    Sample,
    check_alpha,
    check_samples,
)
from annotations_app.labels.export_annotations import DEFAULT_SELECTION
from annotations_app.labels.label_counts import LabelScope
from annotations_app.labels.selection import (
    LABEL_SELECTORS,
    OMITTED_UNPLACED,
    LabelSelection,
    describe_omissions,
)
from annotations_app.models import Annotation, Campaign
from datasets_app.catalog import gates
from datasets_app.domain.personas.persona import PersonaError, check_persona, parse_persona
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset, Persona


def calibration_ready(dataset: Dataset, persona_id: str, *, labels: str = DEFAULT_SELECTION) -> Readiness:
    """What `calibrate-persona` would learn from (the training split) and `calibrate validate` test (the
    validation split), one label a reply, and what is in the way."""
    left_out: Counter[str] = Counter()
    parts, findings = check_samples(_read_samples(dataset, persona_id, labels, left_out))
    alpha = measure_agreement(
        dataset=dataset, persona_id=persona_id, consensus=False
    ).headline.krippendorff_alpha
    findings = [
        *_check_dataset(dataset, left_out),
        *_check_persona(persona_id),
        *_check_others(dataset, persona_id),
        *_check_stale(dataset, persona_id),
        *findings,
        *check_alpha(alpha, is_settled=labels == "adjudicated"),
        *(
            Finding("left_out", False, f"{omission}.".capitalize())
            for omission in describe_omissions(left_out)
        ),
    ]
    return Readiness(persona_id, labels, parts, alpha, findings)


def _read_samples(dataset: Dataset, persona_id: str, labels: str, left_out: Counter[str]) -> Iterator[Sample]:
    scope = LabelScope(dataset.pk, persona_id)
    for part in PARTS:
        # Each pass leaves out the same, beyond the other splits.
        left_out.clear()
        for record in LABEL_SELECTORS[labels](LabelSelection(scope, False, left_out, part)):
            session = record.session_id or record.text
            yield Sample(part, record.text, record.label or 0, session)


def _check_dataset(dataset: Dataset, left_out: Counter[str]) -> Iterator[Finding]:
    facts = gates.load_facts(dataset)
    if facts.is_known_raw:
        yield Finding("raw", True, f"{dataset.name} contains {facts.raw_because}.", "Scrub the dataset.")
    if not dataset.sessions.filter(split="validation").exists():
        yield Finding(
            "not_split",
            True,
            "The dataset has no validation split, so Alignmenter would split rows after it has learned from "
            "them.",
            "Split it into training, validation and test.",
        )
    elif unplaced := left_out.pop(OMITTED_UNPLACED, 0):
        text = f"{format_count(unplaced, 'label is', 'labels are')} of sessions without a split."
        yield Finding("unplaced", True, text, "Split the dataset again, which places new sessions.")


def _check_persona(persona_id: str) -> Iterator[Finding]:
    persona = Persona.objects.filter(persona_id=persona_id).first()
    if persona is None:
        yield Finding("persona_missing", True, "The persona is not here.", "Import its file.")
        return
    try:
        found = check_persona(parse_persona(persona.yaml))
    except PersonaError as error:
        yield Finding("persona_invalid", True, f"The persona can't be read: {error}.", "Correct the persona.")
        return
    for one in found:
        # Without exemplars, `calibrate bounds` refuses, and style is compared with the words of the lexicon.
        blocks = one.code.startswith("E") or one.code == "W704"
        text = f"Persona, {one.field}: {one.message} ({one.code})."
        yield Finding("persona_invalid" if blocks else "persona_note", blocks, text, "Correct the persona.")


def _check_others(dataset: Dataset, persona_id: str) -> Iterator[Finding]:
    labels = Annotation.objects.countable().filter(
        dataset=dataset, persona_id=persona_id, turn__session__split__in=PARTS, turn__session__excluded=False
    )
    session = "turn__session__persona_id"
    others = labels.filter(~Q(**{session: F("persona_id")}), **{f"{session}__isnull": False}).count()
    if others:
        yield Finding(
            "mixed_personas",
            True,
            f"{format_count(others, 'label is', 'labels are')} of replies that another persona gave: a "
            "calibration would learn to tell personas apart.",
            "Exclude the sessions of other personas, or label them for their own.",
        )


def _check_stale(dataset: Dataset, persona_id: str) -> Iterator[Finding]:
    for campaign in Campaign.objects.filter(
        dataset=dataset, persona__persona_id=persona_id, schema=None
    ).select_related("persona"):
        stale = Annotation.objects.stale(campaign).count()
        if stale:
            text = (
                f"{format_count(stale, 'label')} of {campaign.name} "
                f"{'was' if stale == 1 else 'were'} made before the persona or the guidelines last changed."
            )
            yield Finding("stale", True, text, "Queue them again on the campaign's page Stale labels.")
