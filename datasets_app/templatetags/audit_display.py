"""What happened, in the words of a sentence: "ana imported support"."""

import re
from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html

register = template.Library()

# Actions whose first word is a noun, or whose past tense isn't regular.
_PHRASES = {
    "add_to_campaign": "added sessions to a campaign in",
    "append": "added to",
    "backup": "made a backup",
    "change_origin": "changed the origin of",
    "hold": "changed the legal hold of",
    "invite": "invited a person",
    "locked_out": "was locked out",
    "log_in": "logged in",
    "log_in_failed": "failed to log in",
    "log_out": "logged out",
    "login_failed": "failed to log in",
    "override": "overrode a rule for",
    "read_raw_text": "read raw text of",
    "refused": "was refused access to",
    "requeue_stale": "queued stale labels again in",
    "restrict": "restricted access to",
    "retention": "applied retention to",
    "second_factor": "changed a second factor",
    "split": "split",
    "untag_sessions": "untagged sessions in",
}
_DOUBLED = re.compile("[^aeiou]*[aeiou][bdgmnpt]")


@register.simple_tag
def event_sentence(event: Any) -> str:
    """What comes after the person: the phrase, and the dataset, with a link if it is still there."""
    phrase = event_phrase(event.action)
    if not event.dataset_name:
        ends = (" of", " to", " for") if event.action in _PHRASES else (" in",)
        return phrase.rsplit(" ", 1)[0] if phrase.endswith(ends) else phrase
    name = format_html('<b dir="auto">{}</b>', event.dataset_name)
    if event.dataset:
        address = reverse("admin:datasets_app_dataset_change", args=[event.dataset.pk])
        name = format_html('<a class="ad-within" dir="auto" href="{}">{}</a>', address, event.dataset_name)
    return format_html("{} {}", phrase, name)


def event_phrase(action: str) -> str:
    """tag_sessions → "tagged sessions in": what stands between a person and a dataset."""
    if action in _PHRASES:
        return _PHRASES[action]
    verb, *rest = action.split("_")
    objects = " ".join(rest)
    return f"{_past_tense(verb)} {objects} in" if objects else _past_tense(verb)


def _past_tense(verb: str) -> str:
    if verb.endswith("ed"):
        return verb
    if verb.endswith("e"):
        return f"{verb}d"
    if re.search("[^aeiou]y$", verb):
        return f"{verb[:-1]}ied"
    return f"{verb}{verb[-1]}ed" if _DOUBLED.fullmatch(verb) else f"{verb}ed"
