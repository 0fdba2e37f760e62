"""The form for generating sessions; its answers become the parameters of a job."""

import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django import forms
from msgspec import structs
from unfold.widgets import UnfoldAdminDecimalFieldWidget

from datasets_app.catalog.gates import check_can_copy
from datasets_app.catalog.personas import DEFAULT_ID, load_persona
from datasets_app.core.limits import MAX_SUGGESTIONS
from datasets_app.core.web import fields
from datasets_app.core.web.refusals import show_refusal_in
from datasets_app.core.web.suggestions import SuggestingInput
from datasets_app.domain.generation.plan import (
    DEFAULT_EDGE_CASE_SHARE,
    MAX_SESSIONS,
    MAX_TURNS,
    MIN_TURNS,
    GenerationRequest,
)
from datasets_app.domain.model_calls.endpoint import DEFAULT_CONCURRENCY, MAX_CONCURRENCY
from datasets_app.generating.parameters import GenerationParameters
from datasets_app.generating.preview import GenerationPreview, preview_generation
from datasets_app.model_calls.endpoints import can_generate_anywhere, configured_endpoints, require_endpoint
from datasets_app.model_calls.parameters import MODEL_PREFIX
from datasets_app.model_calls.requests import MAX_MODEL_CHARACTERS, MAX_TEMPERATURE, OFFLINE
from datasets_app.models import Dataset, Persona
from datasets_app.models.dataset import NAME_PATTERN, NAME_RULE

DEFAULT_SESSIONS = 100
LABELS = GenerationParameters.LABELS
_SEED_LIMIT = 1 << 31
WRITER_CHOICES = [
    ("offline", "Offline: from phrases, within seconds; the same seed gives the same texts everywhere"),
    ("model", "A model behind an OpenAI-compatible endpoint"),
]
# Fields by section; those of the model only apply if a model writes.
_FIELD_GROUPS = (
    ("where", "Destination", ("dataset_name", "append")),
    ("what", "Content", ("persona", "sessions", "turns", "safety", "brand", "edge", "seed")),
    ("who", "Writer", ("writer",)),
    (
        "model",
        "Model",
        ("model", "base_url", "temperature", "concurrency", "price_prompt", "price_answer")
        + ("max_tokens_total", "resume"),
    ),
)


def _as_percent(share: float) -> str:
    """0.15 → "15"."""
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
        help_text="Per million tokens, in your currency. Used for the estimate only and not stored.",
    )


class PersonaField(fields.Model):
    """Shows the id of each persona after its name, because names may be the same."""

    def label_from_instance(self, obj: Any) -> str:
        name, persona_id = str(obj), str(obj.persona_id)
        return name if name == persona_id else f"{name} ({persona_id})"


class GenerateForm(forms.Form):
    dataset_name = forms.RegexField(
        NAME_PATTERN,
        label="Dataset",
        max_length=100,
        widget=SuggestingInput(attrs={"spellcheck": "false"}),
        help_text="A new name, or the name of a synthetic dataset to add to.",
        error_messages={"invalid": NAME_RULE},
    )
    append = fields.Switch(label="Add to the dataset if it exists")
    persona = PersonaField(
        Persona.objects.order_by("persona_id"),
        required=False,
        to_field_name="persona_id",
        empty_label=f"{DEFAULT_ID} (built in)",
        attrs={"data-picker": True},
        help_text="The voice of the assistant, which brand traps try to push it out of.",
    )
    sessions = fields.Integer(min_value=1, max_value=MAX_SESSIONS, initial=DEFAULT_SESSIONS)
    turns = fields.Text(
        label="Turns per session",
        max_length=10,
        initial=str(GenerationRequest.turns[0]),
        attrs={"spellcheck": "false"},
        help_text="A number such as 6 or a range such as 4-8.",
    )
    safety = _percent_field(
        "Safety traps (%)",
        GenerationRequest.safety_trap_ratio,
        "Requests for harm, which the assistant refuses.",
    )
    brand = _percent_field(
        "Brand traps (%)",
        GenerationRequest.brand_trap_ratio,
        "Attempts to push it off its tone; half succeed.",
    )
    edge = _percent_field(
        "Over-refusal probes (%)",
        DEFAULT_EDGE_CASE_SHARE,
        "Share of the other sessions with technical words that sound harmful.",
    )
    seed = fields.Integer(
        min_value=-_SEED_LIMIT,
        max_value=_SEED_LIMIT - 1,
        initial=GenerationRequest.seed,
        help_text="Another seed gives other sessions.",
    )
    writer = fields.Radio(choices=WRITER_CHOICES, initial="offline")
    model = fields.Text(
        label="Model name",
        required=False,
        max_length=MAX_MODEL_CHARACTERS,
        attrs={"spellcheck": "false"},
        help_text="The name the endpoint uses for the model.",
    )
    base_url = forms.CharField(
        label=LABELS["base_url"],
        required=False,
        max_length=500,
        widget=SuggestingInput(attrs={"spellcheck": "false", "inputmode": "url"}),
        help_text="The base URL. If empty, the first configured endpoint.",
    )
    temperature = fields.Decimal(
        required=False, min_value=0, max_value=MAX_TEMPERATURE, help_text="If empty, the model's default."
    )
    concurrency = fields.Integer(
        label=LABELS["concurrency"],
        min_value=1,
        max_value=MAX_CONCURRENCY,
        initial=DEFAULT_CONCURRENCY,
    )
    max_tokens_total = fields.Integer(
        label=LABELS["max_tokens_total"],
        required=False,
        min_value=1,
        max_value=1 << 53,
        help_text="The run stops before it exceeds the budget and can be resumed. If empty, no limit.",
    )
    resume = fields.Switch(
        label=LABELS["resume"],
        help_text="With the same settings as before. Finished sessions are kept and cost nothing.",
    )
    price_prompt = _price_field("Input token price")
    price_answer = _price_field("Output token price")

    def __init__(self, *args: Any, user: Any, is_draft: bool = False, **kwargs: Any) -> None:
        """``is_draft``: the form is still being filled in and may lack a name."""
        super().__init__(*args, **kwargs)
        self.user, self.is_draft = user, is_draft
        self.preview: GenerationPreview | None = None
        if Persona.objects.filter(persona_id=DEFAULT_ID).exists():
            # An installed persona of this id replaces the built-in one.
            self.fields["persona"].empty_label = None  # type: ignore[attr-defined]
            self.fields["persona"].required = True
            self.fields["persona"].initial = DEFAULT_ID
        self.fields["dataset_name"].required = not is_draft
        synthetic = Dataset.objects.visible_to(user).filter(origin=Dataset.Origin.SYNTHETIC).order_by("name")
        self._suggest("dataset_name", synthetic.values_list("name", flat=True)[:MAX_SUGGESTIONS])
        endpoints = configured_endpoints()
        self.may_use_models = bool(endpoints) or can_generate_anywhere(user)
        self._suggest("base_url", endpoints)
        if not self.may_use_models:
            self.fields["writer"].choices = WRITER_CHOICES[:1]  # type: ignore[attr-defined]
        # Browsers don't send the hidden fields of the model; without a value, use the default.
        self.fields["concurrency"].required = False

    def _suggest(self, name: str, values: Iterable[str]) -> None:
        self.fields[name].widget.suggest = lambda: values  # type: ignore[attr-defined]

    @property
    def groups(self) -> list[tuple[str, str, list[forms.BoundField]]]:
        shown = [group for group in _FIELD_GROUPS if group[0] != "model" or self.may_use_models]
        return [(key, title, [self[name] for name in names]) for key, title, names in shown]

    # --- validation ----------------------------------------------------------------------

    def clean_turns(self) -> tuple[int, int]:
        match = re.fullmatch(r"\s*(\d{1,3})\s*(?:[-–]\s*(\d{1,3})\s*)?", self.cleaned_data["turns"])
        low, high = (int(match[1]), int(match[2] or match[1])) if match else (0, 0)
        if not MIN_TURNS <= low <= high <= MAX_TURNS:
            raise forms.ValidationError(
                f"Enter {MIN_TURNS} to {MAX_TURNS}: a number such as 6 or a range such as 4-8."
            )
        return low, high

    def clean(self) -> dict[str, Any]:
        cleaned = self.cleaned_data
        if cleaned.get("dataset_name") and not self.is_draft:
            self._check_dataset(cleaned["dataset_name"], bool(cleaned.get("append")))
        if cleaned.get("safety", 0) + cleaned.get("brand", 0) > 100:
            total = (cleaned["safety"] + cleaned["brand"]).normalize()
            self.add_error(
                "brand", f"Safety and brand traps add up to {total:f} %. Enter at most 100 % in total."
            )
        self._check_persona(cleaned)
        if cleaned.get("writer") == "model":
            self._check_model(cleaned)
        if not self.errors:
            self._preview_plan()
        return cleaned

    def _check_dataset(self, name: str, append: bool) -> None:
        dataset = Dataset.objects.filter(name=name).first()
        if dataset is None:
            return
        if not Dataset.objects.visible_to(self.user).filter(pk=dataset.pk).exists():
            self.add_error("dataset_name", "This name is taken. Choose another name.")
        elif dataset.origin != Dataset.Origin.SYNTHETIC:
            self.add_error(
                "dataset_name",
                f"{name} contains {dataset.get_origin_display().lower()} data. Generated sessions need their "
                "own dataset.",
            )
        elif not append:
            self.add_error(
                "dataset_name", f"This name is taken. Choose another name or select “{self['append'].label}”."
            )
        else:
            with show_refusal_in(self, "dataset_name"):
                check_can_copy(dataset)

    def _check_persona(self, cleaned: dict[str, Any]) -> None:
        if "persona" not in cleaned:
            return
        with show_refusal_in(self, "persona"):
            load_persona(_persona_id(cleaned["persona"]))

    def _check_model(self, cleaned: dict[str, Any]) -> None:
        if "model" in cleaned and not cleaned["model"]:
            self.add_error("model", "Enter the model name, or choose the offline writer.")
        with show_refusal_in(self, "base_url"):
            require_endpoint(cleaned.get("base_url") or None, self.user)

    def _preview_plan(self) -> None:
        """Preview the plan, which fails if the offline writer can't write for the persona."""
        with show_refusal_in(self, "persona" if self.cleaned_data["writer"] == "offline" else None):
            self.preview = preview_generation(self.parameters(), actor=self.user)

    def parameters(self) -> GenerationParameters:
        """The answers of a valid form, as parameters of the job."""
        cleaned = self.cleaned_data
        parameters = GenerationParameters(
            persona=_persona_id(cleaned["persona"]),
            sessions=cleaned["sessions"],
            turns=cleaned["turns"],
            safety_trap_ratio=float(cleaned["safety"] / 100),
            brand_trap_ratio=float(cleaned["brand"] / 100),
            edge_case_share=float(cleaned["edge"] / 100),
            seed=cleaned["seed"],
            model=OFFLINE,
        )
        if cleaned["writer"] == OFFLINE:
            return parameters
        return structs.replace(
            parameters,
            model=MODEL_PREFIX + cleaned["model"],
            base_url=cleaned["base_url"] or None,
            temperature=cleaned["temperature"],
            concurrency=cleaned["concurrency"] or DEFAULT_CONCURRENCY,
            max_tokens_total=cleaned["max_tokens_total"],
            resume=cleaned["resume"],
        )


def _persona_id(persona: Persona | None) -> str:
    return persona.persona_id if persona else ""


def initial_from_parameters(dataset_name: str, parameters: GenerationParameters) -> dict[str, Any]:
    """The initial values for repeating an earlier run."""
    model = parameters.model or OFFLINE
    low, high = parameters.turns or GenerationRequest.turns
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
        if (share := getattr(parameters, key)) is not None:
            answers[field] = _as_percent(share)
    copied = ("persona", "sessions", "seed", "base_url", "temperature", "concurrency", "max_tokens_total")
    return answers | {key: value for key in copied if (value := getattr(parameters, key)) not in (None, "")}
