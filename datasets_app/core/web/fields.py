"""Fields of forms as the admin draws them. ``attrs`` are added to those of their element."""

from typing import Any, ClassVar

from django import forms
from unfold import widgets


class _Drawn:
    drawn_by: ClassVar[Any]
    attrs: ClassVar[dict[str, Any]] = {}

    def __init__(self, *args: Any, attrs: dict[str, Any] | None = None, **options: Any) -> None:
        widget = self.drawn_by(attrs={**self.attrs, **(attrs or {})})
        super().__init__(*args, widget=widget, **options)


class Text(_Drawn, forms.CharField):
    drawn_by, attrs = widgets.UnfoldAdminTextInputWidget, {"autocomplete": "off"}


class LongText(_Drawn, forms.CharField):
    drawn_by = widgets.UnfoldAdminTextareaWidget


class Lines(LongText):
    attrs: ClassVar = {"class": "ad-low ad-lines", "spellcheck": "false", "autocomplete": "off"}


class File(_Drawn, forms.FileField):
    drawn_by, attrs = forms.FileInput, {"class": "ad-file"}


class Model(_Drawn, forms.ModelChoiceField):
    drawn_by = widgets.UnfoldAdminSelectWidget


class Integer(_Drawn, forms.IntegerField):
    drawn_by = widgets.UnfoldAdminIntegerFieldWidget


class Decimal(_Drawn, forms.FloatField):
    drawn_by, attrs = widgets.UnfoldAdminDecimalFieldWidget, {"step": "any", "inputmode": "decimal"}


class Choice(_Drawn, forms.ChoiceField):
    drawn_by = widgets.UnfoldAdminSelectWidget


class Radio(_Drawn, forms.ChoiceField):
    drawn_by = widgets.UnfoldAdminRadioSelectWidget


class Checkboxes(_Drawn, forms.MultipleChoiceField):
    drawn_by, attrs = widgets.UnfoldAdminCheckboxSelectMultipleWidget, {"class": "ad-check"}


class Switch(_Drawn, forms.BooleanField):
    drawn_by = widgets.UnfoldBooleanSwitchWidget

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, **options)
