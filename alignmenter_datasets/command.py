"""``alignmenter-datasets``: files to and from a server, and local checks, scrubs and conversions."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from alignmenter_datasets import local_files
from alignmenter_datasets.client import Client
from alignmenter_datasets.errors import ClientError, JobFailed, RequestRefused
from datasets_app.command_line import validate
from datasets_app.command_line.conversion import (
    ASSUMED_ORIGIN,
    ORIGIN_HELP,
    READING_OPTIONS,
    read_mapping,
)
from datasets_app.command_line.options import add_options
from datasets_app.command_line.streams import (
    EXIT_COULD_NOT_RUN,
    EXIT_FINDINGS,
    CommandFailure,
    escape_terminal,
    exit_quietly,
)
from datasets_app.domain.traces.table_columns import format_columns
from datasets_app.domain.wording import format_count

PROGRAM = "alignmenter-datasets"
EPILOG = """
examples:
  export ALIGNMENTER_SERVER=https://datasets.example.com
  alignmenter-datasets push may.jsonl --dataset support --token-file ~/.alignmenter-token
  alignmenter-datasets pull support --out support.jsonl --token-file ~/.alignmenter-token
  alignmenter-datasets push-run reports/nightly --dataset support --version 1.2.0
  alignmenter-datasets check support --token-file ~/.alignmenter-token
  alignmenter-datasets validate may.jsonl --strict
  alignmenter-datasets sanitize may.jsonl --out clean.jsonl
  alignmenter-datasets convert langfuse.json --out may.jsonl

The token is read from --token-file or ALIGNMENTER_TOKEN, never from an argument, which others
could see. push and pull resume where an interrupted call of the same kind broke off. validate,
sanitize and convert need no server, and send nothing anywhere.

exit codes:
  0  done
  1  findings, a failed job, or a request that the server refused
  2  could not run: no such file, wrong arguments, no server
  130 and 141: stopped before the end, by Ctrl-C or because the output was no longer read
"""
Handler = Callable[[argparse.Namespace], int]


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["validate"]:
        return validate.main(given[1:])
    options = _build_parser().parse_args(given)
    handler: Handler = options.handler
    try:
        with exit_quietly():
            return handler(options)
    except (RequestRefused, JobFailed) as error:
        return _report(str(error), EXIT_FINDINGS)
    except (ClientError, CommandFailure) as error:
        return _report(str(error), EXIT_COULD_NOT_RUN)
    except OSError as error:
        return _report(f"{error.filename or 'a file'}: {error.strerror or error}", EXIT_COULD_NOT_RUN)


def run() -> None:
    """What pip makes a program of."""
    sys.exit(main())


def _report(sentence: str, code: int) -> int:
    print(escape_terminal(f"{PROGRAM}: {sentence}"), file=sys.stderr)
    return code


def _build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        description="Move conversation datasets to and from a server, and check, scrub or convert files.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    server = argparse.ArgumentParser(add_help=False)
    server.add_argument("--server", metavar="URL", help="default: ALIGNMENTER_SERVER")
    server.add_argument(
        "--token-file", type=Path, metavar="FILE", help="holds the token; default: ALIGNMENTER_TOKEN itself"
    )
    _add_push(commands.add_parser("push", parents=[server], help="upload a file and import it"))
    _add_pull(commands.add_parser("pull", parents=[server], help="export a dataset into a file"))
    _add_push_run(
        commands.add_parser("push-run", parents=[server], help="import the report of an alignmenter run")
    )
    check = commands.add_parser(
        "check", parents=[server], help="run the checks of a dataset; 1 if it has errors"
    )
    check.add_argument("dataset", metavar="NAME")
    check.add_argument("--strict", action="store_true", help="warnings count as errors")
    check.set_defaults(handler=_check)
    commands.add_parser("validate", help="check files; see: validate --help")
    local_files.add_sanitize(commands.add_parser("sanitize", help="scrub a file"))
    local_files.add_convert(commands.add_parser("convert", help="turn an export of another tool into turns"))
    return parser


def _add_push(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", type=Path, metavar="FILE", help="conversations in any format of docs/formats.md"
    )
    parser.add_argument("--dataset", required=True, metavar="NAME", help="is created if it does not exist")
    parser.add_argument("--origin", choices=("synthetic", "production", "external"), help=ORIGIN_HELP)
    parser.add_argument("--format", default="auto", help="default: told by the content")
    parser.add_argument("--persona", default="", metavar="ID", help="of turns that name none")
    add_options(parser, READING_OPTIONS)
    parser.add_argument("--append", action="store_true", help="add to sessions that exist")
    parser.add_argument(
        "--quarantine", action="store_true", help="leave out sessions with problems, and keep those"
    )
    parser.set_defaults(handler=_push)


def _add_push_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("report", type=Path, metavar="FOLDER", help="what alignmenter run wrote")
    parser.add_argument("--dataset", required=True, metavar="NAME")
    parser.add_argument("--version", required=True, metavar="VERSION", help="the release that it ran on")
    parser.set_defaults(handler=_push_run)


def _add_pull(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("dataset", metavar="NAME")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FILE", help="a file or an existing folder"
    )
    parser.add_argument(
        "--format", choices=("turns", "openai", "sharegpt", "sessions", "padded", "csv", "parquet")
    )
    parser.add_argument(
        "--version",
        metavar="VERSION",
        help="a released version, gzipped as it is kept, instead of the dataset as it is",
    )
    parser.add_argument("--split", choices=("train", "validation", "test"))
    parser.add_argument("--tag", help="only turns with this tag")
    parser.add_argument("--package", action="store_true", help="with all documents, to share it")
    parser.add_argument("--gzip", action="store_true")
    parser.set_defaults(handler=_pull)


def _connect(options: argparse.Namespace) -> Client:
    server = options.server or os.environ.get("ALIGNMENTER_SERVER", "")
    if not server:
        raise CommandFailure("name the server with --server URL or ALIGNMENTER_SERVER")
    if options.token_file:
        token = options.token_file.read_text(encoding="utf-8")
    else:
        token = os.environ.get("ALIGNMENTER_TOKEN", "")
    if not token.strip():
        raise CommandFailure("give the token with --token-file FILE or ALIGNMENTER_TOKEN")
    return Client(server, token)


def _push(options: argparse.Namespace) -> int:
    wanted = {
        **({"origin": options.origin} if options.origin else {}),
        "format": options.format,
        "persona": options.persona,
        "append": options.append,
        "on_error": "quarantine" if options.quarantine else "abort",
    }
    if options.mapping:
        wanted["columns"] = format_columns(read_mapping(options.mapping))
    if options.assistant:
        wanted["assistant"] = options.assistant
    with _connect(options) as client:
        job = client.push(options.file, options.dataset, **wanted)
        found = client.dataset(options.dataset)
    if job["withheld"]:
        print("  What was left out is withheld: the token lacks raw:read.", file=sys.stderr)
    for file in (job["result"] or {}).get("files", []):
        for line in _list_left_out(file, job["id"]):
            print(escape_terminal(f"  {line}"), file=sys.stderr)
    if (job["result"] or {}).get("assumed_origin"):
        print(f"  warning: {ASSUMED_ORIGIN}", file=sys.stderr)
    sessions, turns = (format_count(found[f"{what}s"], what) for what in ("session", "turn"))
    print(f"{options.file}: imported by job {job['id']}. {found['name']} has {sessions} and {turns}.")
    return 0


def _list_left_out(file: dict[str, Any], job: int) -> list[str]:
    """What of a file isn't in the dataset as it stands there, in sentences."""
    said = [f"left out: {reason}" for reason in file.get("left_out_rows", [])]
    said += [f"warning: {warning}" for warning in file.get("warnings", [])]
    if count := file.get("quarantined_sessions"):
        problems = format_count(file.get("problem_total", count), "problem")
        said.append(f"{format_count(count, 'session')} quarantined ({problems}, listed by job {job})")
    if count := file.get("sessions_already_there"):
        said.append(f"{format_count(count, 'session')} existed already")
    return [*said, "imported before, nothing changed"] if file.get("unchanged") else said


def _push_run(options: argparse.Namespace) -> int:
    with _connect(options) as client:
        run = client.push_run(options.report, options.dataset, options.version)
    done = "imported" if run["is_new"] else "was imported before"
    print(f"{options.report}: {done}, with {run['replies']:,} scored replies.")
    if run["missing_replies"]:
        print(f"  {run['missing_replies']:,} more are no longer in the dataset.", file=sys.stderr)
    return 0


def _pull(options: argparse.Namespace) -> int:
    names = ("format", "version", "split", "tag", "package", "gzip")
    wanted = {name: getattr(options, name) for name in names if getattr(options, name)}
    with _connect(options) as client:
        pulled = client.pull(options.dataset, options.out, **wanted)
    for notice in pulled.notices:
        print(escape_terminal(f"  {notice}"), file=sys.stderr)
    print(f"{pulled.path}: {pulled.size:,} bytes. sha256 {pulled.sha256}")
    return 0


def _check(options: argparse.Namespace) -> int:
    with _connect(options) as client:
        report = client.check(options.dataset)
    for code, count in sorted(report["totals"].items()):
        print(f"{code}: {count:,}")
    errors, warnings, turns = (
        format_count(report[f"{what}s"], what) for what in ("error", "warning", "turn")
    )
    print(f"{options.dataset}: {errors} and {warnings} in {turns}.")
    return EXIT_FINDINGS if report["errors"] or (options.strict and report["warnings"]) else 0
