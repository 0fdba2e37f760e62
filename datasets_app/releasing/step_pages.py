"""The button that asks somebody else to take a step of a dataset."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from datasets_app.core.errors import UserError
from datasets_app.core.web.pages import dataset_url, get_visible_dataset
from datasets_app.releasing.ask import ask_for_step
from datasets_app.releasing.next_steps import find_next_steps


@require_POST
def ask(request: HttpRequest, pk: int) -> HttpResponse:
    """Only about a step that waits for others: not about one that is done, or that the user can take."""
    dataset = get_visible_dataset(request, pk)
    waiting = find_next_steps(dataset, request.user).waiting
    step = next((step for step in waiting if step.name == request.POST.get("step")), None)
    if step is None:
        messages.info(request, "This step no longer waits for anyone.")
        return redirect(dataset_url(dataset))
    try:
        names = ask_for_step(dataset, step, actor=request.user)
    except UserError as refusal:
        messages.warning(request, refusal.message)
    else:
        messages.success(request, f"Notified: {', '.join(names)}.")
    return redirect(dataset_url(dataset))
