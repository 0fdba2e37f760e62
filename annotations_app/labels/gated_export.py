"""The gates of every file with labels: it is written, then looked at, and only then leaves."""

import shutil
import tempfile
from collections.abc import Callable, Mapping
from typing import IO, Any, TypeVar

from django.db import transaction

from annotations_app.domain.answer_files.formats import FORMATS, AnswerFormat
from datasets_app.catalog import gates, policies, text_gates
from datasets_app.catalog.text_scans import list_exemptions
from datasets_app.core.errors import UserError
from datasets_app.domain.quality.text_tally import TextTally
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset

T = TypeVar("T")


def find_format(name: str) -> AnswerFormat:
    """Raises UserError."""
    if name not in FORMATS:
        raise UserError(f"The format must be one of {', '.join(FORMATS)}, not {name!r}.")
    return FORMATS[name]


def describe_notes(notes: Mapping[str, int]) -> list[str]:
    """Sentences on what the tool doesn't show as answers."""
    return [f"{format_count(count, 'answer')}: {note}" for note, count in sorted(notes.items()) if count]


def export_through_gates(
    dataset: Dataset,
    out: IO[bytes],
    write: Callable[[IO[bytes], TextTally], T],
    finish: Callable[[T], None],
    *,
    override: str,
    actor: Any,
) -> T:
    """The result of ``write``, which writes lines and tallies what they say; ``finish`` records it, or
    refuses.

    Nothing reaches ``out`` before all of this is done. Each line holds a text: production data must have been
    scrubbed, or ``override`` be a reason why not. Raises UserError.
    """
    with tempfile.TemporaryFile() as spool:
        with transaction.atomic():
            overridden = text_gates.check_gate(policies.EXPORT, dataset, actor=actor, override=override)
            tally = TextTally(list_exemptions(dataset))
            written = write(spool, tally)
            if not overridden:
                gates.check_label_export(dataset, tally.found, actor=actor, override=override)
                # Raw sessions may have been committed between the first check and the read.
                text_gates.check_gate(policies.EXPORT, dataset, actor=actor, override=override)
            finish(written)
        spool.seek(0)
        shutil.copyfileobj(spool, out, 1 << 20)
    return written
