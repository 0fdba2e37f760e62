"""The admin's frame: its title and its side bar."""

from typing import Any

from django.urls import reverse_lazy

UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Alignmenter Datasets",
    "SITE_HEADER": "Alignmenter Datasets",
}
