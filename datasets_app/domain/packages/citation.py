"""Renders citations: CITATION.cff (Citation File Format 1.2.0) and BibTeX."""

import re
from typing import Any

import yaml

from datasets_app.domain.metadata.licenses import find_spdx_id, get_license_url
from datasets_app.domain.packages.package import Package

_LICENSES_NEWER_THAN_CFF = {"CDLA-Permissive-2.0"}


def render_citation_cff(package: Package) -> str:
    """The file that GitHub, Zenodo and Zotero read. An organization or a list of people is one entity:
    their names can't be parsed reliably."""
    stated: dict[str, Any] = {
        "cff-version": "1.2.0",
        "message": "If you use this dataset, please cite it as below.",
        "type": "dataset",
        "title": package.title,
        "abstract": package.summary(),
        "authors": [{"name": package.author}],
        **({"version": package.version} if package.version else {}),
        # An unreleased dataset has no release date.
        **({"date-released": package.day} if package.version else {}),
        **_build_license_fields(package.license),
        "keywords": ["conversations", "evaluation", "alignmenter"],
    }
    return str(yaml.safe_dump(stated, sort_keys=False, allow_unicode=True, width=100))


def _build_license_fields(license_name: str) -> dict[str, str]:
    """The format accepts only licenses that were on the SPDX list when it was published."""
    known, where = find_spdx_id(license_name), get_license_url(license_name)
    if known and known not in _LICENSES_NEWER_THAN_CFF:
        return {"license": known}
    return {"license-url": where} if where else {}


def render_bibtex(package: Package) -> str:
    fields = {
        "title": f"{{{_escape_tex(package.title)}}}",
        "author": f"{{{_escape_tex(package.author)}}}",
        "year": package.day[:4],
        **({"version": _escape_tex(package.version)} if package.version else {}),
        "note": _escape_tex(f"Dataset, license {package.license}"),
    }
    key = re.sub(r"[^A-Za-z0-9]+", "_", package.name).strip("_") + f"_{package.day[:4]}"
    inner = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{key},\n{inner}\n}}"


_TEX_ESCAPES = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\~{}",
    "^": r"\^{}",
}


def _escape_tex(text: str) -> str:
    return "".join(_TEX_ESCAPES.get(character, character) for character in text)
