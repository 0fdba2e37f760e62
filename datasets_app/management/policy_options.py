"""The options of commands that say what a scrub looks for and what it keeps."""

from pathlib import Path
from typing import Any

from django.conf import settings

from datasets_app.catalog.scrubbers import add_recognizer_files
from datasets_app.command_line.options import option
from datasets_app.domain.pii.custom_patterns import CustomPatterns, parse_pattern
from datasets_app.domain.pii.policy import Policy, PolicyError, list_class_names, parse_kinds
from datasets_app.management.kept_terms import read_kept_terms, read_scrubbed_terms
from datasets_app.management.terminal import command_error

keep = "names of brands and products to keep, one a line; what --propose-terms wrote"
DETECTION_OPTIONS = (
    option(
        "--scrub-patterns CLASSES",
        f"default: all but the last, of datasets from production all: {'|'.join(list_class_names())}",
    ),
    option(
        "--pattern LABEL=REGEX",
        "your own pattern in RE2 syntax, replaced with [LABEL]; or 'LABEL: A-0017, A-0018, A-0412', "
        "three examples of a format; may be repeated",
        repeatable=True,
    ),
    option("--allow TERM", "a value to keep, such as a brand; may be repeated", repeatable=True),
    option("--keep-terms FILE", keep),
    option(
        "--scrub-terms FILE",
        "names to replace wherever they stand, one a line",
    ),
    option(
        "--persona FILE",
        "persona YAML whose name, brand, lexicon and proper nouns are kept; may be repeated",
        repeatable=True,
    ),
    option(
        "--recognizers FILE",
        "your own recognizers in Presidio's YAML format; may be repeated",
        repeatable=True,
    ),
    option("--names MODEL,…", "name models, findings united: builtin, spacy:NAME (installed), onnx:FOLDER"),
)


def build_policy(options: dict[str, Any], default: Policy | None = None, **replacement: Any) -> Policy:
    """The policy of these options; ``replacement`` are its fields about how values are replaced. Raises
    CommandError."""
    default = default or Policy()
    models = options["names"].split(",") if options["names"] else settings.NAME_MODELS
    try:
        patterns = tuple(parse_pattern(text)[:2] for text in options["pattern"])
        CustomPatterns(patterns)
        policy = Policy(
            kinds=parse_kinds(options["scrub_patterns"])
            if options["scrub_patterns"] is not None
            else default.kinds,
            patterns=patterns,
            allow=tuple(options["allow"]),
            allow_names=read_kept_terms(options["keep_terms"]) if options["keep_terms"] else (),
            missed=tuple(read_scrubbed_terms(options["scrub_terms"])) if options["scrub_terms"] else (),
            name_models=tuple(model.strip() for model in models if model.strip()),
            **replacement,
        )
        return add_recognizer_files(policy, map(Path, options["recognizers"]))
    except PolicyError as error:
        raise command_error(str(error)) from None
