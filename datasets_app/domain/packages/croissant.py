"""Renders Croissant metadata (mlcommons.org/croissant/1.0): files, their columns and digests."""

from typing import Any

from datasets_app.domain.metadata.licenses import get_license_url
from datasets_app.domain.packages.package import JSONL, PARQUET, DataFile, Package
from datasets_app.domain.wording import format_count

_MEDIA_TYPES = {JSONL: "application/jsonlines", PARQUET: "application/x-parquet"}
_FIELDS = (
    ("session_id", "sc:Text", "The conversation that the turn belongs to."),
    ("turn_index", "sc:Integer", "The turn's place in it, from 1."),
    ("role", "sc:Text", "Who speaks: user or assistant."),
    ("text", "sc:Text", "What is said."),
    ("tags", "sc:Text", "Tags such as scenario:support."),
    ("persona_id", "sc:Text", "The persona in which the assistant answers."),
    ("timestamp", "sc:Text", "When it was said, in ISO 8601."),
    ("metadata", "sc:Text", "What else is known of the turn, as a JSON object."),
    ("extra", "sc:Text", "Fields the format does not know, as a JSON object."),
)
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def build_croissant(package: Package, *, cite_as: str) -> dict[str, Any]:
    """A JSON-LD object: each data file, and one record set for each split."""
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": package.name,
        "description": package.summary(),
        "license": get_license_url(package.license) or package.license,
        # An unreleased version sorts before every release.
        "version": package.version or "0.0.0",
        "datePublished": package.day,
        "creator": {"@type": "sc:Organization", "name": package.author},
        "citeAs": cite_as,
        "keywords": ["conversations", "evaluation"],
        **({"inLanguage": package.language} if package.language else {}),
        "distribution": [_describe_file(file) for file in package.files],
        "recordSet": [_describe_record_set(file) for file in package.get_files(PARQUET)],
    }


def _describe_file(file: DataFile) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": file.path,
        "name": file.path,
        "description": f"{format_count(file.turns, 'turn')} in {format_count(file.sessions, 'session')}",
        "contentUrl": file.path,
        "contentSize": f"{file.size} B",
        "encodingFormat": _MEDIA_TYPES[file.format],
        "sha256": file.sha256,
    }


def _describe_record_set(file: DataFile) -> dict[str, Any]:
    name = file.split or "turns"
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": f"The turns of the {file.split} split." if file.split else "All turns.",
        "key": [{"@id": f"{name}/session_id"}, {"@id": f"{name}/turn_index"}],
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{column}",
                "name": column,
                "description": meaning,
                "dataType": kind,
                **({"repeated": True} if column == "tags" else {}),
                "source": {"fileObject": {"@id": file.path}, "extract": {"column": column}},
            }
            for column, kind, meaning in _FIELDS
        ],
    }
