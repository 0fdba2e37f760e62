"""The API of both apps, assembled: its routes, errors, schema and reference."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import URLPattern, path
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from ninja.security import HttpBearer

from alignmenter_site.middleware.second_factor import has_second_factor, needs_second_factor
from annotations_app.api import campaigns, cases, labels, running_campaigns
from datasets_app.api import (
    audit,
    datasets,
    exports,
    imports,
    jobs,
    people,
    personas,
    quality,
    releases,
    runs,
)
from datasets_app.api.problems import CONTENT_TYPE, ApiError, make_problem, not_found
from datasets_app.api.serving import serve
from datasets_app.core.errors import UserError
from datasets_app.downloads import FileGone
from datasets_app.models import ApiToken

API_PATH = "/api/v1/"
DESCRIPTION = "Everything acts as the person of the token, within its scopes and datasets."


_HEADERS = {
    "get": [
        {
            "name": "If-None-Match",
            "in": "header",
            "required": False,
            "schema": {"type": "string"},
            "description": "The `ETag` of an earlier answer: 304 if it still holds.",
        }
    ],
    "post": [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "required": False,
            "schema": {"type": "string", "maxLength": 200},
            "description": "Any text: a request that is sent again with it happens once.",
        }
    ],
}


class Token(HttpBearer):
    """For the schema: ``serve`` has checked the token."""

    def __call__(self, request: Any) -> Any:
        return request.token

    def authenticate(self, request: HttpRequest, token: str) -> Any:
        raise NotImplementedError


class Api(NinjaAPI):
    def get_openapi_schema(self, **options: Any) -> Any:
        schema = super().get_openapi_schema(**options)
        for methods in schema["paths"].values():
            for method, operation in methods.items():
                _describe_answers(operation)
                body = operation.get("requestBody", {}).get("content", {"application/json": {}})
                operation["parameters"] += _HEADERS.get(method, []) if "application/json" in body else []
        return schema


def _describe_answers(operation: dict[str, Any]) -> None:
    """What ninja can't say: errors are problem+json, and some answers are files."""
    media_type = operation.pop("x-media-type", "")
    for status, answer in operation["responses"].items():
        if media_type and status in (200, 206):
            answer["content"] = {media_type: {"schema": {"type": "string", "format": "binary"}}}
        elif status >= 400:
            answer["content"] = {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
        elif status == 206:
            answer.pop("content", None)


api = Api(
    title="Alignmenter Datasets",
    version="1",
    description=DESCRIPTION,
    urls_namespace="api",
    docs_url=None,
    openapi_url=None,
    auth=Token(),
)
for _module in (
    datasets,
    imports,
    exports,
    jobs,
    quality,
    releases,
    runs,
    personas,
    campaigns,
    running_campaigns,
    cases,
    labels,
    people,
    audit,
):
    api.add_router("", _module.router)


@api.exception_handler(ApiError)
def _answer_api_error(request: HttpRequest, error: Any) -> HttpResponse:
    return error.response


@api.exception_handler(FileGone)
def _answer_file_gone(request: HttpRequest, error: Any) -> HttpResponse:
    return make_problem(410, "gone", error.message)


@api.exception_handler(UserError)
def _answer_user_error(request: HttpRequest, error: Any) -> HttpResponse:
    return make_problem(409, "refused", error.message, remedy=str(error.remedy), details=error.details)


@api.exception_handler(ValidationError)
def _answer_validation_error(request: HttpRequest, error: Any) -> HttpResponse:
    """What was sent is not repeated: it may be text of a conversation."""
    errors = [{"loc": list(each["loc"]), "msg": each["msg"]} for each in error.errors]
    return make_problem(422, "invalid", "The request is not valid: see errors.", errors=errors)


@api.exception_handler(PermissionDenied)
def _answer_permission_denied(request: HttpRequest, error: Any) -> HttpResponse:
    return make_problem(403, "forbidden", "You don't have permission to do this, or the token lacks a scope.")


@api.exception_handler(Http404)
def _answer_not_found(request: HttpRequest, error: Any) -> HttpResponse:
    return not_found().response


@api.exception_handler(HttpError)
def _answer_http_error(request: HttpRequest, error: Any) -> HttpResponse:
    return make_problem(error.status_code, "bad_request", "The body is not valid JSON.")


def find_refusal(token: ApiToken) -> str:
    """Why the person of a token may not use the API; empty if they may."""
    user = token.user
    if not user.is_staff:
        return "This account is limited to the annotation queue."
    if needs_second_factor(user) and not token.second_factor and not has_second_factor(user):
        return "Your role needs a second factor. Set one up first."
    return ""


def _refuse_unknown(request: HttpRequest, **_: Any) -> HttpResponse:
    raise Http404


def build_urls() -> list[URLPattern]:
    """Each view wrapped, and an answer for addresses that don't exist."""
    patterns: list[Any] = api.urls[0]
    routes = [pattern for pattern in patterns if pattern.name != "api-root"]
    for pattern in routes:
        pattern.callback = serve(pattern.callback, find_refusal)
    return [*routes, path("<path:rest>", serve(_refuse_unknown, find_refusal), name="unknown")]
