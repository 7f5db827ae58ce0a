"""Writes the OpenAPI 3.1 document from the declarations of the routes.

The schemas come from the very types that decode requests, by the decoder's own library: unknown fields are
shown as refused where they are, and unions carry their discriminator.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from litestar import Litestar
from litestar.routes import HTTPRoute
from msgspec import structs

from tidings.kernel.http.callers import TENANT_HEADER, TenantNeed
from tidings.kernel.http.operations import OPT, Operation
from tidings.kernel.http.problems import MEDIA_TYPE, Problem, catalogue

_PARAMETER = re.compile(r"\{(\w+)")
_REF = "#/components/schemas/{name}"
_HEADERS = {
    "Idempotency-Key": (
        "Repeat the request with the same key within a day and get the first answer again; at most 255 characters.",
        False,
    ),
    "If-Match": ("The ETag that the change is made from.", True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """One method of one address."""

    method: str
    path: str
    name: str
    operation: Operation


def routes_of(app: Litestar) -> Iterator[Route]:
    """Every route of the app; one that was not declared is a mistake in our code."""
    for route in app.routes:
        if not isinstance(route, HTTPRoute):
            continue
        for handler in route.route_handlers:
            if handler.http_methods == {"OPTIONS"}:
                continue
            declared = handler.opt.get(OPT)
            if not isinstance(declared, Operation):
                raise TypeError(
                    f"{route.path}: declare it with operation(…), so that nothing is open by mistake"
                )
            path = re.sub(r"\{(\w+)(?::\w+)?\}", r"{\1}", route.path)
            for method in sorted(handler.http_methods):
                yield Route(
                    method=method, path=path, name=handler.name or handler.handler_name, operation=declared
                )


def document(routes: Sequence[Route], *, title: str, version: str, description: str = "") -> dict[str, Any]:
    """The whole document."""
    wanted = _types(routes)
    schemas, components = msgspec.json.schema_components(wanted, ref_template=_REF)
    by_type = dict(zip(map(repr, wanted), schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in sorted(routes, key=lambda r: (r.path, r.method)):
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, by_type)
    return {
        "openapi": "3.1.0",
        "info": {"title": title, "version": version, "description": description},
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "tags": [{"name": name} for name in dict.fromkeys(r.operation.tag for r in routes)],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key (`tdk_…`) or a JWT, as `Authorization: Bearer …`.",
                }
            },
        },
    }


def _types(routes: Sequence[Route]) -> list[Any]:
    found: dict[str, Any] = {repr(Problem): Problem}
    for route in routes:
        for wanted in (route.operation.body, route.operation.answer):
            if wanted is not None:
                found.setdefault(repr(wanted), wanted)
    return list(found.values())


def _operation(route: Route, schemas: Mapping[str, Any]) -> dict[str, Any]:
    declared = route.operation
    described: dict[str, Any] = {
        "operationId": route.name,
        "summary": declared.summary,
        "tags": [declared.tag],
        "parameters": list(_parameters(route)),
        "responses": _responses(declared, schemas),
    }
    if declared.description:
        described["description"] = declared.description
    if declared.scope is None:
        described["security"] = []
    else:
        described["security"] = [{"bearer": []}]
        described["x-scope"] = declared.scope
    if declared.body is not None:
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schemas[repr(declared.body)]}},
        }
    if declared.deprecated is not None:
        described["deprecated"] = True
    return described


def _parameters(route: Route) -> Iterator[dict[str, Any]]:
    for name in _PARAMETER.findall(route.path):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
    declared = route.operation
    for field in structs.fields(declared.query) if declared.query is not None else ():
        schema = msgspec.json.schema(field.type)
        parameter = {"name": field.encode_name, "in": "query", "required": field.required, "schema": schema}
        if not field.required and field.default is not None:
            schema["default"] = field.default
        if "description" in schema:
            parameter["description"] = schema.pop("description")
        yield parameter
    for name in declared.headers:
        text, required = _HEADERS[name]
        yield _header(name, text, required=required)
    if declared.scope is not None and declared.tenant is not TenantNeed.NONE:
        yield _header(TENANT_HEADER, "With a platform key: the tenant to act for.", required=False)


def _header(name: str, text: str, *, required: bool) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": required,
        "description": text,
        "schema": {"type": "string"},
    }


def _responses(declared: Operation, schemas: Mapping[str, Any]) -> dict[str, Any]:
    fine: dict[str, Any] = {"description": "As asked."}
    if declared.answer is not None:
        fine["content"] = {"application/json": {"schema": schemas[repr(declared.answer)]}}
    responses = {str(declared.status): fine}
    codes = catalogue()
    for code in _codes(declared):
        status, title, _ = codes[code]
        entry = responses.setdefault(
            str(status),
            {
                "description": title,
                "content": {MEDIA_TYPE: {"schema": schemas[repr(Problem)]}},
                "x-codes": [],
            },
        )
        entry.setdefault("x-codes", []).append(code)
    return responses


def _codes(declared: Operation) -> list[str]:
    codes = list(declared.problems)
    if declared.scope is not None:
        codes += ["bad_value", "unauthenticated", "missing_scope", "internal", "database_unavailable"]
        if declared.tenant is not TenantNeed.NONE:
            codes += ["tenant_suspended", "tenant_deleting", "wrong_tenant"]
    if declared.body is not None:
        codes += ["malformed_body", "wrong_content_type", "body_too_large"]
        if declared.tenant is not TenantNeed.NONE:
            codes.append("tenant_frozen")
    if "If-Match" in declared.headers:
        codes += ["stale_version", "precondition_required"]
    if "Idempotency-Key" in declared.headers:
        codes += ["idempotency_key_reused", "idempotency_in_progress"]
    return list(dict.fromkeys(codes))
