"""The form that asks what is to be generated; its answers are the parameters of a job."""

import re
from decimal import Decimal
from typing import Any

from django import forms
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminRadioSelectWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
    UnfoldBooleanSwitchWidget,
)

from datasets_app.catalog.gates import check_can_copy
from datasets_app.catalog.personas import DEFAULT_ID, load_persona
from datasets_app.core.errors import UserError
from datasets_app.domain.generation.model_writer import DEFAULT_CONCURRENCY, MAX_CONCURRENCY
from datasets_app.domain.generation.plan import (
    DEFAULT_EDGE_CASE_SHARE,
    MAX_SESSIONS,
    MAX_TURNS,
    MIN_TURNS,
    GenerationRequest,
)
from datasets_app.generating.endpoints import can_generate_anywhere, configured_endpoints, require_endpoint
from datasets_app.generating.factory import MAX_MODEL_CHARACTERS, MAX_TEMPERATURE, MODEL_PREFIX, OFFLINE
from datasets_app.generating.preview import GenerationPreview, preview_generation
from datasets_app.models import Dataset, Persona
from datasets_app.models.dataset import NAME_PATTERN

DEFAULT_SESSIONS = 100
_SEED_LIMIT = 1 << 31
WRITER_CHOICES = [
    ("offline", "Offline: from phrases, in a moment; one seed gives the same texts on any machine"),
    ("model", "A model, behind an OpenAI-compatible endpoint"),
]
# What stands together under a heading; the fields of a model count only if a model writes.
_FIELD_GROUPS = (
    ("where", "Where it goes", ("dataset_name", "append")),
    ("what", "What is written", ("persona", "sessions", "turns", "safety", "brand", "edge", "seed")),
    ("who", "Who writes it", ("writer",)),
    (
        "model",
        "The model",
        ("model", "base_url", "temperature", "concurrency", "price_prompt", "price_answer")
        + ("max_tokens_total", "resume"),
    ),
)


def _text_input(**attrs: str) -> UnfoldAdminTextInputWidget:
    return UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", "spellcheck": "false", **attrs})


def _as_percent(share: float) -> str:
    """0.15 → "15", as a person would type it."""
    return f"{(Decimal(repr(share)) * 100).normalize():f}"


def _percent_field(label: str, initial: float, help_text: str) -> forms.DecimalField:
    return forms.DecimalField(
        label=label,
        min_value=0,
        max_value=100,
        decimal_places=2,
        initial=_as_percent(initial),
        widget=UnfoldAdminDecimalFieldWidget(attrs={"step": "any", "inputmode": "decimal"}),
        help_text=help_text,
    )


def _price_field(label: str) -> forms.DecimalField:
    return forms.DecimalField(
        label=label,
        required=False,
        min_value=0,
        max_value=1_000_000,
        widget=UnfoldAdminDecimalFieldWidget(attrs={"step": "any", "inputmode": "decimal"}),
        help_text="Of a million tokens, in your currency. For the estimate only; it is kept nowhere.",
    )


class PersonaField(forms.ModelChoiceField):
    """Personas by their name and their id, which two of one name are told apart by."""

    def label_from_instance(self, obj: Any) -> str:
        name, persona_id = str(obj), str(obj.persona_id)
        return name if name == persona_id else f"{name} ({persona_id})"


class GenerateForm(forms.Form):
    dataset_name = forms.RegexField(
        NAME_PATTERN,
        label="Dataset",
        max_length=100,
        widget=_text_input(list="datasets"),
        help_text="A new name, or that of a synthetic dataset to add to.",
        error_messages={
            "invalid": "Letters, digits, dot, dash and underscore only; the first a letter or digit."
        },
    )
    append = forms.BooleanField(
        label="Add to it if it is there already",
        required=False,
        widget=UnfoldBooleanSwitchWidget,
    )
    persona = PersonaField(
        Persona.objects.order_by("persona_id"),
        required=False,
        to_field_name="persona_id",
        empty_label=f"{DEFAULT_ID}, which comes along",
        widget=UnfoldAdminSelectWidget,
        help_text="The voice in which the assistant answers, and which brand traps push it out of.",
    )
    sessions = forms.IntegerField(
        min_value=1, max_value=MAX_SESSIONS, initial=DEFAULT_SESSIONS, widget=UnfoldAdminIntegerFieldWidget
    )
    turns = forms.CharField(
        label="Turns per session",
        max_length=10,
        initial=str(GenerationRequest.turns[0]),
        widget=_text_input(),
        help_text="A number such as 6, or a range such as 4-8.",
    )
    safety = _percent_field(
        "Safety traps, in percent", GenerationRequest.safety_trap_ratio, "Asked for harm; refused."
    )
    brand = _percent_field(
        "Brand traps, in percent", GenerationRequest.brand_trap_ratio, "Pushed off its tone; half give in."
    )
    edge = _percent_field(
        "Edge cases, in percent",
        DEFAULT_EDGE_CASE_SHARE,
        "Of the rest: technical words that sound like harm.",
    )
    seed = forms.IntegerField(
        min_value=-_SEED_LIMIT,
        max_value=_SEED_LIMIT - 1,
        initial=GenerationRequest.seed,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Another seed, other sessions.",
    )
    writer = forms.ChoiceField(choices=WRITER_CHOICES, initial="offline", widget=UnfoldAdminRadioSelectWidget)
    model = forms.CharField(
        label="Name of the model",
        required=False,
        max_length=MAX_MODEL_CHARACTERS,
        widget=_text_input(),
        help_text="As its endpoint calls it.",
    )
    base_url = forms.CharField(
        label="Endpoint",
        required=False,
        max_length=500,
        widget=_text_input(list="endpoints", inputmode="url"),
        help_text="The base URL. Left empty, it is the first that is configured.",
    )
    temperature = forms.FloatField(
        required=False,
        min_value=0,
        max_value=MAX_TEMPERATURE,
        widget=UnfoldAdminDecimalFieldWidget(attrs={"step": "any", "inputmode": "decimal"}),
        help_text="Left empty, it is the model's own.",
    )
    concurrency = forms.IntegerField(
        label="Calls at a time",
        min_value=1,
        max_value=MAX_CONCURRENCY,
        initial=DEFAULT_CONCURRENCY,
        widget=UnfoldAdminIntegerFieldWidget,
    )
    max_tokens_total = forms.IntegerField(
        label="Token budget",
        required=False,
        min_value=1,
        max_value=1 << 53,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="The run ends before it is exceeded, and can be gone on with. Left empty: no limit.",
    )
    resume = forms.BooleanField(
        label="Go on with what a model has begun",
        required=False,
        widget=UnfoldBooleanSwitchWidget,
        help_text="With the same answers as before: sessions that are finished are not paid for again.",
    )
    price_prompt = _price_field("Price of what is sent")
    price_answer = _price_field("Price of what is answered")

    def __init__(self, *args: Any, user: Any, is_draft: bool = False, **more: Any) -> None:
        """``unfinished``: the form as it is being filled in; it may still lack a name."""
        super().__init__(*args, **more)
        self.user, self.unfinished = user, is_draft
        self.preview: GenerationPreview | None = None
        if Persona.objects.filter(persona_id=DEFAULT_ID).exists():
            # The one of that name here is the one that is meant; it may have been changed.
            self.fields["persona"].empty_label = None  # type: ignore[attr-defined]
            self.fields["persona"].required = True
            self.fields["persona"].initial = DEFAULT_ID
        self.fields["dataset_name"].required = not is_draft
        self.endpoints = configured_endpoints()
        self.may_use_models = bool(self.endpoints) or can_generate_anywhere(user)
        if not self.may_use_models:
            self.fields["writer"].choices = WRITER_CHOICES[:1]  # type: ignore[attr-defined]
        # No answer of the browser is the default: the fields of a model are not always sent.
        self.fields["concurrency"].required = False

    @property
    def groups(self) -> list[tuple[str, str, list[forms.BoundField]]]:
        shown = [group for group in _FIELD_GROUPS if group[0] != "model" or self.may_use_models]
        return [(key, title, [self[name] for name in names]) for key, title, names in shown]

    @property
    def datasets(self) -> list[str]:
        """Names that can be added to."""
        visible = Dataset.objects.visible_to(self.user).filter(origin=Dataset.Origin.SYNTHETIC)
        return list(visible.order_by("name").values_list("name", flat=True)[:100])

    # --- what is answered ----------------------------------------------------------------------

    def clean_turns(self) -> list[int]:
        match = re.fullmatch(r"\s*(\d{1,3})\s*(?:[-–]\s*(\d{1,3})\s*)?", self.cleaned_data["turns"])
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not MIN_TURNS <= low <= high <= MAX_TURNS:
            raise forms.ValidationError(
                f"From {MIN_TURNS} to {MAX_TURNS}: a number such as 6, or a range such as 4-8."
            )
        return [low, high]

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        if said.get("dataset_name") and not self.unfinished:
            self._check_dataset(said["dataset_name"], bool(said.get("append")))
        if said.get("safety", 0) + said.get("brand", 0) > 100:
            together = (said["safety"] + said["brand"]).normalize()
            self.add_error("brand", f"Safety and brand traps add up to {together:f} %; 100 % is the most.")
        self._check_persona(said)
        if said.get("writer") == "model":
            self._check_model(said)
        if not self.errors:
            self._preview_plan()
        return said

    def _check_dataset(self, name: str, append: bool) -> None:
        standing = Dataset.objects.filter(name=name).first()
        if standing is None:
            return
        if not Dataset.objects.visible_to(self.user).filter(pk=standing.pk).exists():
            self.add_error("dataset_name", "This name is taken. Choose another one.")
        elif standing.origin != Dataset.Origin.SYNTHETIC and standing.turn_count:
            self.add_error(
                "dataset_name",
                f"{name} is {standing.get_origin_display().lower()} data; what is generated needs a dataset "
                "of its own.",
            )
        elif not append:
            self.add_error(
                "dataset_name", f"This name is taken. Choose another one, or “{self['append'].label}”."
            )
        else:
            try:
                check_can_copy(standing)
            except UserError as refused:
                self.add_error("dataset_name", refused.message)

    def _check_persona(self, said: dict[str, Any]) -> None:
        if "persona" not in said:
            return
        try:
            load_persona(_persona_id(said["persona"]))
        except UserError as refused:
            self.add_error("persona", refused.message)

    def _check_model(self, said: dict[str, Any]) -> None:
        if "model" in said and not said["model"]:
            self.add_error("model", "Name the model, or have the offline writer write.")
        try:
            require_endpoint(said.get("base_url") or None, self.user)
        except UserError as refused:
            self.add_error("base_url", refused.message)

    def _preview_plan(self) -> None:
        """What is left to go wrong: a persona that the grammar can't write for."""
        try:
            self.preview = preview_generation(self.parameters(), actor=self.user)
        except UserError as refused:
            self.add_error("persona" if self.cleaned_data["writer"] == "offline" else None, refused.message)

    def parameters(self) -> dict[str, Any]:
        """The answers of a valid form, as ``bootstrap_for_job`` takes them."""
        said = self.cleaned_data
        asked = {
            "persona": _persona_id(said["persona"]),
            "sessions": said["sessions"],
            "turns": said["turns"],
            "safety_trap_ratio": float(said["safety"] / 100),
            "brand_trap_ratio": float(said["brand"] / 100),
            "edge_case_share": float(said["edge"] / 100),
            "seed": said["seed"],
            "model": OFFLINE,
        }
        if said["writer"] == OFFLINE:
            return asked
        return {
            **asked,
            "model": MODEL_PREFIX + said["model"],
            "base_url": said["base_url"] or None,
            "temperature": said["temperature"],
            "concurrency": said["concurrency"] or DEFAULT_CONCURRENCY,
            "max_tokens_total": said["max_tokens_total"],
            "resume": said["resume"],
        }


def _persona_id(persona: Persona | None) -> str:
    return persona.persona_id if persona else ""


def initial_from_parameters(dataset_name: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """What the form shows for a generation that was asked for before."""
    model = str(parameters.get("model") or OFFLINE)
    low, high = parameters.get("turns") or GenerationRequest.turns
    shares = {"safety": "safety_trap_ratio", "brand": "brand_trap_ratio", "edge": "edge_case_share"}
    answers = {
        "dataset_name": dataset_name,
        "append": True,
        "writer": OFFLINE if model == OFFLINE else "model",
        "model": model.removeprefix(MODEL_PREFIX) if model != OFFLINE else "",
        "turns": str(low) if low == high else f"{low}-{high}",
        "resume": model != OFFLINE,
    }
    for field, key in shares.items():
        if key in parameters:
            answers[field] = _as_percent(parameters[key])
    same = ("persona", "sessions", "seed", "base_url", "temperature", "concurrency", "max_tokens_total")
    return answers | {key: parameters[key] for key in same if parameters.get(key) not in (None, "")}
