"""import_schema and export_schema: versions of what campaigns ask."""

from pathlib import Path
from typing import Any

import pytest

from annotations_app.criteria.schemas import READY_MADE_NAMES, get_schema
from annotations_app.models import LabelSchema
from datasets_app.core.errors import UserError
from datasets_app.models import AuditEvent

pytestmark = pytest.mark.django_db(transaction=True)

QUALITY = """\
schema: quality
criteria:
  - key: correct
    question: Is it correct?
    kind: yes_no
"""


def test_another_file_of_a_name_is_its_next_version(tmp_path: Path, manage: Any) -> None:
    path = tmp_path / "quality.yaml"
    path.write_text(QUALITY)
    assert manage("import_schema", path).stdout == "quality: created, version 1.\n"
    assert manage("import_schema", path).stdout == "quality: unchanged, version 1.\n"
    path.write_text(QUALITY.replace("Is it", "Is all of it"))
    assert manage("import_schema", path).stdout == "quality: updated, version 2.\n"
    assert get_schema("quality").version == 2
    assert get_schema("quality@1").digest != get_schema("quality").digest
    assert list(AuditEvent.objects.values_list("action", flat=True)) == ["import_schema"] * 2
    manage("export_schema", "quality@1", "--out", tmp_path / "first.yaml")
    assert manage("import_schema", tmp_path / "first.yaml").stdout == "quality: updated, version 3.\n"


def test_every_ready_made_schema_is_read_and_written(tmp_path: Path, manage: Any) -> None:
    for name in READY_MADE_NAMES:
        assert f"{name}: created" in manage("import_schema", "--ready-made", name).stdout
        (tmp_path / name).write_text(manage("export_schema", name).stdout)
        assert f"{name}: unchanged" in manage("import_schema", tmp_path / name).stdout


def test_one_refused_file_leaves_nothing(tmp_path: Path, manage: Any) -> None:
    (good := tmp_path / "good.yaml").write_text(QUALITY)
    (bad := tmp_path / "bad.yaml").write_text(QUALITY.replace("yes_no", "maybe"))
    refused = manage("import_schema", good, bad)
    assert refused.returncode == 2
    assert "bad.yaml is not a valid schema: correct: kind must be one of yes_no, choice" in refused.stderr
    assert not LabelSchema.objects.exists()
    assert "Name a file" in manage("import_schema").stderr
    for name in ("quality", "quality@1", "quality@x"):
        with pytest.raises(UserError, match="There is no schema"):
            get_schema(name)
