"""The button of an empty installation that loads the demonstration data."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from annotations_app.demo.load_demo import load_demo
from datasets_app.core.web.pages import dataset_url
from datasets_app.core.web.refusals import show_refusal
from datasets_app.models import Dataset

PERMISSIONS = ("datasets_app.import_dataset", "datasets_app.add_persona", "annotations_app.import_annotation")


@require_POST
def load_demo_data(request: HttpRequest) -> HttpResponse:
    """Only while there is no dataset: the command adds it to others."""
    if not request.user.has_perms(PERMISSIONS):
        raise PermissionDenied
    if Dataset.objects.exists():
        messages.info(request, "There are datasets already, so the demonstration was not loaded.")
        return redirect("admin:index")
    with show_refusal(request):
        load_demo(actor=request.user)
        messages.success(request, "Loaded the demonstration.")
        return redirect(dataset_url(Dataset.objects.get()))
    return redirect("admin:index")
