"""The forms of judges: run one, form a jury, try better prompts, test one."""

import math
from typing import Any

from django import forms

from annotations_app.criteria.versions import latest_versions
from annotations_app.domain.estimates.certificates import DEFAULT_THRESHOLD
from annotations_app.domain.judging.judge_document import OFFLINE
from annotations_app.judges.certify import MIN_THRESHOLD, list_certifiable
from annotations_app.judges.improve_judge import MAX_TRIES, is_draft, list_comparable
from annotations_app.judges.parameters import (
    DEFAULT_TRIES,
    ImproveParameters,
    JudgeParameters,
    JuryParameters,
)
from annotations_app.judges.run_judge import MAX_REPEATS
from annotations_app.models import Campaign, Judge
from datasets_app.core.web import fields
from datasets_app.core.web.overrides import OverrideField, OverrideForm
from datasets_app.domain.model_calls.endpoint import DEFAULT_CONCURRENCY, MAX_CONCURRENCY


class JudgeForm(OverrideForm):
    judge = fields.Choice(label="Judge", help_text="Import others with import_judge.")
    repeats = fields.Integer(
        label="Judgments per reply",
        min_value=1,
        max_value=MAX_REPEATS,
        initial=1,
        help_text="More than one shows whether the judge agrees with itself.",
    )
    swap = fields.Switch(
        label="Both ways round",
        help_text="Judges each pair twice, with the sides swapped; an answer that changes with them counts "
        "as not judged.",
    )
    max_tokens = fields.Integer(
        label="Token budget",
        min_value=1,
        required=False,
        help_text="Stops before more tokens are used; earlier runs under this prompt count.",
    )
    max_cost = fields.Decimal(
        label="Budget",
        min_value=0.0001,
        required=False,
        help_text="Stops before it costs more, at the judge’s prices.",
    )
    concurrency = fields.Integer(
        label="Concurrent calls",
        min_value=1,
        max_value=MAX_CONCURRENCY,
        initial=DEFAULT_CONCURRENCY,
    )
    override = OverrideField(
        "Reason for sending raw text",
        help_text="Sends raw text to the judge’s endpoint, which the dataset must name. Recorded in the "
        "audit log.",
    )

    def __init__(self, *args: Any, compares: bool = False, **options: Any) -> None:
        super().__init__(*args, override_required=False, **options)
        if not compares:
            del self.fields["swap"]
        judges = [judge for judge in _list_judges() if judge.name != OFFLINE]
        choices = [(judge.full_name, str(judge)) for judge in judges]
        self.fields["judge"].choices = [(OFFLINE, "Offline: lexicon and style rules"), *choices]  # type: ignore[attr-defined]

    def make_parameters(self, campaign: Campaign) -> JudgeParameters:
        return JudgeParameters(campaign=campaign.name, **self.filled_in)


class JuryForm(OverrideForm):
    """Members are asked in the order in which they are listed: by cost, the cheapest first."""

    name = fields.Text(label="Jury", max_length=100, help_text="Its name; a known one gets a new version.")
    members = fields.Checkboxes(
        label="Members", choices=[], help_text="Asked in this order; those without a model cost nothing."
    )
    certainty = fields.Decimal(
        label="Sure enough from",
        required=False,
        min_value=0.5,
        max_value=0.999,
        help_text="Asks a member only where those before it are less sure, such as 0.95. If empty, all.",
    )
    swap = JudgeForm.base_fields["swap"]
    max_tokens = JudgeForm.base_fields["max_tokens"]
    max_cost = JudgeForm.base_fields["max_cost"]
    concurrency = JudgeForm.base_fields["concurrency"]
    override = JudgeForm.base_fields["override"]

    def __init__(self, *args: Any, compares: bool = False, **options: Any) -> None:
        # The page has a form for judges as well, with fields of the same names.
        super().__init__(*args, auto_id="jury_%s", override_required=False, **options)
        if not compares:
            del self.fields["swap"]
        self.fields["max_tokens"].help_text = "Of all members: what they have used in this campaign counts."
        self.fields["max_cost"].help_text = "Of all members, at their prices."
        judges = [judge for judge in _list_judges() if not judge.content.jury]
        judges.sort(key=_estimate_price)
        self.fields["members"].choices = [(judge.full_name, str(judge)) for judge in judges]  # type: ignore[attr-defined]

    def make_parameters(self, campaign: Campaign) -> JuryParameters:
        given = self.filled_in
        order = [name for name, _ in self.fields["members"].choices]  # type: ignore[attr-defined]
        given["members"] = sorted(given["members"], key=order.index)
        return JuryParameters(campaign=campaign.name, **given)


def _list_judges() -> list[Judge]:
    """To choose from: drafts of prompts are compared, and used by nobody."""
    return [judge for judge in latest_versions(Judge) if not is_draft(judge)]


def _estimate_price(judge: Judge) -> float:
    """Of an answer; one whose price isn't known may be the dearest."""
    if not judge.content.calls_model:
        return 0.0
    prices = judge.content.prices
    return math.inf if prices is None else prices.answer


class ImproveForm(OverrideForm):
    criterion = fields.Choice(label="Criterion", help_text="Whose agreement with people counts.")
    tries = fields.Integer(
        label="Prompts to try",
        min_value=1,
        max_value=MAX_TRIES,
        initial=DEFAULT_TRIES,
        help_text="The more were tried, the more surely one must agree better.",
    )
    max_tokens = JudgeForm.base_fields["max_tokens"]
    override = JudgeForm.base_fields["override"]

    def __init__(self, campaign: Campaign, *args: Any, **options: Any) -> None:
        super().__init__(*args, auto_id="improve_%s", override_required=False, **options)
        self.fields["max_tokens"].help_text = "Of all prompts together, from now on."
        choices = [(one.key, one.question) for one in list_comparable(campaign)]
        self.fields["criterion"].choices = choices  # type: ignore[attr-defined]
        if len(choices) == 1:
            del self.fields["criterion"]

    def make_parameters(self, campaign: Campaign, judge: Judge) -> ImproveParameters:
        return ImproveParameters(campaign=campaign.name, judge=judge.full_name, **self.filled_in)


class CertifyForm(forms.Form):
    criterion = fields.Choice(label="Criterion")
    threshold = fields.Integer(
        label="Threshold (%)",
        min_value=int(100 * MIN_THRESHOLD),
        max_value=99,
        initial=int(100 * DEFAULT_THRESHOLD),
        help_text="What both rates must surely reach.",
    )

    def __init__(self, campaign: Campaign, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        choices = [(one.key, one.question) for one in list_certifiable(campaign)]
        self.fields["criterion"].choices = choices  # type: ignore[attr-defined]

    @property
    def options(self) -> dict[str, Any]:
        chosen = self.cleaned_data
        return {"criterion": chosen["criterion"], "threshold": chosen["threshold"] / 100}
