"""Texts of rules, which know no language, for the translators. The views translate them."""

from django.utils.translation import gettext_noop as _

TEXTS = (
    # campaigns and turns
    _("Preparing"),
    _("Open"),
    _("Paused"),
    _("Closed"),
    _("User"),
    _("Assistant"),
    # reasons for a flag
    _("Personal data"),
    _("Broken or cut off"),
    _("Not enough context"),
    _("Not for this persona"),
    _("Other"),
    # the answers of the built-in criterion
    _("On-brand"),
    _("Off-brand"),
    _("On-brand: it sounds like the persona"),
    _("Off-brand: it does not"),
    # what is wrong with a decision
    _("Say why you flag this reply."),
    _("The note holds a control character; write it as plain text."),
    _("The note holds half a character; write it as plain text."),
    # the style of a persona
    _("Sentences of at most {words} words on average"),
    _("Contractions are allowed"),
    _("Contractions are not allowed"),
    _("Emojis are allowed"),
    _("Emojis are not allowed"),
)
