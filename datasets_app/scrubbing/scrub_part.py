"""Lets further workers help with a running scrub."""

from functools import partial
from typing import Any

from datasets_app.catalog.scrubbers import make_scrubber
from datasets_app.core.progress import ProgressCallback, ignore_progress
from datasets_app.domain.pii.policy import Policy
from datasets_app.models import ScrubRun
from datasets_app.scrubbing import chunks as scrub_chunks
from datasets_app.scrubbing.chunks import PatternMatchesRemain


def scrub_part(scrub_pk: int, *, report_progress: ProgressCallback = ignore_progress) -> dict[str, Any]:
    """Process chunks of a scrub until none is left; returns how many.

    An error is stored with the scrub, and the job that started it reports it.
    """
    scrub = ScrubRun.objects.filter(pk=scrub_pk, finished_at=None, error="").first()
    if scrub is None:
        return {"chunks": 0}
    policy = Policy.from_json(scrub.policy)
    try:
        make = partial(make_scrubber, policy, scrub.dataset)
        chunks = scrub_chunks.process_chunks(scrub, make, report_progress)
    except PatternMatchesRemain as found:
        ScrubRun.objects.filter(pk=scrub_pk).update(error=str(found))
        return {"chunks": 0}
    return {"chunks": chunks}
