"""One's own tokens of the API."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from alignmenter_site.middleware.second_factor import SECOND_FACTOR_USED, has_second_factor
from datasets_app.access.scopes import SCOPES
from datasets_app.access.tokens import DEFAULT_DAYS, MAX_DAYS, create_token, revoke_token
from datasets_app.core.web.reauthentication import require_recent_sign_in
from datasets_app.core.web.refusals import show_refusal_in
from datasets_app.models import ApiToken, Dataset

SEE_ALL = "datasets_app.limit_access"


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=100, help_text=_("What will use it, such as “nightly export”.")
    )
    days = forms.IntegerField(
        label=_("Valid for days"), initial=DEFAULT_DAYS, min_value=1, max_value=MAX_DAYS
    )
    scopes = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one scope.")},
    )
    datasets = forms.CharField(
        label=_("Datasets"),
        required=False,
        max_length=5000,
        help_text=_("Names with commas between them; empty allows all datasets that you can see."),
    )

    def __init__(self, *args: Any, user: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user
        choices: Any = self.fields["scopes"]
        choices.choices = [
            (name, f"{name}: {scope.label}")
            for name, scope in SCOPES.items()
            if any(map(user.has_perm, scope.permissions))
        ]

    def clean_datasets(self) -> list[Dataset] | None:
        names = {name.strip() for name in self.cleaned_data["datasets"].split(",")} - {""}
        found = list(Dataset.objects.visible_to(self.user).filter(name__in=names))
        if missing := sorted(names - {dataset.name for dataset in found}):
            text = gettext("There is no dataset “%(name)s” that you can see.")
            raise forms.ValidationError(text % {"name": missing[0]})
        return found or None


@login_required
def own_tokens(request: HttpRequest) -> HttpResponse:
    """GET lists them; POST creates one, whose secret this answer alone has."""
    user: Any = request.user
    form = TokenForm(request.POST or None, user=user)
    secret, created = "", None
    if request.method == "POST":
        require_recent_sign_in(request)
        if form.is_valid():
            with show_refusal_in(form):
                created, secret = create_token(
                    user, **form.cleaned_data, second_factor=_has_second_factor(request)
                )
                form = TokenForm(user=user)
    # Not the names of datasets that they can't see any more.
    visible = Prefetch("datasets", Dataset.objects.visible_to(user))
    tokens = ApiToken.objects.filter(user=user, revoked_at=None).prefetch_related(visible)
    context = {
        "form": form,
        "tokens": tokens,
        "secret": secret,
        "created": created,
        "may_see_all": user.has_perm(SEE_ALL),
    }
    return render(request, "account/tokens.html", context)


def _has_second_factor(request: Any) -> bool:
    return bool(request.session.get(SECOND_FACTOR_USED)) or has_second_factor(request.user)


@require_POST
@login_required
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(ApiToken.objects.select_related("user"), pk=pk, user=request.user)
    revoke_token(token, actor=request.user)
    messages.success(request, gettext("Revoked %(name)s.") % {"name": token.name})
    return redirect("tokens")
