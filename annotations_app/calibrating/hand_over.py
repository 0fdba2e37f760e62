"""Writes what Alignmenter calibrates with: two files of labels, by our splits, and the persona."""

from pathlib import Path

from annotations_app.calibrating.assess import calibration_ready
from annotations_app.domain.calibration_sets import PARTS, Readiness
from annotations_app.labels.export_annotations import DEFAULT_SELECTION, export_annotations
from datasets_app.catalog.personas import get_persona
from datasets_app.core.atomic_files import write_atomically
from datasets_app.core.errors import UserError
from datasets_app.models import Dataset

PERSONA_FILE = "persona.yaml"


def write_calibration_sets(
    dataset: Dataset,
    persona_id: str,
    folder: Path,
    *,
    labels: str = DEFAULT_SELECTION,
) -> Readiness:
    """Write `train.jsonl`, `validation.jsonl` and `persona.yaml` if the labels are ready.

    Raises UserError.
    """
    readiness = calibration_ready(dataset, persona_id, labels=labels)
    if not readiness.is_ready:
        return readiness
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for part in PARTS:
            with write_atomically(folder / f"{part}.jsonl") as out:
                export_annotations(dataset, persona=persona_id, out=out, labels=labels, split=part)
        with write_atomically(folder / PERSONA_FILE) as out:
            out.write(get_persona(persona_id).yaml.encode())
    except OSError as error:
        raise UserError(f"{folder} can't be written: {error.strerror}.") from None
    return readiness
