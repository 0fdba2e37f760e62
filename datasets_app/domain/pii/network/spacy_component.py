"""The network as a component of spaCy, for texts of any language but English::

import datasets_app.domain.pii.network.spacy_component  # registers it

nlp = spacy.blank("xx")
nlp.add_pipe("alignmenter_any_language")
[(entity.text, entity.label_) for entity in nlp("Передайте это Сергею").ents]
"""

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import filter_spans

from datasets_app.domain.pii.detector import NETWORK_KINDS
from datasets_app.domain.pii.network.judged import judge_texts
from datasets_app.domain.pii.recognizer_files import ENTITY_BY_KIND

NAME = "alignmenter_any_language"


@Language.component(NAME)  # type: ignore[untyped-decorator]
def add_entities(doc: Doc) -> Doc:
    """Add what the network finds to the entities of ``doc``, as whole tokens, under the names of Presidio."""
    [judged] = judge_texts([doc.text])
    if not judged.is_english:
        found = (
            doc.char_span(
                match.start, match.end, ENTITY_BY_KIND.get(match.kind, match.kind), alignment_mode="expand"
            )
            for match in judged.find(NETWORK_KINDS)
        )
        doc.set_ents(filter_spans([*doc.ents, *(span for span in found if span)]))
    return doc
