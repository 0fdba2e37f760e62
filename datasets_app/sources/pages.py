"""What the page of a source can do: pull now, and make or revoke the receiver's token."""

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from datasets_app.access.tokens import digest_token
from datasets_app.core import audit
from datasets_app.core.web.pages import render_page, require_permissions
from datasets_app.jobs.pages import start_and_show_job
from datasets_app.models import Dataset, Source
from datasets_app.sources.parameters import PullParameters
from datasets_app.sources.secrets import make_token


@require_POST
def pull_now(request: HttpRequest, pk: int) -> HttpResponse:
    source = _get_source(request, pk)
    dataset = Dataset.objects.filter(name=source.dataset_name).first()
    parameters = PullParameters(source=source.pk)
    return start_and_show_job(request, "pull_source", dataset, parameters, dataset_name=source.dataset_name)


@require_POST
def make_source_token(request: HttpRequest, pk: int) -> HttpResponse:
    """Replace the token, and show the new one: this page alone has it."""
    source, token = _get_source(request, pk), make_token()
    if source.kind != Source.Kind.OTLP:
        raise Http404
    _store_digest(request, source, digest_token(token), "make_source_token")
    crumbs = [("Sources", reverse("admin:datasets_app_source_changelist")), (source.name, _url(source))]
    endpoint = request.build_absolute_uri(reverse("receive_traces"))
    return render_page(
        request,
        "datasets_app/source_token.html",
        [*crumbs, ("Token", None)],
        {"source": source, "token": token, "endpoint": endpoint},
    )


@require_POST
def revoke_source_token(request: HttpRequest, pk: int) -> HttpResponse:
    source = _get_source(request, pk)
    if source.token_digest:
        _store_digest(request, source, None, "revoke_source_token")
    messages.success(request, "Revoked the token. Nothing is received until there is a new one.")
    return redirect(_url(source))


def _get_source(request: HttpRequest, pk: int) -> Source:
    require_permissions(request, "change_source")
    source: Source = get_object_or_404(Source.objects.visible_to(request.user), pk=pk)
    return source


def _store_digest(request: HttpRequest, source: Source, digest: str | None, action: str) -> None:
    with transaction.atomic():
        Source.objects.filter(pk=source.pk).update(token_digest=digest)
        audit.record(action, actor=request.user, dataset_name=source.dataset_name, source=source.name)


def _url(source: Source) -> str:
    return reverse("admin:datasets_app_source_change", args=[source.pk])
