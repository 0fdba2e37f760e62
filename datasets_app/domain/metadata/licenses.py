"""Licenses by their SPDX id: their texts, as far as they are here, and what others call them."""

import re
from pathlib import Path

_FOLDER = Path(__file__).with_name("license_texts")

# SPDX id → the name of the license on the Hugging Face hub.
_SAME_IN_LOWER_CASE = """
Apache-2.0 MIT BSD-2-Clause BSD-3-Clause CC0-1.0 CC-BY-2.0 CC-BY-3.0 CC-BY-4.0 CC-BY-SA-3.0
CC-BY-SA-4.0 CC-BY-NC-4.0 CC-BY-NC-SA-4.0 CC-BY-NC-ND-4.0 CC-BY-ND-4.0 CDLA-Permissive-1.0
CDLA-Permissive-2.0 CDLA-Sharing-1.0 Unlicense
"""
HUB_NAMES = {name: name.lower() for name in _SAME_IN_LOWER_CASE.split()} | {
    "GPL-3.0-only": "gpl-3.0",
    "GPL-3.0-or-later": "gpl-3.0",
    "ODbL-1.0": "odbl",
    "ODC-By-1.0": "odc-by",
    "PDDL-1.0": "pddl",
}
_ID_BY_LOWERCASE = {name.lower(): name for name in HUB_NAMES}


def find_spdx_id(license_name: str) -> str | None:
    """``cc-by-4.0`` → ``CC-BY-4.0``; None for what isn't an id that is known here."""
    return _ID_BY_LOWERCASE.get(" ".join(license_name.split()).lower())


def get_license_url(license_name: str) -> str | None:
    """Where SPDX keeps the license's text."""
    known = find_spdx_id(license_name)
    return f"https://spdx.org/licenses/{known}.html" if known else None


def _make_license_ref(license_name: str) -> str:
    """How SPDX names a license that isn't on its list: ``Our terms`` → ``LicenseRef-Our-terms``."""
    return f"LicenseRef-{re.sub('[^A-Za-z0-9.]+', '-', license_name).strip('-')}"


def render_license_text(license_name: str, *, holder: str, year: str) -> str:
    """The text for a LICENSE file; where it is not here, which license is meant and where its text goes."""
    known = find_spdx_id(license_name)
    path = _FOLDER / f"{known}.txt"
    if known is None or not path.exists():
        where = f"\nIts text is at {get_license_url(license_name)}." if known else ""
        return (
            f"SPDX-License-Identifier: {known or _make_license_ref(license_name)}\n\n"
            f"This dataset is licensed under {' '.join(license_name.split())}.{where}\n"
            "Put the text of the license in this file before the dataset is published.\n"
        )
    text = path.read_text(encoding="utf-8")
    return text.replace("[year]", year).replace("[fullname]", holder)
