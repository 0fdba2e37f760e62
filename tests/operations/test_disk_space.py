"""What the disk has no room for is refused before it starts, and leaves nothing half-written."""

import resource
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from datasets_app.catalog import tombstones
from datasets_app.core.errors import UserError
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import Dataset, ScrubRun, Tombstone
from datasets_app.scrubbing.scrub_dataset import scrub_dataset
from tests.environment import VAR_DIR
from tests.factories import make_dataset, make_sessions

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("OWNER" not in connection.settings_dict, reason="this server's disk is its own"),
]


def test_imports_and_scrubs_leave_the_reserve_free(tmp_path: Path, settings: Any) -> None:
    stored = make_dataset(tmp_path, make_sessions(2))
    settings.MIN_FREE_BYTES = shutil.disk_usage(VAR_DIR).total
    sentence = r"This {} needs about [\d.]+.[KM]B of disk space, and 0.bytes is free besides the reserve of "
    with pytest.raises(UserError, match=sentence.format("import")):
        make_dataset(tmp_path, make_sessions(50), name="other")
    assert not Dataset.objects.filter(name="other").exists()
    with pytest.raises(UserError, match=sentence.format("scrub")):
        scrub_dataset(stored, Policy())
    assert not ScrubRun.objects.exists()
    # Previews write no rows.
    scrub_dataset(stored, Policy(), dry_run=True)
    settings.MIN_FREE_BYTES = 0
    scrub_dataset(stored, Policy())
    assert ScrubRun.objects.filter(dry_run=False).count() == 1


def test_an_erasure_that_does_not_fit_on_the_disk_damages_no_other(
    tmp_path: Path, settings: Any, request: pytest.FixtureRequest
) -> None:
    settings.VAR_DIR = tmp_path
    first, second = (Tombstone(digest=digit * 32, erased_at=timezone.now()) for digit in "ab")
    tombstones.append([first])
    size = tombstones.erasures_path().stat().st_size
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    request.addfinalizer(lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits))
    # Like a full disk, it takes a part of what is written.
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, limits[1]))
    with pytest.raises(OSError, match="No space left"):
        tombstones.append([second])
    assert tombstones.erasures_path().stat().st_size == size
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    tombstones.append([second])
    assert tombstones.read().keys() == {first.digest, second.digest}
