"""How pages show labels and their statistics."""

import json
from collections.abc import Iterable
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy

from annotations_app.domain.agreement.agreement_report import AgreementPlan, ConsensusReport, HeadlineStats
from annotations_app.domain.agreement.agreement_text import light_alpha, say_agreement_plan
from annotations_app.domain.highlighting import AVOID, PREFERRED, TextPiece
from datasets_app.domain.charts import MINUS_SIGN, format_number
from datasets_app.domain.labels.criterion import Criterion, Level
from datasets_app.domain.labels.on_brand import NO_NAME, ON_BRAND, YES_NAME
from datasets_app.domain.labels.schema import Condition, Schema
from datasets_app.domain.wording import format_count

register = template.Library()

_CAMPAIGN_BADGES = {"preparing": "info", "open": "good", "paused": "warn", "closed": "neutral"}


@register.simple_tag
def yes_name() -> str:
    """What the built-in criterion calls a reply that sounds like the persona."""
    return YES_NAME


@register.simple_tag
def no_name() -> str:
    return NO_NAME


@register.filter
def campaign_badge(status: str) -> str:
    """The color of a badge; its text says the same."""
    return _CAMPAIGN_BADGES.get(status, "neutral")


@register.filter
def format_statistic(value: float | None) -> str:
    """0.4567 → 0.457, with a true minus; None is a dash."""
    return "–" if value is None else format_number(value)


@register.filter
def format_statistic_short(value: float | None) -> str:
    """Two digits, for a cell of the heat map."""
    return "–" if value is None else f"{value:.2f}".replace("-", MINUS_SIGN)


@register.filter
def whole_number(value: float) -> str:
    return f"{value:,.0f}"


@register.filter
def whole_percent(value: float | None) -> str:
    """Whole percents, for an estimate; a dash where there is none."""
    return "–" if value is None else f"{100 * value:.0f} %"


@register.filter
def hours_or_minutes(value: float) -> str:
    """0.2 → 12 min; 31.4 → 31 h."""
    if value < 1:
        return f"{max(1, round(60 * value))} min"
    return f"{value:.1f} h" if value < 10 else f"{value:,.0f} h"


register.filter("agreement_light", light_alpha)


@register.filter
def describe_plan(plan: AgreementPlan) -> str:
    said = say_agreement_plan(plan)
    return f"{said[0].upper()}{said[1:]}."


@register.filter
def describe_headline(headline: HeadlineStats) -> str:
    """Which labels the agreement is measured from."""
    rated = format_count(headline.items - headline.single, "reply", "replies")
    left_out = format_count(headline.single, "reply", "replies") + " with only one left out"
    unnamed = format_count(headline.unnamed, "label")
    return (
        f"Measured on {rated} with two or more labels{f'; {left_out}' if headline.single else ''}. "
        + format_count(headline.annotators, "annotator")
        + (f", and {unnamed} without a name." if headline.unnamed else ".")
    )


@register.filter
def explain_consensus(consensus: ConsensusReport) -> str:
    """What the Dawid-Skene model estimates, and how far it differs from the majority."""
    text = (
        "Estimated from the labels alone (Dawid and Skene, 1979): the most likely true label of each reply, "
        f"and each annotator's errors. The model calls {100 * consensus.prior:.1f} % of the replies on-brand"
    )
    if consensus.changed:
        text += f" and differs from the majority on {format_count(consensus.changed, 'reply', 'replies')}"
    if consensus.majority_ties:
        text += f"; {format_count(consensus.majority_ties, 'reply has', 'replies have')} no majority"
    return f"{text}. Numbers from few labels say little."


@register.simple_tag
def answer_values() -> str:
    """By what pages call an answer: what files have for it, as JSON."""
    return json.dumps({level.slug: level.value for level in ON_BRAND.levels})


@register.filter
def schema_values(schema: Schema) -> str:
    """By criterion the values of its codes, as JSON."""
    return json.dumps({criterion.key: criterion.values for criterion in schema.criteria})


@register.simple_tag
def condition_names(schema: Schema, condition: Condition) -> str:
    """The answers that a question is asked after."""
    other = schema.find(condition.key)
    return ", ".join(other.levels[code].name for code in condition.codes) if other else ""


@register.simple_tag
def checked_answer(filled: Any, criterion: Criterion, level: Level) -> str:
    """The attribute of a control that is chosen among the answers ``filled`` in, if there are any."""
    said = filled.get(criterion.key) if filled else None
    chosen = said if isinstance(said, list) else [said]
    return "checked" if any(type(one) is type(level.value) and one == level.value for one in chosen) else ""


@register.simple_tag
def typed_answer(filled: Any, criterion: Criterion) -> Any:
    said = filled.get(criterion.key) if filled else None
    return "" if said is None else said


@register.filter
def as_json(value: Any) -> str:
    return json.dumps(value)


@register.filter
def label_name(label: Any) -> str:
    return "–" if label is None else ON_BRAND.levels[int(label)].name


@register.filter
def rated_replies(part: Any) -> int:
    """Replies with two labels or more."""
    return int(part.items - part.single)


@register.filter
def lookup(values: dict[Any, Any], key: Any) -> Any:
    return values.get(key)


@register.filter
def vote_dots(count: int, dot: str) -> str:
    """One dot per vote, as far as they fit a line."""
    return dot * min(int(count), 12)


_WORD_TITLES = {
    PREFERRED: gettext_lazy("Preferred"),
    AVOID: gettext_lazy("To avoid"),
    "both": gettext_lazy("Preferred and to avoid"),
}


@register.filter
def highlight(pieces: Iterable[TextPiece]) -> SafeString:
    """The text with the persona's words marked."""
    return format_html_join(
        "", "{}", ((_highlight_piece(piece) if piece.kind else piece.text,) for piece in pieces)
    )


def _highlight_piece(piece: TextPiece) -> SafeString:
    return format_html(
        '<mark class="ad-word ad-word-{}" title="{}">{}</mark>',
        piece.kind,
        _WORD_TITLES[piece.kind],
        piece.text,
    )
