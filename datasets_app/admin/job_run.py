"""Jobs: the list, and a page each that follows a job while it runs."""

from datetime import timedelta
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.views.decorators.http import require_POST
from unfold.decorators import display

from datasets_app import extensions, job_runs
from datasets_app.admin import import_pages
from datasets_app.admin.dataset_pages import active_jobs
from datasets_app.admin.job_facts import asked_for, tokens_used
from datasets_app.admin.pages import render_page, require, visible_dataset
from datasets_app.admin.read_only import ReadOnlyAdmin
from datasets_app.job_permissions import permission_to_start
from datasets_app.models import CheckReport, JobRun
from datasets_app.templatetags.datasets_display import moment, words

STATE_COLOURS = {
    "prepared": "",
    "queued": "info",
    "running": "info",
    "done": "success",
    "failed": "danger",
    "cancelled": "",
}
# The import counts bytes over several passes: of that only the share tells a person anything.
UNITS = dict.fromkeys(
    ("export_dataset", "check_dataset", "scrub_dataset", "scrub_part", "apply_retention"), "turns"
)
UNITS["bootstrap_dataset"] = "sessions"
# What the result of a job holds besides counts: these have places of their own on the page.
NOT_FACTS = {
    "problems",
    "problem_total",
    "report",
    "files",
    "dataset",
    "size",
    "sha256",
    "scrub",
    "campaign",
    "certificates",
}
