"""The check of files: what ``manage.py validate_dataset`` and ``alignmenter-validate`` have in common.

The second is installed by pip without the application (``pyproject.toml``), for git hooks and CI of other
repositories: no Django, no database, no settings, and nothing is written anywhere.
"""

import argparse
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from datasets_app.command_line.conversion import describe_conversion
from datasets_app.command_line.options import add_options, option
from datasets_app.command_line.outputs import OUTPUTS, Output
from datasets_app.command_line.streams import (
    EXIT_COULD_NOT_RUN,
    EXIT_FINDINGS,
    CommandFailure,
    Progress,
    escape_terminal,
    exit_quietly,
    provide_local_file,
)
from datasets_app.domain.conversations.lines import DEFAULT_LIMITS, Limits
from datasets_app.domain.packages.quality_statement import QualityStatement
from datasets_app.domain.personas.persona import PersonaError, parse_persona
from datasets_app.domain.pii.names.model_error import NameModelError
from datasets_app.domain.pii.names.names import BUILT_IN, load_name_finder
from datasets_app.domain.pii.persona_terms import list_persona_terms
from datasets_app.domain.quality.files import FILE_KINDS, FileChecker, find_kept_terms, find_stated_quality
from datasets_app.domain.quality.kept_terms import NOTHING_KEPT
from datasets_app.domain.quality.personal_data import SearchBatches
from datasets_app.domain.quality.personal_data_only import PersonalDataScan

PROGRAM = "alignmenter-validate"
ALLOW_LIST_PATH = Path(".alignmenter-allow")
MAX_ALLOW_LIST_BYTES = 1 << 20

EPILOG = """
examples:
  {program} conversations.jsonl
  {program} data/*.jsonl.gz --strict
  {program} labels.jsonl --kind annotation --format json
  {program} --pii-only --strict data/*.jsonl --allow support@acme.example
  zcat logs.jsonl.gz | {program} - --format github{more}

--pii-only takes any JSONL and reports personal data only. Values that are allowed in the
files are given with --allow, or one a line in .alignmenter-allow of the current directory
(lines that begin with # are comments).

exit codes:
  0  clean: no errors (and with --strict no warnings either)
  1  findings
  2  could not run: no such file or dataset, wrong arguments
  130 and 141: stopped before the end, by Ctrl-C or because the output was no longer read

Every code is explained in docs/checks.md.
"""


OPTIONS = (
    option(
        "files FILE", "file of any format that is imported, plain or gzipped; - for standard input", nargs="*"
    ),
    option("--kind", "what the files hold (default: by the first line)", choices=FILE_KINDS),
    option("--format", "of the output", choices=tuple(OUTPUTS), default="text"),
    option("--pii-only", "look for personal data alone, in any JSONL whatever its lines are"),
    option(
        "--allow TERM",
        "a value that is allowed in the files, whole or in part; repeatable (with --pii-only)",
        repeatable=True,
    ),
    option(
        "--persona FILE",
        "persona YAML whose name, brand and lexicon aren't people; repeatable (without --pii-only)",
        repeatable=True,
    ),
    option("--no-names", "don't look for names of people: a model does that, some thousand lines a second"),
    option("--strict", "warnings count as findings"),
    option(
        "--limit N",
        "print at most N findings of each code for each file; 0 for all (default: 100)",
        default=100,
    ),
)


def check_options(options: dict[str, Any]) -> None:
    """Raises :class:`CommandFailure` for arguments that don't go together, before any work."""
    files = options["files"]
    if options["limit"] < 0:
        raise CommandFailure("--limit must be 0 or more")
    if options["allow"] and not options["pii_only"]:
        raise CommandFailure("--allow goes with --pii-only")
    if options["persona"] and options["pii_only"]:
        raise CommandFailure("--persona doesn't go with --pii-only; use --allow")
    if files.count("-") > 1:
        raise CommandFailure("standard input can be read only once")
    for name in files:
        if name != "-" and (problem := _find_path_problem(Path(name))):
            raise CommandFailure(f"{name}: {problem}")


def check_files(
    options: dict[str, Any],
    output: Output,
    models: tuple[str, ...],
    limits: Limits,
    search_batches: SearchBatches | None = None,
) -> None:
    """Every finding of every file goes to ``output``; ``models`` are empty if names are not looked for.
    ``search_batches`` is that of ``run_checks``."""
    allowed = [*options["allow"], *_read_allow_list()] if options["pii_only"] else []
    persona_terms = [term for persona in options["persona"] for term in _read_persona_terms(persona)]
    for name in options["files"]:
        with provide_local_file(name) as path:
            file: PersonalDataScan | FileChecker
            if options["pii_only"]:
                kept = find_kept_terms(path) if name != "-" else NOTHING_KEPT
                file = PersonalDataScan(path, allow=allowed, kept=kept, name_models=models, limits=limits)
                kind, stated = None, QualityStatement()
            else:
                file = FileChecker(
                    path,
                    options["kind"],
                    with_metadata=name != "-",
                    name_models=models,
                    persona_terms=persona_terms,
                    limits=limits,
                    search_batches=search_batches,
                )
                kept, kind = file.kept, file.kind
                stated = find_stated_quality(path) if name != "-" else QualityStatement()
            output.start_source("<stdin>" if name == "-" else name, kind)
            if kept.term_count:
                output.note_kept(kept.term_count)
            if stated:
                output.note_quality(stated)
            progress, size = Progress(f"Checking {name}"), path.stat().st_size

            def show(done: int, progress: Progress = progress, size: int = size) -> None:
                progress(done, size)

            for finding in file.findings(show):
                progress.clear()
                output.add(finding)
            progress.clear()
            if isinstance(file, FileChecker) and file.conversion:
                output.note_conversion(describe_conversion(name, file.conversion, with_roles=False))


def load_name_models(models: Sequence[str]) -> tuple[str, ...]:
    """The same, loaded; raises :class:`CommandFailure` for one that isn't there."""
    try:
        load_name_finder(tuple(models))
    except NameModelError as error:
        raise CommandFailure(str(error)) from None
    return tuple(models)


def escape_undecodable_names(stream: Any) -> None:
    """File names need not be Unicode."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def get_exit_code(output: Output, strict: bool) -> int:
    return EXIT_FINDINGS if output.totals.errors or (strict and output.totals) else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """``alignmenter-validate``; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Check conversation or annotation files and list what is wrong.",
        epilog=EPILOG.format(program=PROGRAM, more=""),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser, OPTIONS)
    options = vars(parser.parse_args(arguments))
    escape_undecodable_names(sys.stdout)
    escape_undecodable_names(sys.stderr)
    output = OUTPUTS[options["format"]](_print_line, _print_error, options["limit"])
    try:
        with exit_quietly():
            if not options["files"]:
                raise CommandFailure("name files to check")
            check_options(options)
            models = () if options["no_names"] else load_name_models([BUILT_IN])
            check_files(options, output, models, _read_limits())
            output.close()
            sys.stdout.flush()
    except CommandFailure as error:
        return _report_failure(str(error))
    except OSError as error:
        return _report_failure(f"{error.filename or 'a temporary file'}: {error.strerror or error}")
    return get_exit_code(output, options["strict"])


def run() -> None:
    """What pip makes a program of."""
    sys.exit(main())


def _print_line(text: str) -> None:
    print(escape_terminal(text))


def _print_error(text: str) -> None:
    print(escape_terminal(text), file=sys.stderr)


def _report_failure(sentence: str) -> int:
    _print_error(f"{PROGRAM}: {sentence}")
    return EXIT_COULD_NOT_RUN


def _read_limits() -> Limits:
    """As the application's settings have them."""
    names = ("ALIGNMENTER_MAX_LINE_BYTES", "ALIGNMENTER_MAX_UNPACKED_BYTES")
    values = [os.environ.get(name, "") for name in names]
    for name, value in zip(names, values, strict=True):
        if value and not value.isdecimal():
            raise CommandFailure(f"{name} must be a whole number, not {value!r}")
    line_bytes, unpacked_bytes = values
    return Limits(
        int(line_bytes or DEFAULT_LIMITS.line_bytes), int(unpacked_bytes or DEFAULT_LIMITS.unpacked_bytes)
    )


def _find_path_problem(path: Path) -> str:
    if path.is_dir():
        return "is a directory; name the files in it"
    if not path.exists():
        return "no such file"
    return "" if os.access(path, os.R_OK) else "may not be read; check its permissions"


def _read_persona_terms(name: str) -> list[str]:
    try:
        return list_persona_terms(parse_persona(Path(name).read_text(encoding="utf-8-sig")))
    except (PersonaError, UnicodeDecodeError) as error:
        raise CommandFailure(f"{name} is not a valid persona: {error}") from None


def _read_allow_list() -> list[str]:
    """The terms of the allow list in the directory this runs in, if there is one."""
    if not ALLOW_LIST_PATH.is_file():
        return []
    if ALLOW_LIST_PATH.stat().st_size > MAX_ALLOW_LIST_BYTES:
        raise CommandFailure(f"{ALLOW_LIST_PATH}: is larger than {MAX_ALLOW_LIST_BYTES:,} bytes")
    try:
        lines = ALLOW_LIST_PATH.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise CommandFailure(f"{ALLOW_LIST_PATH}: isn't text in UTF-8") from None
    return [term for line in lines if (term := line.strip()) and not term.startswith("#")]
