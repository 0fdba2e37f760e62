"""The page of Alignmenter's review exchange: tasks in, campaigns for them, tasks with judgments out."""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from django import forms
from django.contrib import messages
from django.http import FileResponse, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from annotations_app.campaigns.forms import UserMultipleChoiceField, users_who_can_annotate
from annotations_app.campaigns.pages_common import admin_url, require_permissions
from annotations_app.domain.review_audit import describe_rate
from annotations_app.models import Campaign
from annotations_app.review.create import create_review_campaigns
from annotations_app.review.estimate import estimate_review
from annotations_app.review.export import export_review
from annotations_app.review.tasks_file import describe_repeated
from datasets_app.core.errors import UserError
from datasets_app.core.web import fields
from datasets_app.core.web.dataset_page import frame_context
from datasets_app.core.web.pages import dataset_breadcrumbs, get_visible_dataset, render_page
from datasets_app.core.web.refusals import show_refusal_in
from datasets_app.core.web.uploads import accepts_files
from datasets_app.domain.traces.formats.review_tasks import TAG_PREFIX
from datasets_app.domain.wording import format_count
from datasets_app.models import Dataset, Persona

MAX_TASKS_BYTES = 50 << 20
NEEDS = {"create": "add_campaign", "export": "export_annotation", "estimate": "view_annotation"}


class ReviewForm(forms.Form):
    tasks = fields.File(
        label="Review tasks", help_text="The file of review-export that was imported into this dataset."
    )
    persona = fields.Model(
        Persona.objects.all(),
        required=False,
        to_field_name="persona_id",
        empty_label="Choose a persona",
        attrs={"data-picker": True},
    )
    annotators = UserMultipleChoiceField(required=False)
    overlap = fields.Integer(label="Annotators per reply", min_value=1, initial=1, required=False)
    audit = fields.Integer(
        label="Random audit",
        min_value=0,
        required=False,
        help_text="How many tasks of each criterion that the machine passed; empty for all.",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.fields["annotators"].queryset = users_who_can_annotate()

    @property
    def campaign_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("persona", "annotators", "overlap", "audit")]


@accepts_files(lambda user: MAX_TASKS_BYTES if user.is_staff else 0)
def dataset_review(request: HttpRequest, pk: int) -> HttpResponseBase:
    dataset = get_visible_dataset(request, pk)
    require_permissions(request, "view_annotation", "view_campaign")
    form = ReviewForm(request.POST or None, request.FILES or None)
    context: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        action = request.POST.get("action", "")
        require_permissions(request, NEEDS.get(action, "add_campaign"))
        with show_refusal_in(form):
            with _save(form.cleaned_data["tasks"]) as path:
                if action == "create":
                    return _create(request, dataset, path, form.cleaned_data)
                if action == "export":
                    return _export(request, dataset, path)
                found = estimate_review(path, dataset)
                context["estimates"] = [(one, describe_rate(one)) for one in found.criteria]
                if found.repeated:
                    messages.warning(request, describe_repeated(found.repeated))
    campaigns = Campaign.objects.filter(dataset=dataset, tag__startswith=TAG_PREFIX)
    may = {action: request.user.has_perm(f"annotations_app.{needed}") for action, needed in NEEDS.items()}
    context |= {**frame_context(request, dataset, "review"), "form": form, "campaigns": campaigns, "may": may}
    crumbs = dataset_breadcrumbs(dataset, ("Review", None))
    return render_page(request, "annotations_app/dataset_review.html", crumbs, context)


@contextmanager
def _save(file: Any) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tasks.jsonl"
        with path.open("wb") as out:
            for chunk in file.chunks():
                out.write(chunk)
        yield path


def _create(request: HttpRequest, dataset: Dataset, tasks: Path, chosen: dict[str, Any]) -> HttpResponseBase:
    if chosen["persona"] is None:
        raise UserError("Choose the persona that the replies are judged for.")
    made = create_review_campaigns(
        tasks,
        dataset,
        chosen["persona"],
        [user.get_username() for user in chosen["annotators"]],
        overlap=chosen["overlap"] or 1,
        audit=chosen["audit"],
        actor=request.user,
    )
    messages.success(request, f"Created {format_count(len(made.campaigns), 'campaign')}.")
    for sentence in made.describe_without():
        messages.warning(request, sentence)
    return redirect(admin_url("campaign_dataset_review", dataset.pk))


def _export(request: HttpRequest, dataset: Dataset, tasks: Path) -> HttpResponseBase:
    with ExitStack() as on_failure:
        out = on_failure.enter_context(tempfile.TemporaryFile())
        exported = export_review(tasks, dataset, out=out, actor=request.user)
        on_failure.pop_all()  # the response closes it
    if exported.repeated:  # on the page that is seen next
        messages.warning(request, describe_repeated(exported.repeated))
    out.seek(0)
    name = f"{dataset.name}.reviewed.jsonl"
    return FileResponse(out, as_attachment=True, filename=name, content_type="application/x-ndjson")
