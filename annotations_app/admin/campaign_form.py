"""The forms of a campaign: how it begins, and what of it can be changed afterwards."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib.auth.models import Permission, User
from django.db.models import Q, QuerySet
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminRadioSelectWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextareaWidget,
    UnfoldAdminTextInputWidget,
)

from annotations_app.campaigns.validation import MIN_NEW_SHARE, SEED_LIMIT
from annotations_app.models import Campaign
from annotations_app.models.campaign import MAX_SHARE
from datasets_app.catalog import policies
from datasets_app.models import Dataset, Persona

MAX_SHARE_PERCENT = int(100 * MAX_SHARE)
MAX_GUIDELINES_LENGTH = 50_000
ORDER_CHOICES = [
    ("random", "Random: every annotator meets a fair mix"),
    ("session", "Session by session: the context is read once, by one person as far as the overlap allows"),
    ("disputed", "Most disputed first: what earlier labels disagree on comes before the rest"),
]
# What splits are called: see split_dataset.
SPLIT_NAMES = ("train", "validation", "test")


def users_who_can_annotate() -> QuerySet[Any]:
    """Active people with the permission to label, however they came by it."""
    may = Permission.objects.filter(content_type__app_label="annotations_app", codename="annotate")
    held = Q(is_superuser=True) | Q(user_permissions__in=may) | Q(groups__permissions__in=may)
    return User.objects.filter(held, is_active=True).distinct().order_by("username")


def _text_widget(**attrs: str) -> UnfoldAdminTextInputWidget:
    return UnfoldAdminTextInputWidget(attrs={"autocomplete": "off", **attrs})


def _guidelines_field() -> forms.CharField:
    return forms.CharField(
        required=False,
        max_length=MAX_GUIDELINES_LENGTH,
        widget=UnfoldAdminTextareaWidget(attrs={"class": "ad-low ad-guidelines", "rows": "8"}),
        help_text="What counts as on-brand, with examples of what is hard to tell. Markdown; annotators "
        "read it beside the reply.",
    )


def _overlap_field(**options: Any) -> forms.IntegerField:
    return forms.IntegerField(
        label="Annotators a reply",
        min_value=1,
        max_value=50,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="How many people label each reply. Agreement can be measured from two on.",
        **options,
    )


def _lease_minutes_field(**options: Any) -> forms.IntegerField:
    return forms.IntegerField(
        label="Minutes a reply is held",
        min_value=1,
        max_value=1440,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="After so long without a sign of its annotator a reply goes to another.",
        **options,
    )


class UserMultipleChoiceField(forms.ModelMultipleChoiceField):
    """People to tick, told apart by their user names."""

    def __init__(self, **options: Any) -> None:
        super().__init__(
            User.objects.none(),
            widget=UnfoldAdminCheckboxSelectMultipleWidget(attrs={"class": "ad-check"}),
            error_messages={"required": "Choose at least one person."},
            **options,
        )

    def label_from_instance(self, obj: Any) -> str:
        return str(obj.get_username())


class CampaignForm(forms.Form):
    """What a new campaign is to be; shares are asked for in percent."""

    dataset = forms.ModelChoiceField(
        Dataset.objects.none(),
        widget=UnfoldAdminSelectWidget,
        empty_label="Choose a dataset",
        help_text="Its assistant's replies are what is labelled. Production data must be scrubbed before.",
    )
    persona = forms.ModelChoiceField(
        Persona.objects.order_by("persona_id"),
        widget=UnfoldAdminSelectWidget,
        empty_label="Choose a persona",
        help_text="The voice that replies are judged by; its card stands beside them.",
    )
    name = forms.CharField(
        max_length=100,
        widget=_text_widget(spellcheck="false"),
        validators=Campaign._meta.get_field("name").validators,
        help_text="Letters, digits, dot, dash and underscore, for example support_tone_may.",
    )
    annotators = UserMultipleChoiceField(
        help_text="They see this campaign in their queue as soon as it is open."
    )
    overlap = _overlap_field(initial=2)
    gold = forms.IntegerField(
        label="Gold replies, in percent",
        min_value=0,
        max_value=MAX_SHARE_PERCENT,
        initial=0,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Of what an annotator sees, replies whose right label is known because they were "
        "adjudicated before. They show how far somebody is right, not only how far people agree.",
    )
    repeats = forms.IntegerField(
        label="Hidden repeats, in percent",
        min_value=0,
        max_value=MAX_SHARE_PERCENT,
        initial=0,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Of what an annotator sees, replies they have labelled before, unannounced: they show "
        "how far somebody agrees with themselves.",
    )
    order = forms.ChoiceField(choices=ORDER_CHOICES, initial="random", widget=UnfoldAdminRadioSelectWidget)
    tag = forms.CharField(
        label="Only replies with this tag",
        required=False,
        max_length=500,
        widget=_text_widget(),
        help_text="For example scenario:support. Leave empty for all.",
    )
    split = forms.CharField(
        label="Only sessions of this split",
        required=False,
        max_length=20,
        widget=_text_widget(list="splits", spellcheck="false"),
        help_text="Leave empty for all but the test split, which is locked: labels for calibration must "
        "not come from it.",
    )
    guidelines = _guidelines_field()
    lease_minutes = _lease_minutes_field(initial=15)
    seed = forms.IntegerField(
        initial=42,
        min_value=-SEED_LIMIT,
        max_value=SEED_LIMIT - 1,
        widget=UnfoldAdminIntegerFieldWidget,
        help_text="Of the random order, the gold replies and the repeats: one seed gives one order.",
    )
    override = forms.CharField(
        label="Reason for labelling what is locked",
        required=False,
        max_length=policies.MAX_REASON_CHARACTERS,
        widget=_text_widget(),
        help_text="Only for production data that is not scrubbed, or for the test split. It is written "
        "into the audit trail, with your name.",
    )

    def __init__(self, *args: Any, user: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.user = user
        self.fields["dataset"].queryset = Dataset.objects.visible_to(user).filter(turn_count__gt=0)
        self.fields["annotators"].queryset = users_who_can_annotate()
        if not policies.can_override(user):
            del self.fields["override"]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Campaign.objects.filter(name=name).exists():
            raise forms.ValidationError("There is a campaign of this name already.")
        return name

    def clean(self) -> dict[str, Any]:
        said = self.cleaned_data
        people, overlap = said.get("annotators"), said.get("overlap")
        if people is not None and overlap is not None and overlap > len(people):
            self.add_error(
                "overlap",
                f"{overlap} people are to label each reply, but only {len(people)} "
                f"{'is' if len(people) == 1 else 'are'} chosen.",
            )
        if said.get("gold", 0) + said.get("repeats", 0) > 100 * (1 - MIN_NEW_SHARE):
            self.add_error("repeats", "Gold replies and repeats leave too little that is new.")
        dataset = said.get("dataset")
        if dataset and not policies.is_scrubbed(dataset) and not (said.get("override") or "").strip():
            self.add_error("dataset", self._unscrubbed_error(dataset))
        return said

    def _unscrubbed_error(self, dataset: Dataset) -> str:
        may = "give the reason below" if "override" in self.fields else "ask a privacy officer"
        return f"{dataset.name} holds production data that no scrub has verified. Scrub it first, or {may}."

    def asked(self) -> dict[str, Any]:
        """The answers of a valid form, as `prepare_campaign` takes them."""
        said = self.cleaned_data
        same = ("name", "dataset", "persona", "guidelines", "overlap", "order", "tag", "split", "seed")
        return {
            **{field: said[field] for field in same},
            "lease_minutes": said["lease_minutes"],
            "gold_share": said["gold"] / 100,
            "repeat_share": said["repeats"] / 100,
            "annotators": [person.get_username() for person in said["annotators"]],
            "override": said.get("override") or "",
        }


class PartialCampaignForm(CampaignForm):
    """The same while it is filled in: each answer counts by itself, whatever the others are."""

    def clean_name(self) -> str:
        return str(self.cleaned_data["name"])

    def clean(self) -> dict[str, Any]:
        return self.cleaned_data


class CampaignSettingsForm(forms.Form):
    """What can be changed while people label: nothing of what is asked of whom so far."""

    guidelines = _guidelines_field()
    annotators = UserMultipleChoiceField(
        help_text="Who is taken out keeps their labels and gets nothing further; what they hold comes back."
    )
    overlap = _overlap_field()
    lease_minutes = _lease_minutes_field()

    def __init__(self, *args: Any, campaign: Campaign, **options: Any) -> None:
        members: Sequence[int] = list(campaign.members.filter(active=True).values_list("user", flat=True))
        initial = {
            "guidelines": campaign.guidelines,
            "annotators": members,
            "overlap": campaign.overlap,
            "lease_minutes": campaign.lease_minutes,
        }
        super().__init__(*args, initial=initial, **options)
        self.campaign = campaign
        # Who has lost the permission since stays on the list, to be seen and taken out.
        known = Q(pk__in=users_who_can_annotate().values("pk")) | Q(pk__in=members)
        self.fields["annotators"].queryset = User.objects.filter(known).order_by("username")

    def clean_overlap(self) -> int:
        overlap: int = self.cleaned_data["overlap"]
        if overlap < self.campaign.overlap:
            raise forms.ValidationError(
                f"It can only be raised from {self.campaign.overlap}: there may be as many labels already."
            )
        return overlap

    def changes(self) -> dict[str, Any]:
        """Only what was changed, as `edit_campaign` takes it."""
        said = {name: self.cleaned_data[name] for name in self.changed_data}
        if "annotators" in said:
            said["annotators"] = [person.get_username() for person in said["annotators"]]
        return said
