"""What happened, in the words of a sentence: "ana imported 10 sessions into support"."""

import re
from typing import Any, NamedTuple

from django import template
from django.urls import reverse
from django.utils.html import format_html, format_html_join

from datasets_app.domain.wording import format_count
from datasets_app.templatetags.datasets_display import format_value

register = template.Library()

# The action of changed accounts and roles.
PERMISSIONS = "permissions"

# What somebody did, with details in braces ("|" gives the noun of a number), and "%" for the dataset. Without
# one of them, the words of the action itself are shown.
_SENTENCES = {
    "add_to_campaign": "added sessions to the campaign {campaign} in %",
    "append": "added {sessions|session} to %",
    "check": "checked %: {errors|error}, {warnings|warning}",
    "create_campaign": "created the campaign {campaign} in %",
    "edit_campaign": "changed the campaign {campaign} in %",
    "delete_persona": "deleted the persona {persona_id}",
    "download": "downloaded {file} of %",
    "end_sessions": "ended the sessions of {account}",
    "export": "exported % as {format}",
    "log_in": "logged in with {by}",
    "read_raw_text": "read raw text of %: {place}",
    "import": "imported {sessions|session} into %",
    "import_annotations": "imported {labels|label} into %",
    "import_persona": "{change} the persona {persona_id}",
    "invite": "invited {account}",
    "release": "released {release} of %",
    "scrub": "scrubbed {turns|turn} of %",
    "tag_sessions": "tagged {sessions|session} in %",
    "untag_sessions": "untagged {sessions|session} in %",
    "exclude_sessions": "excluded {sessions|session} of %",
    "draft_variants": "had a model draft variants of cases in %",
    "keep_variant": "kept a variant of {case} in %",
    "discard_variant": "discarded a variant of {case} in %",
    "include_sessions": "included {sessions|session} of % again",
}
_IRREGULAR = {"draw": "drew", "keep": "kept", "make": "made"}
# Actions whose first word is a noun, or whose words don't make a sentence.
_PHRASES = {
    "activate_retention": "activated retention rules",
    "add_to_campaign": "added sessions to a campaign in",
    "allow_company_sign_in": "allowed company sign-in",
    "append": "added to",
    "backup": "made a backup",
    "change_origin": "changed the origin of",
    "deactivate_retention": "deactivated retention rules",
    "edit_dataset": "edited",
    "end_attestation": "ended the attestation of",
    "end_calibration": "ended the calibration in",
    "export_audit": "exported the audit log",
    "hold": "changed the legal hold of",
    "invite": "invited a person",
    "judge": "had a judge answer in",
    "lift_hold": "lifted the legal hold of",
    "locked_out": "was locked out",
    "log_in": "logged in",
    "log_in_failed": "failed to log in",
    "log_out": "logged out",
    "login_failed": "failed to log in",
    "override": "overrode a rule for",
    "permissions": "changed permissions",
    "read_raw_text": "read raw text of",
    "refused": "was refused access to",
    "requeue_replies": "queued replies again in",
    "requeue_stale": "queued stale labels again in",
    "restrict": "restricted access to",
    "retention": "applied retention to",
    "second_factor": "changed a second factor",
    "split": "split",
    "untag_sessions": "untagged sessions in",
}
_DOUBLED = re.compile("[^aeiou]*[aeiou][bdgmnpt]")
_PLACES = re.compile(r"(%|\{\w+(?:\|\w+)?\})")


class Told(NamedTuple):
    """``rest`` are the details that the sentence doesn't have."""

    sentence: str
    rest: dict[str, Any]


@register.simple_tag
def tell_event(event: Any) -> Told:
    """What comes after the person, with a link to the dataset if it is still there."""
    details = event.details if isinstance(event.details, dict) else {}
    pattern = _describe_permissions(details) if event.action == PERMISSIONS else _SENTENCES.get(event.action)
    places = _PLACES.split(pattern) if pattern else []
    names = {place[1:-1].partition("|")[0] for place in places if place.startswith("{")}
    is_told = all(details.get(name) not in (None, "") for name in names)
    if not pattern or not is_told or ("%" in places and not event.dataset_name):
        return Told(_phrase_event(event), details)
    sentence = format_html_join("", "{}", ((_fill(place, details, event),) for place in places))
    spent = names | ({"change", "password"} if event.action == PERMISSIONS else set())
    return Told(sentence, {key: value for key, value in details.items() if key not in spent})


def _fill(place: str, details: dict[str, Any], event: Any) -> str:
    if place == "%":
        return _link_dataset(event)
    if not place.startswith("{"):
        return place
    name, _, noun = place[1:-1].partition("|")
    value = details[name]
    if noun and isinstance(value, int):
        return format_count(value, noun)
    if name == "change":
        return str(value)
    return format_html('<b dir="auto">{}</b>', format_value(value))


def _describe_permissions(details: dict[str, Any]) -> str:
    """The pattern of a change of an account or a role."""
    kind = next((name for name in ("account", "role") if name in details), "permission")
    subject = f"the {kind} {{{kind}}}"
    if details.get("change") in ("created", "deleted"):
        return f"{details['change']} {subject}"
    what = "the role" if kind == "account" else "the permission"
    if details.get("added"):
        return f"gave {subject} {what} {{added}}"
    if details.get("removed"):
        return f"took {what} {{removed}} from {subject}"
    if details.get("password"):
        return f"changed the password of {subject}"
    if details.get("was_called"):
        return f"renamed the {kind} {{was_called}} to {{{kind}}}"
    if details.get("is_active") is not None:
        return f"{'activated' if details['is_active'] else 'deactivated'} {subject}"
    return f"changed {subject}"


def _phrase_event(event: Any) -> str:
    phrase = event_phrase(event.action)
    if not event.dataset_name:
        ends = (" of", " to", " for") if event.action in _PHRASES else (" in",)
        return phrase.rsplit(" ", 1)[0] if phrase.endswith(ends) else phrase
    return format_html("{} {}", phrase, _link_dataset(event))


def _link_dataset(event: Any) -> str:
    if dataset := getattr(event, "dataset", None):
        address = reverse("admin:datasets_app_dataset_change", args=[dataset.pk])
        return format_html('<a class="ad-within" dir="auto" href="{}">{}</a>', address, event.dataset_name)
    return format_html('<b dir="auto">{}</b>', event.dataset_name)


def event_phrase(action: str) -> str:
    """tag_sessions → "tagged sessions in": what stands between a person and a dataset."""
    if action in _PHRASES:
        return _PHRASES[action]
    verb, *rest = action.split("_")
    objects = " ".join(rest).replace("annotation", "label")
    if not objects:
        return _past_tense(verb)
    article = "" if objects.endswith("s") else "an " if objects[0] in "aeiou" else "a "
    return f"{_past_tense(verb)} {article}{objects} in"


def _past_tense(verb: str) -> str:
    if verb in _IRREGULAR or verb.endswith("ed"):
        return _IRREGULAR.get(verb, verb)
    if verb.endswith("e"):
        return f"{verb}d"
    if re.search("[^aeiou]y$", verb):
        return f"{verb[:-1]}ied"
    return f"{verb}{verb[-1]}ed" if _DOUBLED.fullmatch(verb) else f"{verb}ed"
