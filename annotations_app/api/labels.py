"""Labels from a file."""

import shutil
import tempfile
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import UnreadablePostError
from ninja import Query, Router

from annotations_app.api.schemas import LabelImportOut
from annotations_app.labels.import_annotations import import_annotations
from datasets_app.api.datasets import NDJSON, VIEW_DATASET
from datasets_app.api.problems import ApiError
from datasets_app.api.routing import get_dataset, route
from datasets_app.catalog import gates, raw_access
from datasets_app.importing.uploads import spool

router = Router(tags=["Campaigns and labels"])

MAX_LABEL_BYTES = 64 << 20
Persona: Any = Query("", max_length=500)
LabelSchema: Any = Query("", max_length=120)


@route(
    router,
    "POST",
    "/datasets/{name}/labels",
    LabelImportOut,
    needs=(*VIEW_DATASET, "annotations_app.import_annotation"),
    errors=(409,),
    takes=NDJSON,
)
def import_labels(request: Any, name: str, persona: str = Persona, label_schema: str = LabelSchema) -> Any:
    """Save annotation JSONL, all lines or none; those that exist already are skipped. `persona` stands in for
    lines without one. Files of label tools are read as by the command; `label_schema` ("name@version") is the
    one whose criteria their questions are."""
    dataset = get_dataset(request, name)
    raw_access.check_may_read(request.person, dataset)
    gates.check_can_copy(dataset)
    size = int(request.META.get("CONTENT_LENGTH") or 0)
    if size > MAX_LABEL_BYTES:
        raise ApiError(413, "too_large", f"A file of labels has at most {MAX_LABEL_BYTES} bytes.")
    with tempfile.TemporaryDirectory(dir=settings.FILE_UPLOAD_TEMP_DIR) as folder:
        path = Path(folder) / "labels.jsonl"
        try:
            with spool(request.read, size) as body, path.open("xb") as out:
                shutil.copyfileobj(body, out, 1 << 20)
        except UnreadablePostError:
            raise ApiError(400, "bad_request", "The connection broke off.") from None
        result = import_annotations(
            path,
            dataset_name=dataset.name,
            file_name="labels.jsonl",
            persona=persona or None,
            schema=label_schema or None,
            actor=request.person,
        )
    return {
        "dataset": dataset.name,
        "saved": result.saved._asdict(),
        "unmapped": result.unmapped,
        "personal_data": result.personal_data,
        "warnings": result.warnings,
    }
