"""The forms that create and change a campaign."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.html import format_html

from annotations_app.campaigns.forms import UserMultipleChoiceField, users_who_can_annotate
from annotations_app.campaigns.settings import SEED_LIMIT, InvalidSetting
from annotations_app.criteria.schemas import preference_schema
from annotations_app.criteria.versions import latest_versions
from annotations_app.models import Campaign, LabelSchema
from annotations_app.models.campaign import (
    DEFAULT_LEASE_MINUTES,
    DEFAULT_OVERLAP,
    DEFAULT_SEED,
    MAX_CALIBRATION_REPLIES,
    MAX_GUIDELINES_LENGTH,
    MAX_LEASE_MINUTES,
    MAX_OVERLAP,
    MAX_REPLIES,
    MAX_SHARE,
    MAX_TAG_LENGTH,
)
from datasets_app.catalog import gates
from datasets_app.core.errors import UserError
from datasets_app.core.web import fields
from datasets_app.core.web.overrides import OverrideField, OverrideForm
from datasets_app.models import Dataset, Persona, Release, Session
from datasets_app.releasing.load_release import load_release

MAX_SHARE_PERCENT = int(100 * MAX_SHARE)
ORDER_CHOICES = [
    ("random", "Random: every annotator gets a fair mix"),
    ("session", "Session by session: as few people as possible read each conversation"),
    ("disputed", "Most disputed first: replies that earlier labels disagree on come first"),
]
# The two steps in which a campaign is created, each with what is folded away.
_STEPS = (
    (
        "What is labeled",
        ("dataset", "persona", "schema", "other_dataset", "tag"),
        ("release", "other_release", "split", "max_replies", "order", "seed"),
    ),
    (
        "Who labels it",
        ("name", "annotators", "overlap", "guidelines"),
        (
            *("max_overlap", "calibration_replies", "calibration_alpha"),
            *("gold", "repeats", "lease_minutes", "override"),
        ),
    ),
)
_FORM_FIELDS = {"gold_share": "gold", "repeat_share": "repeats"}


def add_refusal(form: forms.Form, error: UserError) -> None:
    """Show an operation's error at the field it is about, or above the form."""
    field = getattr(error, "field", None)
    field = _FORM_FIELDS.get(field, field)
    form.add_error(field if field in form.fields else None, error.message)


def _guidelines_field() -> forms.CharField:
    return fields.LongText(
        required=False,
        max_length=MAX_GUIDELINES_LENGTH,
        attrs={"class": "ad-low ad-guidelines", "rows": "8"},
        help_text="How to decide, with hard cases as examples. Markdown; shown next to the reply.",
    )


def _number_field(label: str, low: int, high: int, help_text: str, **options: Any) -> forms.IntegerField:
    return fields.Integer(label=label, min_value=low, max_value=high, help_text=help_text, **options)


def _overlap_field(**options: Any) -> forms.IntegerField:
    help_text = "How many people label each reply. Agreement can be measured with two or more."
    return _number_field("Annotators per reply", 1, MAX_OVERLAP, help_text, **options)


def _lease_minutes_field(**options: Any) -> forms.IntegerField:
    help_text = "A reply goes to another annotator after so many minutes without activity."
    return _number_field("Lock timeout, in minutes", 1, MAX_LEASE_MINUTES, help_text, **options)


def _release_field(label: str, empty_label: str) -> forms.ModelChoiceField:
    return fields.Model(
        Release.objects.none(),
        label=label,
        required=False,
        empty_label=empty_label,
        help_text="Loaded as a dataset, named after the version, unless it is there.",
    )


class CampaignForm(OverrideForm):
    """Settings of a new campaign; shares are in percent."""

    dataset = fields.Model(
        Dataset.objects.none(),
        attrs={"data-picker": True},
        empty_label="Choose a dataset",
        help_text="Its assistant's replies are labeled. Scrub production data first.",
    )
    persona = fields.Model(
        Persona.objects.order_by("persona_id"),
        attrs={"data-picker": True},
        empty_label="Choose a persona",
        help_text="The voice by which replies are judged; its card is shown next to them.",
    )
    schema = fields.Model(
        LabelSchema.objects.none(),
        label="Question",
        required=False,
        empty_label="On-brand or off-brand (built in)",
        help_text="What annotators are asked of each reply.",
    )
    other_dataset = fields.Model(
        Dataset.objects.none(),
        label="Compare with",
        required=False,
        attrs={"data-picker": True},
        empty_label="Nothing: each reply is judged by itself",
        help_text="Asks which of two replies to the same turn is better, without naming their datasets.",
    )
    release = _release_field("Release of the dataset", "Its replies as they are now")
    other_release = _release_field("Compare with a release", "No release")
    name = fields.Text(
        max_length=100,
        attrs={"spellcheck": "false"},
        validators=Campaign._meta.get_field("name").validators,
        help_text="Letters, digits, dot, dash and underscore, for example support_tone_may.",
    )
    annotators = UserMultipleChoiceField(
        help_text="They see this campaign in their queue as soon as it is open."
    )
    max_replies = _number_field(
        "Number of replies",
        1,
        MAX_REPLIES,
        "Taken in the order below; empty takes all.",
        required=False,
    )
    max_overlap = _number_field(
        "Annotators where the first differ",
        3,
        MAX_OVERLAP,
        "One more at a time, up to so many, while more answers may change the result; empty for none.",
        required=False,
    )
    calibration_replies = _number_field(
        "Calibration round, in replies",
        1,
        MAX_CALIBRATION_REPLIES,
        "All annotators label these first, and their differences are discussed; empty starts without one.",
        required=False,
    )
    calibration_alpha = fields.Decimal(
        label="Alpha that ends the round",
        min_value=0.01,
        max_value=1,
        required=False,
        attrs={"step": "0.01"},
        help_text="The other replies open at this agreement, such as 0.8; if empty, when a lead opens them.",
    )
    overlap = _overlap_field(initial=DEFAULT_OVERLAP)
    gold = _number_field(
        "Gold replies, in percent",
        0,
        MAX_SHARE_PERCENT,
        "Share of each annotator's replies that already have an adjudicated label; measures accuracy.",
        initial=0,
    )
    repeats = _number_field(
        "Hidden repeats, in percent",
        0,
        MAX_SHARE_PERCENT,
        "Share of each annotator's replies that they have labeled before, unannounced; measures consistency.",
        initial=0,
    )
    order = fields.Radio(choices=ORDER_CHOICES, initial="random")
    tag = fields.Text(
        label="Only replies with this tag",
        required=False,
        max_length=MAX_TAG_LENGTH,
        attrs={"list": "known-tag"},
        help_text="For example scenario:support. Leave empty for all.",
    )
    split = fields.Choice(
        label="Only sessions of this split",
        choices=[("", "All but the locked test split"), *Session.Split.choices],
        required=False,
        help_text="The test split is excluded from calibration.",
    )
    guidelines = _guidelines_field()
    lease_minutes = _lease_minutes_field(initial=DEFAULT_LEASE_MINUTES)
    seed = _number_field(
        "Seed",
        -SEED_LIMIT,
        SEED_LIMIT - 1,
        "Determines the random order, the gold replies and the repeats.",
        initial=DEFAULT_SEED,
    )
    override = OverrideField(
        "Override reason",
        help_text="Only needed for unscrubbed production data or the test split; kept in the audit log.",
    )

    def __init__(self, *args: Any, user: Any, **options: Any) -> None:
        super().__init__(*args, may_override=gates.can_override(user), override_required=False, **options)
        self.user = user
        self.fields["dataset"].queryset = Dataset.objects.visible_to(user).filter(turn_count__gt=0)
        self.fields["other_dataset"].queryset = self.fields["dataset"].queryset
        for name in ("release", "other_release"):
            self.fields[name].queryset = _list_releases(user)
        self.fields["schema"].queryset = latest_versions(LabelSchema)
        self.fields["annotators"].queryset = users_who_can_annotate()
        if user.has_perm("datasets_app.add_persona"):
            persona = self.fields["persona"]
            link = '{} <a class="ad-within" href="{}" target="_blank">New persona</a>: reload this page once'
            link += " it is saved."
            persona.help_text = format_html(
                link, persona.help_text, reverse("admin:datasets_app_persona_add")
            )

    @property
    def steps(self) -> list[tuple[str, list[forms.BoundField], list[forms.BoundField], bool]]:
        """Title, fields, fields that are folded away, and whether one of the latter has an error or is
        filled in by a link."""
        steps = []
        for title, shown, folded in _STEPS:
            more = [self[name] for name in folded if name in self.fields]
            is_open = any(field.errors or self.initial.get(field.name) for field in more)
            steps.append((title, [self[name] for name in shown], more, is_open))
        return steps

    def make_campaign(self) -> Campaign:
        """Of a valid form; not saved."""
        answers = dict(self.cleaned_data)
        for name in ("override", "annotators"):
            answers.pop(name, None)
        self._load_releases(answers)
        if answers["other_dataset"] and not answers["schema"]:
            answers["schema"] = preference_schema(actor=self.user)
        gold, repeats = answers.pop("gold") / 100, answers.pop("repeats") / 100
        return Campaign(gold_share=gold, repeat_share=repeats, **answers)

    def _load_releases(self, answers: dict[str, Any]) -> None:
        """Put the datasets with the chosen releases in the place of datasets. Raises UserError."""
        release, other = answers.pop("release"), answers.pop("other_release")
        if release and release.dataset != answers["dataset"]:
            raise InvalidSetting("release", f"This isn't a release of {answers['dataset']}.")
        if other and answers["other_dataset"]:
            raise InvalidSetting("other_release", "Compare with a dataset or with a release, not with both.")
        if release:
            answers["dataset"] = load_release(release, actor=self.user)
        if other:
            answers["other_dataset"] = load_release(other, actor=self.user)


def _list_releases(user: Any) -> QuerySet[Release]:
    if not user.has_perm("datasets_app.view_release"):
        return Release.objects.none()
    visible = Release.objects.filter(dataset__in=Dataset.objects.visible_to(user), destroyed_at=None)
    return visible.select_related("dataset")


class CampaignSettingsForm(forms.Form):
    """What can be changed while annotators label."""

    schema = fields.Model(
        LabelSchema.objects.none(),
        empty_label=None,
        help_text="Labels keep the version they were made under, and can be requeued.",
    )
    guidelines = _guidelines_field()
    annotators = UserMultipleChoiceField(
        help_text="Annotators you remove keep their labels; replies leased to them are released."
    )
    overlap = _overlap_field()
    lease_minutes = _lease_minutes_field()

    def __init__(self, *args: Any, campaign: Campaign, **options: Any) -> None:
        members: Sequence[int] = list(campaign.members.filter(active=True).values_list("user", flat=True))
        initial = forms.model_to_dict(campaign, ["schema", "guidelines", "overlap", "lease_minutes"])
        super().__init__(*args, initial=initial | {"annotators": members}, **options)
        later = LabelSchema.objects.none()
        if campaign.schema:
            name, version = campaign.schema.name, campaign.schema.version
            later = LabelSchema.objects.filter(name=name, version__gte=version).order_by("version")
        if later.count() > 1:
            self.fields["schema"].queryset = later
        else:
            del self.fields["schema"]
        # Members without the permission stay on the list, so that they can be removed.
        known = Q(pk__in=users_who_can_annotate().values("pk")) | Q(pk__in=members)
        self.fields["annotators"].queryset = User.objects.filter(known).order_by("username")

    def changes(self) -> dict[str, Any]:
        """The changed settings, as `edit_campaign` takes them."""
        changes = {name: self.cleaned_data[name] for name in self.changed_data}
        if "annotators" in changes:
            changes["annotators"] = [user.get_username() for user in changes["annotators"]]
        return changes
