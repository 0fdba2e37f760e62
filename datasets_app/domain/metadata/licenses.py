"""Licences by their SPDX id: their texts, as far as they are here, and what others call them."""

from pathlib import Path

_FOLDER = Path(__file__).with_name("license_texts")

# SPDX id → what the Hugging Face hub calls it.
HUB_NAMES = {
    "Apache-2.0": "apache-2.0",
    "MIT": "mit",
    "BSD-2-Clause": "bsd-2-clause",
    "BSD-3-Clause": "bsd-3-clause",
    "CC0-1.0": "cc0-1.0",
    "CC-BY-2.0": "cc-by-2.0",
    "CC-BY-3.0": "cc-by-3.0",
    "CC-BY-4.0": "cc-by-4.0",
    "CC-BY-SA-3.0": "cc-by-sa-3.0",
    "CC-BY-SA-4.0": "cc-by-sa-4.0",
    "CC-BY-NC-4.0": "cc-by-nc-4.0",
    "CC-BY-NC-SA-4.0": "cc-by-nc-sa-4.0",
    "CC-BY-NC-ND-4.0": "cc-by-nc-nd-4.0",
    "CC-BY-ND-4.0": "cc-by-nd-4.0",
    "CDLA-Permissive-1.0": "cdla-permissive-1.0",
    "CDLA-Permissive-2.0": "cdla-permissive-2.0",
    "CDLA-Sharing-1.0": "cdla-sharing-1.0",
    "GPL-3.0-only": "gpl-3.0",
    "GPL-3.0-or-later": "gpl-3.0",
    "ODbL-1.0": "odbl",
    "ODC-By-1.0": "odc-by",
    "PDDL-1.0": "pddl",
    "Unlicense": "unlicense",
}
_ID_BY_LOWERCASE = {name.lower(): name for name in HUB_NAMES}


def find_spdx_id(license_name: str) -> str | None:
    """``cc-by-4.0`` → ``CC-BY-4.0``; None for what is no id that is known here."""
    return _ID_BY_LOWERCASE.get(" ".join(license_name.split()).lower())


def get_license_url(license_name: str) -> str | None:
    """Where SPDX keeps the licence's text."""
    known = find_spdx_id(license_name)
    return f"https://spdx.org/licenses/{known}.html" if known else None


def render_license_text(license_name: str, *, holder: str, year: str) -> str:
    """The text for a LICENSE file; where it is not here, which licence is meant and where its text goes."""
    known = find_spdx_id(license_name)
    path = _FOLDER / f"{known}.txt"
    if known is None or not path.exists():
        where = f"\nIts text is at {get_license_url(license_name)}." if known else ""
        return (
            f"SPDX-License-Identifier: {' '.join(license_name.split())}\n\n"
            f"This dataset is licensed under {' '.join(license_name.split())}.{where}\n"
            "Put the text of the licence in this file before the dataset is published.\n"
        )
    text = path.read_text(encoding="utf-8")
    return text.replace("[year]", year).replace("[fullname]", holder)
