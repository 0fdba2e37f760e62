"""Which events a webhook gets: those that its owner may see."""

from typing import Any

from datasets_app.models import Dataset, OutgoingEvent, WebhookEndpoint

Kind = OutgoingEvent.Kind

# What it takes to see events of a kind, besides access to the dataset. Those of campaigns are added by their
# app.
PERMISSIONS: dict[str, str] = {
    Kind.IMPORT_FINISHED: "datasets_app.view_dataset",
    Kind.SCRUB_FINISHED: "datasets_app.view_scrubrun",
    Kind.CHECK_FINISHED: "datasets_app.view_dataset",
    Kind.RELEASE_CREATED: "datasets_app.view_release",
    Kind.JOB_FAILED: "datasets_app.view_jobrun",
    Kind.DELETION_AHEAD: "datasets_app.view_dataset",
    Kind.APPROVAL_REQUESTED: "datasets_app.view_jobrun",
    Kind.STEP_REQUESTED: "datasets_app.view_dataset",
}
_OF_JOBS = (Kind.JOB_FAILED, Kind.APPROVAL_REQUESTED)


def can_receive(endpoint: WebhookEndpoint, event: OutgoingEvent) -> bool:
    """Whether the endpoint gets the event: asked when it is written down for it, and before it is sent."""
    owner = endpoint.owner
    if owner is None or not owner.is_active or not endpoint.active:
        return False
    if not owner.has_perm("datasets_app.view_webhookendpoint"):
        return False
    if event.kind == Kind.TEST:
        return True
    if event.kind not in endpoint.kinds or not owner.has_perm(PERMISSIONS[event.kind]):
        return False
    if endpoint.dataset_id is not None and endpoint.dataset_id != event.dataset_id:
        return False
    return OutgoingEvent.objects.visible_to(owner).filter(pk=event.pk).exists() and not _is_of_all(
        event, owner
    )


def _is_of_all(event: OutgoingEvent, owner: Any) -> bool:
    """Whether the event concerns all datasets, of which the owner can't see some."""
    return event.kind in _OF_JOBS and not event.dataset_name and Dataset.objects.hidden_from(owner).exists()
