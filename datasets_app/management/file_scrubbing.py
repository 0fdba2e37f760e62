"""sanitize_dataset on files: checks what may be read and written, scrubs, and prints the result."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from django.core.management.base import CommandError

from alignmenter_site.env import EnvironmentVariableError
from alignmenter_site.keys.hash_key import hash_key
from datasets_app.catalog.dataset_facts import join_exceptions, say_verified
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress, get_standard_output, show_name
from datasets_app.core.atomic_files import write_atomically
from datasets_app.core.process_pool import available_cpus
from datasets_app.domain.conversations.reading import ConversationFile, data_stem
from datasets_app.domain.metadata.metadata import metadata_path, render_metadata
from datasets_app.domain.personas.persona import PersonaError, parse_persona
from datasets_app.domain.pii.batches import MAX_PLACES_LISTED, FindingPlace, ScrubSetup
from datasets_app.domain.pii.network.languages import describe_unmeasured, say_languages
from datasets_app.domain.pii.persona_terms import list_persona_terms
from datasets_app.domain.pii.policy import Policy
from datasets_app.domain.traces.convert import ConvertOptions
from datasets_app.domain.wording import format_count
from datasets_app.management import kept_terms
from datasets_app.management.files import (
    check_metadata_target,
    check_target,
    is_same_file,
    open_conversations,
    open_output,
    read_text,
    refuse_folder,
)
from datasets_app.management.format_options import parse_mapping
from datasets_app.management.terminal import command_error, print_limited
from datasets_app.scrubbing.report import build_file_report
from datasets_app.scrubbing.sanitize_file import (
    InputMetadata,
    SanitizeResult,
    build_output_metadata,
    read_input_metadata,
    sanitize_file,
    scan_file,
)

# A file this small is done before another process has loaded its name model.
SMALL_FILE_BYTES = 1 << 20


class _VerificationFailed(Exception):
    """Raised while the result is open, so that nothing of it is kept."""


class _SanitizeCall(NamedTuple):
    """A checked call of the command; ``out`` is None in a dry run."""

    options: dict[str, Any]
    name: str
    out: str | None
    stdout: Any
    stderr: Any

    def processes(self, file: ConversationFile) -> int:
        return self.options["processes"] or (1 if file.bytes_total < SMALL_FILE_BYTES else available_cpus())

    def print(self, line: str) -> None:
        """Write a line for people: never to the stream that receives the result, the report or the terms."""
        files = (self.out, self.options["report"], self.options["propose_terms"])
        (self.stderr if "-" in files else self.stdout).write(line)


def run(options: dict[str, Any], policy: Policy, stdout: Any, stderr: Any) -> None:
    call = _validate_call(options, stdout, stderr)
    terms = tuple(load_persona_terms(options["persona"]))
    counts_names = options["propose_terms"] is not None
    setup = ScrubSetup(policy, _load_hash_key(), terms, counts_names=counts_names)
    reading = ConvertOptions(options["assistant"], parse_mapping(options))
    with open_conversations(
        options["input"], format=options["format"], reading=reading, tell=stderr.write
    ) as file:
        before = read_input_metadata(None if options["input"] == "-" else Path(options["input"]), setup)
        for notice in before.notices:
            call.print(notice)
        if call.out is None:
            _preview(call, file, before, setup)
        else:
            _sanitize(call, file, before, setup)


def _load_hash_key() -> bytes:
    try:
        return hash_key()
    except EnvironmentVariableError as error:
        raise command_error(f"{error}.") from None


def load_persona_terms(files: list[str]) -> Iterator[str]:
    for name in files:
        try:
            persona = parse_persona(read_text(name))
        except PersonaError as error:
            raise command_error(f"{name} is not a valid persona: {error}.") from None
        yield from list_persona_terms(persona)


# --- what may be read and written ------------------------------------------------------------------


def _validate_call(options: dict[str, Any], stdout: Any, stderr: Any) -> _SanitizeCall:
    source, out, report = options["input"], options["out"], options["report"]
    if out is None and not options["dry_run"]:
        raise command_error("Name the result with --out FILE, or only list findings with --dry-run.")
    if options["processes"] is not None and options["processes"] < 1:
        raise command_error("--processes must be 1 or more.")
    proposals = options["propose_terms"]
    if [out, report, proposals].count("-") > 1:
        raise command_error(
            "The result, the report and the proposed terms can't both be written to standard output. Name a "
            "file for one."
        )
    if options["dry_run"]:
        out = None
    refuse_folder(source)
    for target in (out, report, proposals):
        check_target(target, source)
    _refuse_shared_metadata(source, out, report)
    return _SanitizeCall(options, show_name(source), out, stdout, stderr)


def _refuse_shared_metadata(source: str, out: str | None, report: str | None) -> None:
    """Neither metadata nor report is written over the other, or over the input."""
    if out in (None, "-"):
        return
    check_metadata_target(out, source)
    metadata = metadata_path(Path(out))
    if report not in (None, "-") and any(is_same_file(Path(report), path) for path in (Path(out), metadata)):
        raise command_error(f"{report} is the result or its metadata. Give the report another name.")


# --- dry run -----------------------------------------------------------------------------------------


def _preview(call: _SanitizeCall, file: ConversationFile, before: InputMetadata, setup: ScrubSetup) -> None:
    with Progress(f"Looking through {call.name}") as progress:
        result = scan_file(file, before.setup, processes=call.processes(file), report_progress=progress)
    _add_metadata_findings(result, before)
    _write_report(call, result, setup)
    _write_proposals(call, result)
    print_limited([_format_finding(call, place) for place in result.places], result.total, call.print)
    call.print(_format_summary(result, "found"))
    if result.total:
        raise SystemExit(EXIT_FINDINGS)


def _add_metadata_findings(result: SanitizeResult, before: InputMetadata) -> None:
    """Findings in the metadata file count as well, and are listed first."""
    result.places = [*before.places, *result.places][:MAX_PLACES_LISTED]
    result.kinds.update(place.kind for place in before.places)
    if before.places:
        result.fields["metadata file"] += len(before.places)


def _format_finding(call: _SanitizeCall, place: FindingPlace) -> str:
    where = f"{call.name}:{place.line}" if place.line else str(metadata_path(Path(call.name)))
    return (
        f"{where}: {place.kind} in {place.field}, column {place.start + 1}, "
        f"{format_count(place.length, 'character')}, score {place.score:.2f}"
    )


def _format_summary(result: SanitizeResult, verb: str) -> str:
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(result.kinds.items()))
    return (
        f"{format_count(result.total, 'value')} {verb}{f' ({kinds})' if kinds else ''} in "
        f"{result.found_turns:,} of {format_count(result.turns, 'turn')}, "
        f"{result.found_sessions:,} of {format_count(result.sessions, 'session')}."
    )


# --- a scrub -----------------------------------------------------------------------------------------


def _sanitize(call: _SanitizeCall, file: ConversationFile, before: InputMetadata, setup: ScrubSetup) -> None:
    result: SanitizeResult | None = None
    try:
        with Progress(f"Scrubbing {call.name}") as progress, _open_targets(str(call.out)) as (data, metadata):
            result = sanitize_file(
                file,
                data,
                before.setup,
                gzipped=str(call.out).lower().endswith(".gz"),
                processes=call.processes(file),
                report_progress=progress,
            )
            _add_metadata_findings(result, before)
            if result.remaining:
                raise _VerificationFailed
            stated = build_output_metadata(before, setup, result, data_stem(Path(str(call.out)).name))
            metadata.write(render_metadata(stated).encode())
    except _VerificationFailed:
        assert result is not None
        _refuse_remaining(call, result, setup)
    _write_report(call, result, setup)
    _write_proposals(call, result)
    if file.is_out_of_order:
        call.print("Lines were out of order and have been sorted.")
    call.print(_format_summary(result, "replaced"))
    exceptions = join_exceptions("", describe_unmeasured(result.unmeasured, result.turns))
    call.print(f"{say_verified(exceptions, 'the output')} sha256 {result.sha256}")
    if languages := say_languages(result.languages, setup.policy.prefer):
        call.print(languages)


def _refuse_remaining(call: _SanitizeCall, result: SanitizeResult, setup: ScrubSetup) -> None:
    _write_report(call, result, setup)
    for place in result.remaining_places:
        call.stderr.write(_format_finding(call, place))
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(result.remaining.items()))
    raise CommandError(
        f"Verification found remaining values ({kinds}); nothing was written.", returncode=EXIT_FINDINGS
    )


def _write_report(call: _SanitizeCall, result: SanitizeResult, setup: ScrubSetup) -> None:
    if call.options["report"] is None:
        return
    report = build_file_report(
        result, setup, input=call.name, output=call.out, dry_run=bool(call.options["dry_run"])
    )
    with open_output(call.options["report"]) as file:
        file.write(json.dumps(report, indent=2, ensure_ascii=False).encode() + b"\n")


def _write_proposals(call: _SanitizeCall, result: SanitizeResult) -> None:
    target = call.options["propose_terms"]
    if target is not None:
        proposals = result.names.choose_proposals(result.sessions)
        kept_terms.write_proposals(target, proposals)
        call.print(f"{format_count(len(proposals), 'term')} proposed.")


@contextmanager
def _open_targets(out: str) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Files for the result and its metadata, put in place when the block ends without an exception.

    A target that can't be replaced (standard output, a pipe, a device) receives the result at the end, and
    has no metadata file.
    """
    path = Path(out)
    with ExitStack() as stack:
        if out == "-" or (path.exists() and not path.is_file()):
            data = stack.enter_context(tempfile.NamedTemporaryFile(prefix="alignmenter-sanitize-"))
            yield data, stack.enter_context(tempfile.TemporaryFile())
            data.flush()
            target = get_standard_output() if out == "-" else stack.enter_context(path.open("wb"))
            with Path(data.name).open("rb") as result:
                shutil.copyfileobj(result, target)
            target.flush()
            return
        # The last file entered is the first in place: raw data never has metadata that calls it scrubbed.
        metadata = stack.enter_context(write_atomically(metadata_path(path).resolve()))
        yield stack.enter_context(write_atomically(path.resolve())), metadata
