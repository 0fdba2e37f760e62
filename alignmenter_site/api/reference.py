"""The reference of the API, made from its schema: a page, and a part of docs/api.md."""

import json
from functools import cache
from typing import Any, NamedTuple

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import get_conditional_response

from alignmenter_site.api.assembly import API_PATH, api
from datasets_app.access.scopes import SCOPES

# Explained once for all routes.
COMMON_HEADERS = {"If-None-Match", "Idempotency-Key"}


class Field(NamedTuple):
    name: str
    place: str
    type: str
    required: bool
    help: str


class Endpoint(NamedTuple):
    method: str
    path: str
    title: str
    help: str
    scopes: list[str]
    fields: list[Field]
    answer: str


@cache
def make_schema() -> dict[str, Any]:
    """The OpenAPI schema, as JSON has it."""
    schema: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema(path_prefix=API_PATH)))
    return schema


def send_schema(request: HttpRequest) -> HttpResponseBase:
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET", "HEAD"])
    response: Any = HttpResponse(json.dumps(make_schema()), content_type="application/json")
    answer: HttpResponseBase = get_conditional_response(request, etag=None, response=response)
    return answer


@login_required
def show_reference(request: HttpRequest) -> HttpResponse:
    return render(request, "api_reference.html", {"groups": list_endpoints(), "scopes": SCOPES.items()})


def list_endpoints() -> dict[str, list[Endpoint]]:
    """By group, in the order of the schema."""
    groups: dict[str, list[Endpoint]] = {}
    schema = make_schema()
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            endpoint = Endpoint(
                method.upper(),
                path,
                operation["summary"],
                operation.get("description", ""),
                operation["x-scopes"],
                _list_fields(schema, operation),
                _describe_answer(operation),
            )
            groups.setdefault(operation["tags"][0], []).append(endpoint)
    return groups


def _list_fields(schema: dict[str, Any], operation: dict[str, Any]) -> list[Field]:
    fields = [
        Field(
            each["name"],
            each["in"],
            _name_type(each["schema"]),
            each["required"],
            each.get("description", ""),
        )
        for each in operation["parameters"]
        if each["name"] not in COMMON_HEADERS
    ]
    content = operation.get("requestBody", {}).get("content", {})
    if (body := content.get("application/json")) is None:
        return fields + [Field("", "body", media_type, True, "") for media_type in content]
    body_schema = _resolve(schema, body["schema"])
    required = body_schema.get("required", [])
    return fields + [
        Field(name, "body", _name_type(each), name in required, each.get("description", ""))
        for name, each in body_schema.get("properties", {}).items()
    ]


def _resolve(schema: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in part:
        return part
    found: dict[str, Any] = schema["components"]["schemas"][part["$ref"].rsplit("/", 1)[1]]
    return found


def _name_type(part: dict[str, Any]) -> str:
    if "anyOf" in part:
        return " or ".join(_name_type(each) for each in part["anyOf"] if each.get("type") != "null")
    if "enum" in part:
        return ", ".join(str(each) for each in part["enum"])
    if "$ref" in part:
        return str(part["$ref"].rsplit("/", 1)[1])
    if part.get("type") == "array":
        return f"list of {_name_type(part.get('items', {}))}"
    return str(part.get("type", "any"))


def _describe_answer(operation: dict[str, Any]) -> str:
    for status, answer in operation["responses"].items():
        if int(status) < 300:
            kinds = [
                _name_type(each["schema"]) if name == "application/json" else name
                for name, each in answer.get("content", {}).items()
            ]
            return " ".join([status, *kinds])
    return ""


# --- docs/api.md ----------------------------------------------------------------------------------------


def write_markdown() -> str:
    lines = []
    for group, endpoints in list_endpoints().items():
        lines += [f"### {group}", ""]
        for endpoint in endpoints:
            lines += _write_endpoint(endpoint)
    lines += ["### Answers", ""]
    for name, fields, text in list_answers():
        described = ", ".join(f"`{field.name}` ({field.type})" for field in fields)
        lines += [f"**{name}**: {described}.{f' {text}' if text else ''}", ""]
    return "\n".join(lines)


def list_answers() -> list[tuple[str, list[Field], str]]:
    """(name, fields, help) of each object that the API returns."""
    return [
        (
            name,
            [
                Field(field, "", _name_type(part), False, "")
                for field, part in found.get("properties", {}).items()
            ],
            " ".join(found.get("description", "").split()),
        )
        for name, found in make_schema()["components"]["schemas"].items()
        if not name.endswith(("In", "Page"))
    ]


def _write_endpoint(endpoint: Endpoint) -> list[str]:
    scopes = ", ".join(f"`{scope}`" for scope in endpoint.scopes) or "that of the operation"
    lines = [f"#### `{endpoint.method} {endpoint.path}`", ""]
    if endpoint.help:
        lines += [" ".join(endpoint.help.split()), ""]
    lines += [f"Scopes: {scopes}. Answers {endpoint.answer}.", ""]
    for field in endpoint.fields:
        required = ", required" if field.required and field.place != "path" else ""
        text = f": {field.help}" if field.help else ""
        lines.append(f"- `{field.name or 'the body'}` ({field.place}, {field.type}{required}){text}")
    return [*lines, ""] if endpoint.fields else lines
