"""`load_demo` may be run by anything at any time."""

from pathlib import Path
from typing import Any

import pytest

from annotations_app.models import Annotation
from datasets_app.models import Dataset
from tests.factories import make_dataset, make_session

pytestmark = pytest.mark.django_db(transaction=True)


def test_it_loads_once(manage: Any) -> None:
    assert "Loaded demo_conversations." in manage("load_demo", "--if-empty").stdout
    assert "The database has datasets" in manage("load_demo", "--if-empty").stdout
    again = manage("load_demo")
    assert (again.returncode, again.stdout) == (0, "demo_conversations was there already.\n")
    assert (Dataset.objects.get().turn_count, Annotation.objects.count()) == (60, 90)


def test_it_leaves_a_house_that_is_lived_in_alone(tmp_path: Path, manage: Any) -> None:
    make_dataset(tmp_path, make_session("a"))
    assert manage("load_demo", "--if-empty").returncode == 0
    assert Dataset.objects.count() == 1
