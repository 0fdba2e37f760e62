"""Which section of docs/ explains which page of the application."""

from typing import Any

from django.urls import reverse
from django.utils.functional import SimpleLazyObject

from alignmenter_site.help.library import START_PAGE

# By the name of the URL, without its namespace; "_" at the end stands for all pages of a model.
_TOPICS = {
    "index": "guide#home",
    "datasets_app_dataset_changelist": "guide#datasets",
    "datasets_app_dataset_import": "guide#import",
    "datasets_app_dataset_import_": "guide#import",
    "datasets_app_dataset_metadata_": "guide#tables",
    "datasets_app_dataset_generate": "generation#in-the-admin",
    "datasets_app_dataset_terms": "scrubbing#brands-products-and-terms-to-keep",
    "datasets_app_dataset_checks": "checks",
    "datasets_app_dataset_run_checks": "checks",
    "datasets_app_dataset_scrub": "scrubbing#in-the-application",
    "datasets_app_dataset_scrub_audit": "scrubbing#how-much-is-left",
    "datasets_app_dataset_scrub_canary": "scrubbing#with-planted-values",
    "datasets_app_dataset_exempt": "security#what-opens-a-gate",
    "datasets_app_dataset_attest": "security#what-opens-a-gate",
    "datasets_app_dataset_splits": "splits",
    "datasets_app_dataset_sharing": "sharing#the-sharing-checklist",
    "datasets_app_dataset_export": "sharing#exports",
    "datasets_app_dataset_release": "releases#contents-of-a-release",
    "datasets_app_dataset_releases": "releases",
    "datasets_app_dataset_run": "releases#runs-of-alignmenter",
    "datasets_app_dataset_verify_releases": "releases#verification",
    "datasets_app_dataset_compare_releases": "releases#comparison",
    "datasets_app_dataset_retention": "retention",
    "datasets_app_dataset_erase_person": "retention#erase-a-person",
    "datasets_app_dataset_erase_session": "retention#erase-a-conversation",
    "datasets_app_dataset_sessions": "guide#sessions-and-turns",
    "datasets_app_dataset_jobs": "guide#jobs",
    "datasets_app_dataset_history": "audit",
    "datasets_app_dataset_access": "access#see-who-has-access-and-why",
    "datasets_app_dataset_origin": "access#origin",
    "datasets_app_dataset_": "guide#a-dataset",
    "datasets_app_session_": "guide#sessions-and-turns",
    "datasets_app_turn_": "guide#search",
    "datasets_app_source_": "sources",
    "datasets_app_jobrun_requests": "security#four-eyes",
    "datasets_app_jobrun_": "guide#jobs",
    "datasets_app_persona_": "guide#personas",
    "datasets_app_retentionpolicy_": "retention#rules",
    "datasets_app_auditevent_": "audit",
    "annotations_app_campaign_adjudicate": "annotation#adjudication",
    "annotations_app_campaign_agreement": "agreement",
    "annotations_app_campaign_dataset_agreement": "agreement",
    "annotations_app_campaign_dataset_review": "review",
    "annotations_app_campaign_dataset_calibration": "alignmenter#labels-for-a-calibration",
    "annotations_app_campaign_judges": "judges",
    "annotations_app_campaign_judged": "judges",
    "annotations_app_campaign_export": "annotation#export-labels",
    "annotations_app_campaign_case": "cases",
    "annotations_app_campaign_dataset_variants": "cases",
    "annotations_app_campaign_schema": "schemas",
    "annotations_app_campaign_": "annotation#campaigns",
    "annotations_app_annotation_import": "guide#tables",
    "annotations_app_annotation_export": "guide#tables",
    "annotations_app_annotation_": "annotation#kinds-of-labels",
    "auth_user_": "guide#people",
    "auth_group_": "access#roles",
    "campaigns": "annotation#annotators",
    "queue": "annotation#the-queue",
    "reply": "annotation#the-queue",
    "turns": "annotation#the-queue",
    "whole_turn": "annotation#the-queue",
    "account": "sign-in",
    "password_change": "sign-in#accounts",
    "usersessions_list": "sign-in#sessions",
    "mfa_": "sign-in#second-factors",
    "datasets_app_apitoken_": "api#tokens",
    "datasets_app_webhookendpoint_": "webhooks",
    "notifications": "webhooks#notifications",
    "notification_settings": "webhooks#notifications",
    "tokens": "api#tokens",
    "all_tokens": "api",
    "api_": "api",
}


def find_topic(url_name: str) -> str:
    """ "scrubbing#limits": of the page itself, or else of the longest beginning of its name."""
    if url_name in _TOPICS:
        return _TOPICS[url_name]
    prefixes = [name for name in _TOPICS if name.endswith("_") and url_name.startswith(name)]
    return _TOPICS[max(prefixes, key=len)] if prefixes else START_PAGE


def topic_url(topic: str) -> str:
    page, _, anchor = topic.partition("#")
    return reverse("help_page", args=[page]) + (f"#{anchor}" if anchor else "")


def help_context(request: Any) -> dict[str, Any]:
    """For templates: ``help_url``, the section about the page that is shown."""

    def find() -> str:
        match = getattr(request, "resolver_match", None)
        return topic_url(find_topic((match and match.url_name) or ""))

    return {"help_url": SimpleLazyObject(find)}
