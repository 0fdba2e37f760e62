"""The form of a source: its fields depend on the kind."""

from typing import Any

from django import forms
from unfold.widgets import UnfoldAdminPasswordWidget

from datasets_app.core.web.refusals import show_refusal_in
from datasets_app.models import Dataset, Source
from datasets_app.sources.folder import check_folder
from datasets_app.sources.http_client import check_url
from datasets_app.sources.secrets import encrypt_credential

NEEDS_TOKEN = (Source.Kind.LANGFUSE, Source.Kind.LANGSMITH)
NEEDS_PROJECT = (Source.Kind.LANGSMITH, Source.Kind.PHOENIX)
TAKES_TOKEN = (*NEEDS_TOKEN, Source.Kind.PHOENIX)


class SourceForm(forms.ModelForm):
    """``user`` is set by the admin."""

    user: Any = None
    token = forms.CharField(
        required=False,
        max_length=1000,
        widget=UnfoldAdminPasswordWidget(attrs={"autocomplete": "off"}),
        help_text="Stored encrypted and never shown again; empty keeps the stored one. "
        "Langfuse: public key:secret key.",
    )

    class Meta:
        model = Source
        fields = ("name", "kind", "location", "project", "dataset_name", "active")
        labels = {"skip_near_duplicates": "Skip near-duplicates"}

    def clean_token(self) -> str:
        token = str(self.cleaned_data["token"]).strip()
        if not token.isascii() or not token.isprintable() or " " in token:
            raise forms.ValidationError("A token has no spaces and only ASCII characters.")
        return token

    def clean_dataset_name(self) -> str:
        name = str(self.cleaned_data["dataset_name"])
        if Dataset.objects.hidden_from(self.user).filter(name=name).exists():
            raise forms.ValidationError("This name is taken. Choose another one.")
        dataset = Dataset.objects.filter(name=name).first()
        if dataset and dataset.origin != Dataset.Origin.PRODUCTION:
            raise forms.ValidationError(
                "Sources add to production datasets only, and this one has another origin."
            )
        if dataset and dataset.status == Dataset.Status.EXPIRED:
            raise forms.ValidationError("The contents of this dataset were deleted. Choose another one.")
        return name

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        kind = cleaned.get("kind") or self.instance.kind
        if kind == Source.Kind.OTLP:
            cleaned["location"] = ""
        elif kind and "location" in cleaned:
            with show_refusal_in(self, "location"):
                check = check_folder if kind == Source.Kind.FOLDER else check_url
                cleaned["location"] = check(cleaned["location"])
        if kind not in NEEDS_PROJECT:
            cleaned["project"] = ""
        elif not cleaned.get("project"):
            self.add_error("project", "Enter the name of the project.")
        if kind == Source.Kind.LANGFUSE and cleaned.get("token") and ":" not in cleaned["token"]:
            self.add_error("token", "Enter both keys: public key, a colon, secret key.")
        self._set_credential(kind, cleaned)
        return cleaned

    def _set_credential(self, kind: str, cleaned: dict[str, Any]) -> None:
        """A stored token is sent only to the address that it was entered for."""
        token, instance = cleaned.get("token", ""), self.instance
        moved = bool(instance.credential) and cleaned.get("location") != self.initial.get("location")
        if kind not in TAKES_TOKEN:
            instance.credential = ""
        elif token:
            instance.credential = encrypt_credential(token)
        elif moved:
            self.add_error("token", "The address has changed. Enter the token for it.")
        elif kind in NEEDS_TOKEN and not instance.credential:
            self.add_error("token", "Enter the token with which the tool is read.")
