from itertools import chain
from typing import Any

import msgspec

from datasets_app.catalog.rows.parquet_blocks import encode_parquet
from datasets_app.command_line.conversion import (
    READING_OPTIONS,
    convert_file,
    describe_conversion,
    is_complete,
    list_problems,
)
from datasets_app.command_line.options import option
from datasets_app.command_line.streams import EXIT_FINDINGS, show_name
from datasets_app.core.limits import configured_limits
from datasets_app.domain.conversations.chat import CHAT_FORMATS, CHAT_NOTE
from datasets_app.domain.traces.convert import ConvertOptions
from datasets_app.domain.traces.converted_file import ALL_FORMATS
from datasets_app.domain.traces.describe import list_left_out, list_warnings
from datasets_app.domain.traces.report import Report
from datasets_app.domain.traces.targets import TARGETS as TEXT_TARGETS
from datasets_app.domain.traces.targets import Encoder
from datasets_app.exporting.export_dataset import encode_csv
from datasets_app.management.base import BaseCommand
from datasets_app.management.files import check_target, open_output
from datasets_app.management.format_options import mapping_options, parse_mapping
from datasets_app.management.terminal import command_error

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

    arguments = (
        option("--input FILE", "file to convert; - for standard input", required=True),
        option("--out FILE", "file to write; - for standard output", required=True),
        option("--to", "default: turns, one a line", choices=tuple(TARGETS), default="turns"),
        option(
            "--format FORMAT",
            f"of the input; default: auto, recognized by its content; or {', '.join(ALL_FORMATS)}",
            choices=("auto", *ALL_FORMATS),
            default="auto",
        ),
        *READING_OPTIONS,
        *mapping_options(of_files=True),
        option("--answered-only", "leave out conversations without an answer"),
        option("--report FILE", "write the counts as JSON; - for standard output"),
    )

    def handle(self, **options: Any) -> None:
        if options["out"] == "-" == options["report"]:
            raise command_error("Only one of --out and --report can be standard output.")
        reading = ConvertOptions(options["assistant"], parse_mapping(options), options["answered_only"])
        check_target(options["out"], options["input"])
        report = convert_file(
            options["input"],
            open_output(options["out"]),
            TARGETS[options["to"]],
            format=options["format"],
            reading=reading,
            limits=configured_limits(),
        )
        if options["report"]:
            with open_output(options["report"]) as out:
                out.write(msgspec.json.format(msgspec.json.encode(_as_json(report))) + b"\n")
        if options["save_mapping"] and (mapping := {**report.mapping, **reading.mapping}):
            with open_output(options["save_mapping"]) as out:
                out.write(msgspec.json.format(msgspec.json.encode(mapping)) + b"\n")
        name = show_name(options["input"])
        for line in (*list_problems(name, report), *describe_conversion(name, report)):
            self.stderr.write(line, style_func=str)
        if options["to"] in CHAT_FORMATS:
            self.stderr.write(f"  {options['to']}: {CHAT_NOTE}.", style_func=str)
        if not is_complete(report):
            raise SystemExit(EXIT_FINDINGS)


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
