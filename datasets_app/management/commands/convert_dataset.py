from argparse import ArgumentParser
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import msgspec

from datasets_app.catalog.rows.parquet_blocks import encode_parquet
from datasets_app.command_line.streams import EXIT_FINDINGS, Progress, provide_local_file
from datasets_app.core.errors import UserError
from datasets_app.core.limits import configured_limits
from datasets_app.domain.conversations.lines import UnreadableFile
from datasets_app.domain.conversations.reading import ConversationFile
from datasets_app.domain.conversations.records import LineError, TurnRecord
from datasets_app.domain.traces.convert import ConvertOptions, Report
from datasets_app.domain.traces.converted_file import ALL_FORMATS, ConvertedFile, open_conversation_file
from datasets_app.domain.traces.describe import explain_missing_sessions, list_left_out, list_warnings
from datasets_app.domain.traces.targets import TARGETS as TEXT_TARGETS
from datasets_app.domain.traces.targets import Conversations, Encoder
from datasets_app.exporting.export_dataset import encode_csv
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import STDIN_NAME, describe_conversion, open_output, unreadable_error
from datasets_app.management.format_options import add_mapping_options, add_reading_options, parse_mapping
from datasets_app.management.terminal import command_error, format_problem, print_limited

TARGETS: dict[str, Encoder] = TEXT_TARGETS | {
    "parquet": lambda conversations: (
        block for _, _, block in encode_parquet(chain.from_iterable(conversations))
    ),
    "csv": lambda conversations: (block for _, _, block in encode_csv(chain.from_iterable(conversations))),
}


class Command(BaseCommand):
    help = """Turn an export of another tool into conversations. Needs no database.

Reads traces (OpenTelemetry, OpenInference/Phoenix, Langfuse, LangSmith), logs of calls to
OpenAI or Anthropic, messages of LangChain and other frameworks, exports of ChatGPT,
LibreChat, Open WebUI, Intercom, Zendesk, Freshdesk, WhatsApp and Telegram, tables (CSV,
XLSX, Parquet) and files of label tools. The format is recognized by the content. What was
read, made and left out is listed on standard error.

examples:
  manage.py convert_dataset --input langfuse.json --out conversations.jsonl
  manage.py convert_dataset --input spans.jsonl.gz --out - | head
  manage.py convert_dataset --input chat.txt --assistant "Support" --out chat.jsonl
  manage.py convert_dataset --input tickets.xlsx --map text=Body --map role=Author \\
      --map session_id=Ticket --out tickets.jsonl
  manage.py convert_dataset --input conversations.jsonl --to labelstudio --out tasks.json

exit codes:
  0  converted
  1  parts of the file can't be read (listed), or it has no conversation; what could be
     read is written
  2  could not run: no such file, an unknown format, wrong arguments

How to export from each tool: docs/formats.md"""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--input", required=True, metavar="FILE", help="file to convert; - for standard input"
        )
        parser.add_argument(
            "--out", required=True, metavar="FILE", help="file to write; - for standard output"
        )
        parser.add_argument(
            "--to", choices=tuple(TARGETS), default="turns", help="default: turns, one a line"
        )
        parser.add_argument(
            "--format",
            choices=("auto", *ALL_FORMATS),
            default="auto",
            metavar="FORMAT",
            help=f"of the input; default: auto, recognized by its content; or {', '.join(ALL_FORMATS)}",
        )
        add_reading_options(parser)
        add_mapping_options(parser, of_files=True)
        parser.add_argument(
            "--answered-only", action="store_true", help="leave out conversations without an answer"
        )
        parser.add_argument(
            "--report", metavar="FILE", help="write the counts as JSON; - for standard output"
        )

    def handle(self, **options: Any) -> None:
        if options["out"] == "-" == options["report"]:
            raise command_error("Only one of --out and --report can be standard output.")
        name = STDIN_NAME if options["input"] == "-" else options["input"]
        reading = ConvertOptions(options["assistant"], parse_mapping(options), options["answered_only"])
        with provide_local_file(options["input"]) as path:
            _refuse_same_file(path, options["out"])
            try:
                file = open_conversation_file(
                    path,
                    format=options["format"],
                    limits=configured_limits(),
                    name=Path(name).name,
                    options=reading,
                )
                report = self._write(file, options, Progress("Converting"))
            except UnreadableFile as error:
                raise unreadable_error(name, error) from None
        if options["report"]:
            with open_output(options["report"], self.stdout) as out:
                out.write(msgspec.json.format(msgspec.json.encode(_as_json(report))) + b"\n")
        if options["save_mapping"] and (mapping := {**report.mapping, **reading.mapping}):
            with open_output(options["save_mapping"], self.stdout) as out:
                out.write(msgspec.json.format(msgspec.json.encode(mapping)) + b"\n")
        self._print_report(name, report)
        if report.problem_total or not report.conversations:
            raise SystemExit(EXIT_FINDINGS)

    def _write(self, file: ConversationFile, options: dict[str, Any], progress: Progress) -> Report:
        """Raises UserError for a table that doesn't say which rows are one conversation."""
        report = Report(format=file.format)
        with progress, open_output(options["out"], self.stdout) as out:
            file.scan(lambda done: progress(done, file.bytes_total))
            if isinstance(file, ConvertedFile):
                report = file.report
                if reason := explain_missing_sessions(report):
                    raise UserError(f"{file.name}: {reason}", remedy="sessions")
            for block in TARGETS[options["to"]](_group(file, report)):
                out.write(block)
        return report

    def _print_report(self, name: str, report: Report) -> None:
        write = self.stderr.write
        listed = [
            format_problem(file=name, line=problem.line, code=problem.code, message=problem.message)
            for problem in report.problems[:100]
        ]
        print_limited(listed, report.problem_total, write)
        for line in describe_conversion(name, report):
            write(line, style_func=str)


def _group(file: ConversationFile, report: Report) -> Conversations:
    """Conversations one at a time; problems of a file that needs no conversion are counted here."""
    converted = isinstance(file, ConvertedFile)
    for _, group in groupby(
        file.turns(), key=lambda turn: turn.session_id if isinstance(turn, TurnRecord) else None
    ):
        turns = []
        for turn in group:
            if isinstance(turn, TurnRecord):
                turns.append(turn)
            elif not converted or turn not in report.problems:
                _add_problem(report, turn)
        if turns and not converted:
            report.conversations += 1
            report.turns += len(turns)
        if turns:
            yield turns


def _add_problem(report: Report, problem: LineError) -> None:
    report.problem_total += 1
    if len(report.problems) < 100:
        report.problems.append(problem)


def _refuse_same_file(path: Path, out: str) -> None:
    if out != "-" and Path(out).exists() and Path(out).samefile(path):
        raise command_error("--out names the input. Name another file.")


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "format": report.format,
        "records": report.records,
        "calls": report.calls,
        "traces": report.traces,
        "conversations": report.conversations,
        "without_answer": report.unanswered,
        "turns": report.turns,
        "labels": report.labels,
        "left_out": dict(list_left_out(report)),
        "left_out_lines": {reason: note.lines for reason, note in report.left_out.items() if note.lines},
        "warnings": list_warnings(report),
        "problems": report.problem_total,
        "columns": report.mapping,
    }
