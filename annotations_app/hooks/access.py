"""Who may do what with labels and campaigns, added to the lists for all: roles, scopes, events."""

from datasets_app.access import roles, scopes
from datasets_app.models import OutgoingEvent
from datasets_app.notifications import audience, wording
from datasets_app.templatetags import empty_lists
from datasets_app.webhooks import access

Kind = OutgoingEvent.Kind

_VIEW_LABELS, _EXPORT = "annotations_app.view_annotation", "annotations_app.export_annotation"
_VIEW, ADD, _CHANGE = (f"annotations_app.{verb}_campaign" for verb in ("view", "add", "change"))
ANNOTATE, _ADJUDICATE = "annotations_app.annotate", "annotations_app.adjudicate"
_IMPORT = ("annotations_app.import_annotation", "annotations_app.add_annotation")

_OF_CURATORS = (_VIEW_LABELS, *_IMPORT, _EXPORT, _VIEW, ADD, _CHANGE, ANNOTATE)
ROLES = {
    "curator": _OF_CURATORS,
    "annotator": (ANNOTATE,),
    "lead": (*_OF_CURATORS, "annotations_app.change_annotation", _ADJUDICATE),
}
SCOPES = {
    "labels:read": (_VIEW, _VIEW_LABELS, _EXPORT),
    "labels:write": _IMPORT,
    "campaigns:write": (ADD, _CHANGE),
}
_CREATE = ("Create a campaign", "annotations_app_campaign_add", ADD)
_IMPORT_LABELS = ("Import labels", "annotations_app_annotation_import", _IMPORT[0])


def register() -> None:
    for role, names in ROLES.items():
        roles.ROLES[role] += names
    for scope, names in SCOPES.items():
        scopes.SCOPES[scope] = scopes.SCOPES[scope]._replace(permissions=names)
    empty_lists.ACTIONS |= {"campaign": [_CREATE], "annotation": [_CREATE, _IMPORT_LABELS]}
    access.PERMISSIONS |= dict.fromkeys(
        (Kind.CAMPAIGN_ASSIGNED, Kind.CAMPAIGN_FINISHED, Kind.DISPUTES_WAITING, Kind.CHECKS_CHANGED), _VIEW
    )
    for kind in (Kind.CAMPAIGN_FINISHED, Kind.DISPUTES_WAITING, Kind.CHECKS_CHANGED):
        audience.PERMISSIONS[kind] = _ADJUDICATE
        wording.PAGES[kind] = ("admin:annotations_app_campaign_agreement", "campaign_id")
    wording.PAGES[Kind.CHECKS_CHANGED] = ("admin:annotations_app_campaign_change", "campaign_id")
