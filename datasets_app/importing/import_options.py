"""How the files of an import are read."""

from typing import NamedTuple

from datasets_app.domain.traces.convert import ConvertOptions
from datasets_app.domain.traces.label_rules import LabelRules
from datasets_app.importing.parameters import ImportParameters


class ImportOptions(NamedTuple):
    """How files are read. Sessions that name no persona get ``persona``."""

    format: str = "auto"
    persona: str | None = None
    renumber: bool = False
    quarantine: bool = False
    append: bool = False
    reading: ConvertOptions = ConvertOptions()
    labels: LabelRules = LabelRules()


def read_import_options(parameters: ImportParameters) -> ImportOptions:
    return ImportOptions(
        parameters.format or "auto",
        parameters.persona or None,
        parameters.renumber,
        parameters.on_error == "quarantine",
        parameters.append,
        parameters.reading,
        parameters.label_rules,
    )
