"""A text field that suggests what there is, where something new may be entered, too."""

from collections.abc import Callable, Iterable
from typing import Any

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from unfold.widgets import UnfoldAdminTextInputWidget


class SuggestingInput(UnfoldAdminTextInputWidget):
    """``suggest`` is called when the field is shown; picker.js makes a list to choose from of it."""

    def __init__(
        self, suggest: Callable[[], Iterable[str]] = tuple, attrs: dict[str, Any] | None = None
    ) -> None:
        super().__init__(attrs={"autocomplete": "off", **(attrs or {})})
        self.suggest = suggest

    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: Any = None
    ) -> SafeString:
        key = f"known-{name}"
        field = super().render(name, value, {**(attrs or {}), "list": key}, renderer)
        options = format_html_join("", '<option value="{}"></option>', ((each,) for each in self.suggest()))
        return format_html('{}<datalist id="{}">{}</datalist>', field, key, options)
