"""Export the audit log, or a part of it, as a file. The export itself is recorded, too."""

import csv
import io
import json
from collections.abc import Iterator
from datetime import UTC
from typing import Any, BinaryIO, NamedTuple

from django.db import transaction

from datasets_app.auditing.events import filter_events
from datasets_app.auditing.parameters import AuditExportParameters
from datasets_app.catalog.files import DigestWriter
from datasets_app.core import audit
from datasets_app.core.errors import UserError
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.batches import batched
from datasets_app.domain.formulas import escape_cell
from datasets_app.models import AuditEvent, AuditSeal

AUDIT_FORMATS = ("jsonl", "csv")
COLUMNS = ("id", "at", "actor", "action", "dataset", "details", "position", "digest")
EVENT_BATCH_SIZE = 2_000


class AuditExport(NamedTuple):
    events: int
    size: int
    sha256: str


def export_audit(
    out: BinaryIO,
    options: AuditExportParameters,
    *,
    actor: Any,
    report_progress: ProgressCallback = ignore_progress,
) -> AuditExport:
    """Write the events, oldest first, each with its position in the chain. Uses constant memory."""
    format = options.format
    if format not in AUDIT_FORMATS:
        raise UserError(f"Unknown format {format}. Use {' or '.join(AUDIT_FORMATS)}.")
    writer = DigestWriter(out)
    line = _encode_json_line if format == "jsonl" else _encode_csv_line
    with transaction.atomic():
        events = filter_events(options)
        total, count = events.count(), 0
        if format == "csv":
            writer.write(_encode_csv_cells(COLUMNS))
        for rows in _read_batches(events.order_by("at", "id")):
            writer.write(b"".join(map(line, rows)))
            count += len(rows)
            report_progress(count, total)
        result = AuditExport(count, writer.size, writer.hex)
        audit.record(
            "export_audit",
            actor=actor,
            # An export about one dataset shows up in its history.
            dataset_name=options.dataset,
            format=format,
            asked=options.list_filters(),
            **result._asdict(),
        )
    return result


def _read_batches(events: Any) -> Iterator[list[dict[str, Any]]]:
    rows: Iterator[AuditEvent] = events.iterator(chunk_size=EVENT_BATCH_SIZE)
    for chunk in batched(rows, EVENT_BATCH_SIZE):
        seals = AuditSeal.objects.filter(event_id__in=[event.pk for event in chunk]).order_by()
        sealed = {seal.event_id: (seal.position, seal.digest) for seal in seals}
        yield [_event_record(event, *sealed.get(event.pk, (None, None))) for event in chunk]


def _event_record(event: AuditEvent, position: int | None, digest: str | None) -> dict[str, Any]:
    at = event.at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    values = (event.pk, at, event.actor, event.action, event.dataset_name, event.details, position, digest)
    return dict(zip(COLUMNS, values, strict=True))


def _encode_json_line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode() + b"\n"


def _encode_csv_line(record: dict[str, Any]) -> bytes:
    details = json.dumps(record["details"], ensure_ascii=False)
    return _encode_csv_cells([*({**record, "details": details}).values()])


def _encode_csv_cells(cells: Any) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(["" if cell is None else escape_cell(str(cell)) for cell in cells])
    return line.getvalue().encode()
